// `npm run bench:recall -- --data FILE [--json] [--set NAME]`: how much of what answers a question is found. Each conversation of the
// file becomes a trajectory, each session a scope, each document a turn with speaker, role and date, all by the public Api;
// then each question is searched for in its own trajectory. In percent; adversarial questions are in no overall figure.
//
// `--set NAME` adds the figures to bench/results.json under that name, for `npm run bench -- --save`.
//
// FILE: [{ id, speakers, docs: [{ id, session, date, speaker, text, caption }], queries: [{ id, text, category, gold }] }]
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { openCairn } from '../dist/cairndb.js';
import { about, keep } from './support/history.mjs';
import { isMet } from './support/table.mjs';

const DEPTH = 50;
const BATCH = 500;
const ROLES = new Set(['user', 'assistant', 'system', 'tool']);
const APART = 'adversarial';
/** R@10, by the name of a set. */
const AT_LEAST = { locomo: 80, realtalk: 65, beam100k: 54 };

const { values } = parseArgs({
  options: {
    data: { type: 'string' },
    json: { type: 'boolean' },
    database: { type: 'string' },
    set: { type: 'string' },
  },
});
if (values.data === undefined) {
  console.error('say which file: npm run bench:recall -- --data FILE [--json] [--set NAME] [--database FILE-OR-URL]');
  process.exit(2);
}
function readConversations(path) {
  try {
    return JSON.parse(readFileSync(path, 'utf8'));
  } catch (error) {
    console.error(`${path} cannot be read: ${error.message}`);
    process.exit(2);
  }
}
const conversations = readConversations(values.data);
const say = (line) => {
  if (!values.json) process.stderr.write(`${line}\n`);
};

/** A speaker that is a role has no name of its own. */
function turnOf(scope_id, { date, speaker, text, caption }) {
  const role = ROLES.has(speaker?.toLowerCase()) ? speaker.toLowerCase() : 'user';
  const metadata = {
    ...(speaker && !ROLES.has(speaker.toLowerCase()) ? { speaker } : {}),
    ...(date ? { occurred_at: date } : {}),
    ...(caption ? { caption } : {}),
  };
  return { scope_id, role, content: text, metadata };
}

/** Says which document each turn is. */
async function load(cairn, { id, docs }) {
  const { trajectory_id } = await cairn.trajectories.create({ name: String(id).slice(0, 200) });
  const names = new Map();
  for (const [session, said] of bySession(docs)) {
    const { scope_id } = await cairn.scopes.create({
      trajectory_id,
      name: `session ${session}`,
      token_budget: 10_000_000,
    });
    for (let at = 0; at < said.length; at += BATCH) {
      const some = said.slice(at, at + BATCH);
      const items = some.map((doc) => ({ operation: 'create', create: turnOf(scope_id, doc) }));
      const { results } = await cairn.turns.batch({ items, atomic: true });
      for (const [i, { data }] of results.entries()) names.set(data.turn_id, some[i].id);
    }
  }
  return { trajectory_id, names };
}

function bySession(docs) {
  const sessions = new Map();
  for (const doc of docs) {
    if (!sessions.has(doc.session)) sessions.set(doc.session, []);
    sessions.get(doc.session).push(doc);
  }
  return sessions;
}

async function answersTo(cairn, trajectory_id, names, question) {
  const { results } = await cairn.search.query({
    query: question,
    trajectory_id,
    entity_types: ['turn'],
    limit: DEPTH,
  });
  return results.map(({ id }) => names.get(id));
}

const share = (found, gold, k) => gold.filter((id) => found.slice(0, k).includes(id)).length / gold.length;

function measure(found, gold) {
  const first = found.findIndex((id) => gold.includes(id));
  const gain = (ids) =>
    ids.slice(0, 10).reduce((sum, id, i) => sum + (gold.includes(id) ? 1 / Math.log2(i + 2) : 0), 0);
  return {
    'R@5': share(found, gold, 5),
    'R@10': share(found, gold, 10),
    'R@20': share(found, gold, 20),
    'R@50': share(found, gold, 50),
    MRR: first < 0 ? 0 : 1 / (first + 1),
    'nDCG@10': gain(found) / gain(gold),
  };
}

const round = (value) => Math.round(value * 100) / 100;

function mean(measures) {
  const names = Object.keys(measures[0] ?? measure([], ['']));
  const of = (name) => measures.reduce((sum, one) => sum + one[name], 0) / Math.max(1, measures.length);
  return { ...Object.fromEntries(names.map((name) => [name, round(100 * of(name))])), questions: measures.length };
}

const folder = mkdtempSync(join(tmpdir(), 'cairn-recall-'));
const cairn = await openCairn({ database: values.database ?? join(folder, 'recall.db'), sweep_every_ms: 0 });
const measured = [];
try {
  for (const [i, conversation] of conversations.entries()) {
    const { trajectory_id, names } = await load(cairn, conversation);
    Object.assign(conversation, { trajectory_id, names });
    say(`loaded ${i + 1} of ${conversations.length}: ${conversation.docs.length} turns`);
  }
  for (const [i, { trajectory_id, names, queries }] of conversations.entries()) {
    for (const { text, category, gold } of queries) {
      if (gold.length === 0) continue;
      const found = await answersTo(cairn, trajectory_id, names, text);
      measured.push({ category, figures: measure(found, gold) });
    }
    say(`asked ${i + 1} of ${conversations.length}: ${queries.length} questions`);
  }
} finally {
  await cairn.close();
  rmSync(folder, { recursive: true, force: true });
}

const figuresOf = (some) => mean(some.map(({ figures }) => figures));
const names = [...new Set(measured.map(({ category }) => category))].sort();
const report = {
  overall: figuresOf(measured.filter(({ category }) => category !== APART)),
  categories: Object.fromEntries(
    names.map((name) => [name, figuresOf(measured.filter(({ category }) => category === name))]),
  ),
};
if (values.json) console.log(JSON.stringify(report));
else console.table({ overall: report.overall, ...report.categories });

if (values.set !== undefined) {
  const { questions: _, ...overall } = report.overall;
  const figures = Object.entries(overall).map(([measure, ours]) => {
    const at_least = measure === 'R@10' ? AT_LEAST[values.set] : undefined;
    const figure = {
      item: 'recall',
      target: 'sqlite',
      what: `${values.set}: ${measure}`,
      ours,
      unit: ' %',
      noise: 0.005,
    };
    const marked = at_least === undefined ? figure : { ...figure, mark: 'ours', at_least };
    return { ...marked, met: isMet(marked) };
  });
  keep({ ...about(), figures });
}
