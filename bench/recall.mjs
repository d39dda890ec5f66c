// `npm run bench:recall -- --data FILE [--json] [--set NAME]`: how well memory answers questions, all by the public Api and
// with default settings. The form of the file says what is measured; each form has a file in bench/recall/.
//
// `--set NAME` adds the figures to bench/results.json under that name, for `npm run bench -- --save`.
// `--without-evidence` measures conversations by search alone, which takes a fifth of the time.
// `--embedder URL --embedder-model NAME` ranks by that embedder, an OpenAI-compatible endpoint, in place of the word vectors; its
// figures are kept apart, as `SET with NAME`.
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { httpEmbedder, openCairn } from '../dist/cairndb.js';
import * as conversations from './recall/conversations.mjs';
import * as everyday from './recall/everyday.mjs';
import * as survival from './recall/survival.mjs';
import { about, keep } from './support/history.mjs';
import { isMet } from './support/table.mjs';

const FORMATS = [conversations, everyday, survival];
/** What a set has to reach, by its name. */
const WANTED = {
  locomo: { 'R@10': { at_least: 82 } },
  realtalk: { 'R@10': { at_least: 67 } },
  beam100k: { 'R@10': { at_least: 69 } },
  everyday: { 'hits@1': { at_least: 58 }, 'hits@3': { at_least: 78 }, empty: { at_most: 0 }, AUROC: { at_least: 0.7 } },
  survival: {
    survive: { at_least: 78 },
    'answered@5': { at_least: 68 },
    words: { at_most: 40 },
    junk: { at_most: 20 },
    'stale unmarked': { at_most: 0 },
  },
};
const COUNTS = ['questions', 'facts'];
const SHARES = ['AUROC'];

const { values } = parseArgs({
  options: {
    data: { type: 'string' },
    json: { type: 'boolean' },
    database: { type: 'string' },
    set: { type: 'string' },
    'without-evidence': { type: 'boolean' },
    embedder: { type: 'string' },
    'embedder-model': { type: 'string' },
  },
});

function refuse(message) {
  console.error(message);
  process.exit(2);
}

function readData(path) {
  try {
    return JSON.parse(readFileSync(path, 'utf8'));
  } catch (error) {
    return refuse(`${path} cannot be read: ${error.message}`);
  }
}

if (values.data === undefined)
  refuse('name a file: npm run bench:recall -- --data FILE [--json] [--set NAME] [--database FILE-OR-URL]');
const data = readData(values.data);
const format = FORMATS.find(({ isFormat }) => Array.isArray(data) && isFormat(data));
if (format === undefined) refuse(`${values.data} must be a list of conversations, everyday memories or dialogues`);
if (values.database !== undefined && format !== conversations)
  refuse('--database is for conversations: the other forms need an empty store for each entry');

const say = (line) => {
  if (!values.json) process.stderr.write(`${line}\n`);
};
const folder = mkdtempSync(join(tmpdir(), 'cairn-recall-'));
const model = values['embedder-model'];
if ((values.embedder === undefined) !== (model === undefined))
  refuse('--embedder URL and --embedder-model NAME go together');
const embedder = model && { embedder: httpEmbedder({ url: values.embedder, model }) };
const open = (name) =>
  openCairn({ database: values.database ?? join(folder, `${name}.db`), sweep_every_ms: 0, ...embedder });
let report;
try {
  const without_evidence = values['without-evidence'] ?? false;
  report = await format.run({ conversations: data, open, say, without_evidence });
} finally {
  rmSync(folder, { recursive: true, force: true });
}

if (values.json) console.log(JSON.stringify(report));
else {
  console.table({ overall: report.overall, ...report.categories });
  if (report.calibration) console.table(report.calibration);
}

if (values.set !== undefined) {
  const measures = Object.entries(report.overall).filter(([measure]) => !COUNTS.includes(measure));
  const set = model ? `${values.set} with ${model}` : values.set;
  const figures = measures.map(([measure, ours]) => {
    const wanted = WANTED[set]?.[measure];
    const figure = {
      item: 'recall',
      target: 'sqlite',
      what: `${set}: ${measure}`,
      ours,
      unit: measure === 'empty' || SHARES.includes(measure) ? '' : ' %',
      noise: 0.005,
    };
    const marked = wanted === undefined ? figure : { ...figure, mark: 'ours', ...wanted };
    return { ...marked, met: isMet(marked) };
  });
  keep({ ...about(), figures });
}
