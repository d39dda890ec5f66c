// Figures kept: the results of the last runs in bench/results.json, and one file per release candidate in bench/history/.
import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { cpus } from 'node:os';
import { join, resolve } from 'node:path';

const ROOT = resolve(import.meta.dirname, '../..');
const HISTORY = 'bench/history';
export const RESULTS = 'bench/results.json';
/** In place of the commit of a figure, in files that did not keep it. */
export const UNKNOWN = 'unknown';
/** Of a figure that states none. */
const NOISE = 0.2;

const at = (path) => resolve(ROOT, path);
const git = (...args) => execFileSync('git', args, { cwd: ROOT, encoding: 'utf8' }).trim();

/** The commit that is measured, with a plus when files differ from it. Results and pages about them do not count. */
function commit() {
  try {
    const changed = git(
      'status',
      '--porcelain',
      '--untracked-files=no',
      '--',
      'src',
      'bin',
      'bench',
      ':!bench/history',
    );
    return `${git('rev-parse', '--short=12', 'HEAD')}${changed === '' ? '' : '+'}`;
  } catch {
    return 'unknown';
  }
}

export const about = () => ({
  date: `${new Date().toISOString().slice(0, 16)}Z`,
  commit: commit(),
  machine: {
    cpu: cpus()[0]?.model.trim(),
    cores: cpus().length,
    platform: process.platform,
    node: process.versions.node,
  },
  databases: {},
});

/** What names a figure: where it was measured, and what. */
export const keyOf = ({ target, what }) => `${target}: ${what}`;

/** What tables and comparisons show of a figure: its ratio, or the figure itself if it has none or is what is wanted. */
export const shownOf = ({ ours, ratio, mark }) => (ratio === undefined || mark === 'ours' ? ours : ratio);

/** Figures of a run and those before it: a newer figure replaces the older of the same name. */
export function merge(before, { figures, databases, ...run }) {
  const isSame = before?.commit === run.commit && JSON.stringify(before.machine) === JSON.stringify(run.machine);
  const kept = new Map((isSame ? before.figures : []).map((figure) => [keyOf(figure), figure]));
  for (const figure of figures) kept.set(keyOf(figure), figure);
  return { ...run, databases: { ...(isSame ? before.databases : {}), ...databases }, figures: [...kept.values()] };
}

export function read(path) {
  try {
    return JSON.parse(readFileSync(at(path), 'utf8'));
  } catch (error) {
    throw new Error(`${path} cannot be read: ${error.message}`);
  }
}

/** One line a figure: what changed shows in a review. Written whole or not at all. */
export function write(path, { figures, ...run }) {
  const head = JSON.stringify(run, null, 2).slice(0, -2);
  const lines = figures.map((figure) => `    ${JSON.stringify(figure)}`);
  writeFileSync(at(`${path}.new`), `${head},\n  "figures": [\n${lines.join(',\n')}\n  ]\n}\n`);
  renameSync(at(`${path}.new`), at(path));
}

/** Adds a run to bench/results.json; a run of another commit or machine begins the file anew. */
export function keep(run) {
  write(RESULTS, merge(existsSync(at(RESULTS)) ? read(RESULTS) : undefined, run));
}

/** The newest file: names begin with the date. */
export function newest() {
  const names = existsSync(at(HISTORY)) ? readdirSync(at(HISTORY)).filter((name) => name.endsWith('.json')) : [];
  return names.length === 0 ? undefined : join(HISTORY, names.sort().at(-1));
}

/**
 * The figures of earlier files that a run lacks, each marked with the commit at which it was measured. Old files do not say
 * that of those that they carry over.
 */
export function carriedOver(run, files) {
  const names = new Set(run.figures.map(keyOf));
  const carried = [];
  for (const file of files)
    for (const figure of file.figures) {
      if (names.has(keyOf(figure))) continue;
      names.add(keyOf(figure));
      const commit = figure.carried === true ? UNKNOWN : (figure.carried ?? file.commit);
      carried.push({ ...figure, carried: commit });
    }
  return carried;
}

/**
 * Keeps bench/results.json as the file of its commit; gives its path, and what earlier files have and the results lack.
 * That is carried over, unless it is to be dropped.
 */
export function save({ note, drop_carried = false } = {}) {
  const run = { ...read(RESULTS), ...(note === undefined ? {} : { note }) };
  if (run.commit.endsWith('+')) throw new Error('the results are of changed files: commit first, and measure again');
  mkdirSync(at(HISTORY), { recursive: true });
  const known = readdirSync(at(HISTORY)).find((name) => name.endsWith(`-${run.commit}.json`));
  const path = join(HISTORY, known ?? `${run.date.replaceAll(':', '')}-${run.commit}.json`);
  const files = [...new Set([path, newest()])].filter((one) => one && existsSync(at(one))).map(read);
  const whole = known ? merge(read(path), run) : run;
  const own = { ...whole, figures: whole.figures.filter(({ carried }) => !carried) };
  const carried = carriedOver(own, files);
  write(path, { ...own, figures: [...own.figures, ...(drop_carried ? [] : carried)] });
  return { path, missing: carried.map(keyOf) };
}

/** What moved between two runs, a row each: before, now, change in percent, and whether that is more than noise. */
export function compare(before, now) {
  const old = new Map(before.figures.map((figure) => [keyOf(figure), figure]));
  return now.figures
    .filter((figure) => !figure.skipped)
    .map((figure) => {
      const earlier = old.get(keyOf(figure));
      if (!earlier || earlier.skipped) return { key: keyOf(figure), now: shownOf(figure), state: 'new' };
      const [was, is] = [shownOf(earlier), shownOf(figure)];
      const change = was === 0 ? 0 : is / was - 1;
      const noise = Math.max(figure.noise ?? NOISE, earlier.noise ?? NOISE);
      return {
        key: keyOf(figure),
        before: was,
        now: is,
        change,
        noise,
        state: Math.abs(change) > noise ? 'moved' : '',
      };
    });
}
