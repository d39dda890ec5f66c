// `npm run bench`: builds, measures Cairn against bare libraries that do the same work, prints ratios, and writes them
// to bench/results.json. `--quick` takes some seconds an item, and some minutes for checkpoints;
// `--only <name>` measures a part (see --help).
import { spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { cpus } from 'node:os';
import { parseArgs } from 'node:util';

const { values: flags } = parseArgs({
  options: {
    quick: { type: 'boolean', default: false },
    only: { type: 'string', multiple: true, default: [] },
    help: { type: 'boolean', default: false },
  },
});
const built = spawnSync(process.execPath, ['node_modules/typescript/bin/tsc', '-p', 'tsconfig.build.json'], {
  stdio: 'inherit',
});
if (built.status !== 0) process.exit(built.status ?? 1);

const { items } = await import('../bench/items.mjs');
const { startTarget } = await import('../bench/support/databases.mjs');
const { heading, isMet, line } = await import('../bench/support/table.mjs');

const kinds = ['sqlite', 'postgres'];
if (flags.help) {
  console.log(`npm run bench -- [--quick] [--only <${[...kinds, ...Object.keys(items)].join('|')}>]…`);
  process.exit(0);
}
const unknown = flags.only.filter((name) => !kinds.includes(name) && !(name in items));
if (unknown.length > 0) {
  console.error(`bench: there is no ${unknown.join(', ')}: use ${[...kinds, ...Object.keys(items)].join(', ')}`);
  process.exit(1);
}
const chosen = (names) => names.filter((name) => flags.only.includes(name));
const chosenKinds = chosen(kinds).length > 0 ? chosen(kinds) : kinds;
const chosenItems = chosen(Object.keys(items)).length > 0 ? chosen(Object.keys(items)) : Object.keys(items);

const results = [];
for (const kind of chosenKinds) {
  console.log(heading(kind));
  const target = await startTarget(kind);
  try {
    for (const name of chosenItems) {
      const report = (result) => {
        const met = isMet(result);
        results.push({ target: kind, item: name, ...result, met });
        console.log(line({ ...result, met }));
      };
      await items[name]({ target, quick: flags.quick, report });
    }
  } finally {
    await target.stop();
  }
}
const about = { node: process.version, platform: process.platform, cpu: cpus()[0]?.model, cores: cpus().length };
writeFileSync('bench/results.json', `${JSON.stringify({ ...about, quick: flags.quick, results }, null, 2)}\n`);
const missed = results.filter(({ met }) => !met).length;
console.log(`\n${results.length} figures, ${missed} missed; bench/results.json has them all`);
