// The vectors of English words: what loading them takes, and what they add to a search of short memories.
import { execFileSync } from 'node:child_process';
import { indexKey, readMeta } from '../dist/engine/sql.js';
import { run } from '../dist/recall/search/job.js';
import { LikenessRanking } from '../dist/recall/search/likeness.js';
import { wordVectors } from '../dist/text/word-vectors.js';
import { openCairn, TENANT } from './support/databases.mjs';
import { median } from './support/measure.mjs';
import { seeded } from './support/seeded.mjs';

const MEMORIES = 1000;
const PER_CALL = 100;
/** Of words by frequency: the most frequent say nothing, the rarest occur in no memory. */
const [FIRST, LAST] = [200, 8000];
const MOST_ADDED_MS = 1.5;
const MOST_LOADING_MS = 30;
const MOST_MB = 20;

export async function wordVectorFigures({ target, quick, report }) {
  const loaded = Array.from({ length: quick ? 3 : 9 }, load);
  const figureOf = (name) => median(loaded.map((one) => one[name]));
  const mark = { mark: 'ours' };
  report({ what: 'loading the word vectors', ours: figureOf('ms'), unit: ' ms', ...mark, at_most: MOST_LOADING_MS });
  report({ what: 'memory of the word vectors', ours: figureOf('mb'), unit: ' MB', ...mark, at_most: MOST_MB });
  const { ours, bare } = await added({ target, rounds: quick ? 3 : 9, questions: quick ? 50 : 200 });
  report({
    what: `what word vectors add to recall among ${MEMORIES.toLocaleString('en')} short memories`,
    ours: ours - bare,
    unit: ' ms',
    ...mark,
    at_most: MOST_ADDED_MS,
  });
}

/** In a process of its own: the time of the first use, and the resident memory with all vectors in use. */
function load() {
  const module = new URL('../dist/text/word-vectors.js', import.meta.url).href;
  const code = `
    const { wordVectors } = await import(${JSON.stringify(module)});
    const resident = () => (gc(), process.memoryUsage().rss);
    const before = resident();
    const started = performance.now();
    const vectors = wordVectors();
    vectors.similarity(vectors.idOf('cat'), vectors.idOf('dog'));
    const ms = performance.now() - started;
    for (let id = 0; id < 65000; id++) vectors.similarity(0, id);
    console.log(JSON.stringify({ ms, mb: (resident() - before) / 1e6 }));`;
  return JSON.parse(execFileSync(process.execPath, ['--expose-gc', '--input-type=module', '--eval', code]).toString());
}

const sentencesOf = (seed) => {
  const next = seeded(seed);
  const share = () => next() / 2 ** 32;
  const word = () => wordVectors().wordOf(Math.floor(FIRST * (LAST / FIRST) ** share()));
  return (length) => Array.from({ length }, word).join(' ');
};

/** In ms; unlike the time that passes it does not depend on what else the machine does. */
function processorTime() {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1000;
}

/** Processor time of the same searches with word vectors and by terms alone, each question by both, in turn. */
async function added({ target, rounds, questions }) {
  const cairn = await openCairn(await target.fresh());
  try {
    const say = sentencesOf(41);
    for (let at = 0; at < MEMORIES; at += PER_CALL) {
      const items = Array.from({ length: PER_CALL }, () => ({
        operation: 'create',
        create: { note_type: 'Fact', title: 'a memory', content: say(9) },
      }));
      const { failed } = await cairn.api.notes.batch({ items, atomic: true });
      if (failed > 0) throw new Error(`${failed} memories were not added`);
    }
    const query = cairn.driver.at(TENANT);
    const meta = await readMeta(query);
    const request = {
      ...{ tenant: TENANT, store: meta.store_epoch, index_key: indexKey(meta, TENANT), viewer: null },
      ...{ min_score: 0, limit: 10, merge_repeats: true, with_guesses: true, detail: 'text' },
    };
    const ask = (text) => run(query, { ...request, now: cairn.driver.now(), query: text });
    const took = { ours: [], bare: [] };
    const sides = { ours: ask, bare: (text) => byTermsAlone(() => ask(text)) };
    for (let round = 0; round <= rounds; round++) {
      const times = { ours: 0, bare: 0 };
      for (let i = 0; i < questions; i++) {
        const text = say(5);
        for (const name of i % 2 === 0 ? ['ours', 'bare'] : ['bare', 'ours']) {
          const started = processorTime();
          await sides[name](text);
          times[name] += processorTime() - started;
        }
      }
      // The first round warms up.
      for (const name of round === 0 ? [] : ['ours', 'bare']) took[name].push(times[name] / questions);
    }
    return { ours: median(took.ours), bare: median(took.bare) };
  } finally {
    await cairn.close();
  }
}

/** What a search does by word vectors, and what it does instead where it has none. */
const WITHOUT = {
  guesses: async () => [],
  rerank: async (ranked) => ranked,
  links: () => [],
  follow: (ranked) => ranked,
};

async function byTermsAlone(work) {
  const { prototype } = LikenessRanking;
  const own = Object.fromEntries(Object.keys(WITHOUT).map((name) => [name, prototype[name]]));
  Object.assign(prototype, WITHOUT);
  try {
    return await work();
  } finally {
    Object.assign(prototype, own);
  }
}
