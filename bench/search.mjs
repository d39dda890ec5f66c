// Searching all of a tenant, against a bare full-text query that gives as many candidates with their contents; and how
// long the event loop is held by it.
import { readFileSync } from 'node:fs';
import { performance } from 'node:perf_hooks';
import { openBareSearch } from './support/bare-search.mjs';
import { fillConversations, questionsOf } from './support/conversations.mjs';
import { openWithBackgroundWork } from './support/databases.mjs';
import { filled } from './support/filled.mjs';
import { median } from './support/measure.mjs';

const SIZES = [1000, 100_000, 1_000_000];
const WARM_UP = 200;
/** What takes long is asked less often. */
const ROUND_MS = 15_000;
/** Of a bare query, by the number of turns. */
const MOST_TIMES = { sqlite: { 1000: 3, 100000: 1.2, 1000000: 0.5 }, postgres: { 1000: 3, 100000: 1.5, 1000000: 2 } };
const MOST_BLOCKED_MS = 20;

const plan = (quick) => (quick ? { rounds: 5, questions: 40, sizes: 2 } : { rounds: 9, questions: 100, sizes: 3 });

export async function search({ target, quick, report }) {
  const { rounds, questions, sizes } = plan(quick);
  for (const size of SIZES.slice(0, sizes)) {
    const database = await target.fresh();
    await filled(target.kind, database, (cairn) => fillConversations(cairn, size, 31));
    const bare = await openBareSearch(target.kind, database);
    const cairn = await openWithBackgroundWork(database);
    const next = questionsOf(size);
    const turns = `${size.toLocaleString('en')} turns`;
    report({
      what: `search.query, ${turns}`,
      ...(await compare(cairn, bare, next, rounds, questions)),
      at_most: MOST_TIMES[target.kind][size],
    });
    report({ what: `the event loop, ${turns}`, ...(await blocked(cairn, next, questions)) });
    await cairn.close();
    await bare.close();
  }
}

/** Where one takes seconds, eight at once wait longer than a server lets them: that is an answer, too. */
function unlessOverloaded(error) {
  if (error.code !== 'OVERLOADED') throw error;
}

function within(ms) {
  const end = performance.now() + ms;
  return () => performance.now() > end;
}

/** Both are asked each question, one after the other, and neither is asked one twice. */
async function compare(cairn, bare, next, rounds, questions) {
  const ours = [];
  const theirs = [];
  // Until all is compiled, on both sides: a store that is asked has been for long.
  const isOver = within(ROUND_MS);
  for (let i = 0; i < WARM_UP && !isOver(); i++) {
    await cairn.api.search.query({ query: next() });
    await bare.ask(next());
  }
  for (let round = 0; round < rounds; round++) {
    const took = { ours: [], theirs: [] };
    const isOver = within(ROUND_MS);
    for (let i = 0; i < questions && !isOver(); i++) {
      const question = next();
      const sides = { ours: () => cairn.api.search.query({ query: question }), theirs: () => bare.ask(question) };
      for (const name of i % 2 === 0 ? ['ours', 'theirs'] : ['theirs', 'ours']) {
        const started = performance.now();
        await sides[name]();
        took[name].push(performance.now() - started);
      }
    }
    ours.push(median(took.ours));
    theirs.push(median(took.theirs));
  }
  return {
    ours: median(ours),
    bare: median(theirs),
    unit: ' ms',
    ratio: median(ours.map((one, i) => one / theirs[i])),
  };
}

/** For how long the loop was at work up to now, without what it spent in line for a core, where Linux tells that. */
function atWork() {
  const { active } = performance.eventLoopUtilization();
  try {
    const [, waited] = readFileSync(`/proc/self/task/${process.pid}/schedstat`, 'utf8').split(' ');
    return active - Number(waited) / 1e6;
  } catch {
    return active;
  }
}

/** The longest time for which nothing else could run, with eight callers; beside it, that of a process that only waits. */
async function blocked(cairn, next, questions) {
  const idle = await longestBlock(() => new Promise((resolve) => setTimeout(resolve, 1000)));
  const callers = Array.from({ length: 8 }, async () => undefined);
  const ours = await longestBlock(() => {
    const isOver = within(ROUND_MS);
    return Promise.all(
      callers.map(async () => {
        for (let i = 0; i < questions && !isOver(); i++)
          await cairn.api.search.query({ query: next() }).catch(unlessOverloaded);
      }),
    );
  });
  return { ours, bare: idle, unit: ' ms', ratio: ours / idle, mark: 'ours', at_most: MOST_BLOCKED_MS };
}

/** By the time that the loop was at work between two ticks: that the machine gave it no turn is not counted. */
async function longestBlock(work) {
  let longest = 0;
  let before = atWork();
  const ticking = setInterval(() => {
    const now = atWork();
    longest = Math.max(longest, now - before);
    before = now;
  }, 1);
  await work();
  clearInterval(ticking);
  return longest;
}
