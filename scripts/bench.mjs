// `npm run bench`: builds, measures Cairn against bare libraries that do the same work, and prints ratios. Results are
// kept in bench/results.json figure by figure; `--save` and `--compare` work on those (see --help).
import { parseArgs } from 'node:util';
import { items, longItems } from '../bench/items.mjs';
import { about, compare, keep, newest, RESULTS, read, save } from '../bench/support/history.mjs';
import { heading, isMet, line, movedLine } from '../bench/support/table.mjs';
import { build } from './build.mjs';

const KINDS = ['sqlite', 'postgres'];
const OPTIONS = {
  quick: { type: 'boolean', default: false },
  only: { type: 'string', multiple: true, default: [] },
  list: { type: 'boolean' },
  save: { type: 'boolean' },
  'drop-carried': { type: 'boolean' },
  note: { type: 'string' },
  compare: { type: 'boolean' },
  help: { type: 'boolean', short: 'h' },
};
const USAGE = `npm run bench -- [--quick] [--only <item or database>]…
npm run bench -- --compare [file]
npm run bench -- --save [--drop-carried] [--note <text>]

  --quick      less of each item, at most some minutes; without it, larger stores, too
  --only       a part: items (see --list), sqlite, postgres; the results of several runs on one commit are merged
  --list       the items, and which of them are long: those run only when they are named
  --compare    measures nothing: the last results against the newest file in bench/history, or another file
  --save       measures nothing: keeps the last results in bench/history, with figures of the newest file there that
               they lack; each of those is marked with the commit at which it was measured
  --drop-carried  keeps no figure of another commit
  --note       conditions of the run, kept with --save

Examples:
  npm run bench -- --quick --only turns --only sqlite
  npm run bench && npm run bench -- --compare
  npm run bench -- --save --note 'idle machine'`;

class UsageError extends Error {}

function parsed() {
  try {
    const { values, positionals } = parseArgs({ options: OPTIONS, allowPositionals: true });
    if (positionals.length > (values.compare ? 1 : 0)) throw new Error(`unexpected ${positionals.join(' ')}`);
    if (values.save && values.compare) throw new Error('--save and --compare are two commands');
    if (values.note !== undefined && !values.save) throw new Error('--note belongs to --save');
    if (values['drop-carried'] && !values.save) throw new Error('--drop-carried belongs to --save');
    return { ...values, file: positionals[0] };
  } catch (error) {
    throw new UsageError(error.message);
  }
}

function tellMoved(file) {
  const path = file ?? newest();
  if (path === undefined) throw new UsageError('there is nothing in bench/history to compare with');
  const [before, now] = [read(path), read(RESULTS)];
  console.log(`${path} (${before.commit}) against ${RESULTS} (${now.commit})\n`);
  const rows = compare(before, now);
  for (const row of rows) console.log(movedLine(row));
  console.log(
    `\n${rows.filter(({ state }) => state === 'moved').length} of ${rows.length} moved by more than their noise`,
  );
}

function tellSaved({ note, 'drop-carried': drop_carried }) {
  const { path, missing } = save({ note, drop_carried });
  console.log(`bench: wrote ${path}; \`npm run docs\` writes its figures into the pages`);
  const these = drop_carried ? 'these are in it no more' : 'measure these on the same commit, too, and save again';
  if (missing.length > 0) console.log(`bench: ${these}:\n  ${missing.join('\n  ')}`);
}

/** The chosen databases and items; all but the long ones when none is named. */
function chosenOf(only) {
  const names = Object.keys(items);
  const unknown = only.filter((name) => !KINDS.includes(name) && !names.includes(name));
  if (unknown.length > 0)
    throw new UsageError(`there is no ${unknown.join(', ')}: use ${[...KINDS, ...names].join(', ')}`);
  const chosen = (all, usual) =>
    all.some((name) => only.includes(name)) ? all.filter((name) => only.includes(name)) : usual;
  return {
    kinds: chosen(KINDS, KINDS),
    names: chosen(
      names,
      names.filter((name) => !longItems.has(name)),
    ),
  };
}

async function measure({ quick, only }) {
  const { kinds, names } = chosenOf(only);
  build();
  const { startTarget } = await import('../bench/support/databases.mjs');
  const run = { ...about(), figures: [] };
  const failed = [];
  for (const kind of kinds) {
    console.log(heading(kind));
    const target = await startTarget(kind);
    run.databases[kind] = target.version;
    try {
      for (const name of names) {
        // Kept at once: an interrupted run loses nothing.
        const report = (result) => {
          const figure = { item: name, target: kind, ...result, ...(quick ? { quick } : {}) };
          run.figures.push(figure.skipped ? figure : { ...figure, met: isMet(figure) });
          keep(run);
          console.log(line(run.figures.at(-1)));
        };
        await items[name]({ target, quick, report }).catch((error) => {
          failed.push(`${name} on ${kind}`);
          console.error(`bench: ${name} on ${kind} failed: ${error.stack ?? error}`);
        });
      }
    } finally {
      await target.stop();
    }
  }
  const missed = run.figures.filter(({ met }) => met === false).length;
  const skipped = run.figures.filter((figure) => figure.skipped).length;
  console.log(`\n${run.figures.length} figures, ${missed} missed, ${skipped} skipped; ${RESULTS} has them all`);
  if (failed.length === 0) return;
  console.error(`bench: failed: ${failed.join(', ')}`);
  process.exitCode = 1;
}

try {
  const flags = parsed();
  if (flags.help) console.log(USAGE);
  else if (flags.compare) tellMoved(flags.file);
  else if (flags.save) tellSaved(flags);
  else if (flags.list)
    for (const name of Object.keys(items)) console.log(longItems.has(name) ? `${name} (long)` : name);
  else await measure(flags);
} catch (error) {
  console.error(error instanceof UsageError ? `bench: ${error.message}\n\n${USAGE}` : `bench: ${error.message}`);
  process.exitCode = error instanceof UsageError ? 2 : 1;
}
