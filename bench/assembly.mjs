// Assembling 8,000 tokens from a trajectory of 100,000 turns, in a tenant with 1,000 notes, for a question, against the bare full-text query of `search`
// for the same question: at most five such queries' time.
import { openBareSearch } from './support/bare-search.mjs';
import { fillConversations, questionsOf, sayingsOf } from './support/conversations.mjs';
import { openWithBackgroundWork } from './support/databases.mjs';
import { filled } from './support/filled.mjs';
import { median } from './support/measure.mjs';

const TURNS = 100_000;
const NOTES = 1000;
const TOKENS = 8000;
const MOST_TIMES = 5;

export async function assembly({ target, quick, report }) {
  const rounds = quick ? 20 : 60;
  const database = await target.fresh();
  const trajectory_id = await filled(target.kind, database, async (cairn) => {
    const [first] = await fillConversations(cairn, TURNS, 37, TURNS);
    await learn(cairn, NOTES);
    return first;
  });
  const bare = await openBareSearch(target.kind, database);
  const cairn = await openWithBackgroundWork(database);
  const next = questionsOf(38);
  const took = { ours: [], theirs: [] };
  for (let round = 0; round < rounds + 5; round++) {
    const query = next();
    const sides = {
      ours: () => cairn.api.context.assemble({ trajectory_id, query, token_budget: TOKENS }),
      theirs: () => bare.ask(query),
    };
    for (const name of round % 2 === 0 ? ['ours', 'theirs'] : ['theirs', 'ours']) {
      const started = performance.now();
      await sides[name]();
      // The first few warm up.
      if (round >= 5) took[name].push(performance.now() - started);
    }
  }
  report({
    what: 'context.assemble, 8,000 tokens of 100,000 turns',
    ours: median(took.ours),
    bare: median(took.theirs),
    unit: ' ms',
    ratio: median(took.ours.map((one, i) => one / took.theirs[i])),
    at_most: MOST_TIMES,
  });
  await cairn.close();
  await bare.close();
}

async function learn(cairn, count) {
  const say = sayingsOf(39);
  const items = Array.from({ length: count }, (_, i) => ({
    operation: 'create',
    create: { note_type: 'Fact', title: `note ${i}`, content: say() },
  }));
  const { failed } = await cairn.api.notes.batch({ items });
  if (failed > 0) throw new Error(`${failed} notes were not added`);
}
