// Conversations: [{ id, speakers, docs: [{ id, session, date, speaker, text, caption }], queries: [{ id, text, category, gold }] }]
//
// A conversation becomes a trajectory, a session a scope, a document a turn with speaker, role and date; each question is
// searched for in its own trajectory. Evidence at budget: the share of gold turns shown, whole or in part, by the context
// that `context.assemble` makes for the question. Adversarial questions are in no overall figure.
import { byCategory, settled } from './figures.mjs';

const DEPTH = 50;
const BATCH = 500;
const BUDGETS = [1000, 2000, 4000];
const ROLES = new Set(['user', 'assistant', 'system', 'tool']);
const APART = ['adversarial'];

export const isFormat = ([first]) => Array.isArray(first?.docs);

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

/** Returns the document that each turn is. */
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

async function answersTo(cairn, { trajectory_id, names }, query) {
  const { results } = await cairn.search.query({ query, trajectory_id, entity_types: ['turn'], limit: DEPTH });
  return results.map(({ id }) => names.get(id));
}

/** The documents that the context for a question shows. */
async function shownWithin(cairn, { trajectory_id, names }, user_input, token_budget) {
  const { manifest_id } = await cairn.context.assemble({ trajectory_id, user_input, token_budget });
  const { entries } = await cairn.manifests.get({ manifest_id });
  return entries.filter(({ action, place }) => action !== 'exclude' && place !== null).map(({ id }) => names.get(id));
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

export async function run({ conversations, open, say, without_evidence }) {
  const measured = [];
  const budgets = without_evidence ? [] : BUDGETS;
  const cairn = await open('conversations');
  try {
    const loaded = [];
    for (const [i, conversation] of conversations.entries()) {
      loaded.push(await load(cairn, conversation));
      say(`loaded ${i + 1} of ${conversations.length}: ${conversation.docs.length} turns`);
    }
    await settled(cairn);
    for (const [i, { queries }] of conversations.entries()) {
      for (const { text, category, gold } of queries) {
        if (gold.length === 0) continue;
        const figures = measure(await answersTo(cairn, loaded[i], text), gold);
        for (const budget of budgets)
          figures[`E@${budget}`] = share(
            await shownWithin(cairn, loaded[i], text, budget),
            gold,
            Number.POSITIVE_INFINITY,
          );
        measured.push({ category, figures });
      }
      say(`asked ${i + 1} of ${conversations.length}: ${queries.length} questions`);
    }
  } finally {
    await cairn.close();
  }
  const names = [...Object.keys(measure([], [''])), ...budgets.map((budget) => `E@${budget}`)];
  return byCategory(measured, names, APART);
}
