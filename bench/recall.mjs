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
import { wantedOf } from './recall/targets.mjs';
import { about, keep } from './support/history.mjs';
import { isMet } from './support/table.mjs';

const FORMATS = [conversations, everyday, survival];
const COUNTS = ['questions', 'facts'];
/** Not shares in percent. */
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
  for (const [name, calibration] of Object.entries(report.calibration ?? {})) {
    console.log(`confidence: ${name}`);
    console.table(calibration);
  }
}

function figuresOf(set) {
  const measures = Object.entries(report.overall).filter(([measure]) => !COUNTS.includes(measure));
  const overall = measures.map(([measure, ours]) => {
    const what = `${set}: ${measure}`;
    const wanted = wantedOf(what);
    return {
      item: 'recall',
      what,
      ours,
      unit: measure === 'empty' || SHARES.includes(measure) ? '' : ' %',
      ...(wanted === undefined ? {} : { mark: 'ours', ...wanted }),
    };
  });
  const calibration = Object.entries(report.calibration ?? {}).flatMap(([name, bins]) =>
    bins.map(({ confidence, passages, right }) => ({
      item: 'calibration',
      what: `${set}: ${name}, right at ${confidence}`,
      ours: right,
      unit: ' %',
      passages,
    })),
  );
  return [...overall, ...calibration].map((figure) => ({
    target: 'sqlite',
    ...figure,
    noise: 0.005,
    met: isMet(figure),
  }));
}

if (values.set !== undefined)
  keep({ ...about(), figures: figuresOf(model ? `${values.set} with ${model}` : values.set) });
