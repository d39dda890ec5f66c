// Large scopes: what a turn costs at a hundred thousand turns against at a hundred, and how long another writer waits
// while a scope of that size is closed and erased. Both use the same large scope. It leaves nothing, so that erasure
// alone is measured; what its digest takes is measured with a scope of its own.
import { setTimeout as sleep } from 'node:timers/promises';
import { openWithBackgroundWork } from './support/databases.mjs';
import { filled } from './support/filled.mjs';
import { byCallers, interleave, median } from './support/measure.mjs';
import { thenQuiet, whenQuiet } from './support/quiet.mjs';
import { uuids } from './support/seeded.mjs';
import { counted, fillScopes, openScopes, sayings } from './support/turns.mjs';

const CALLERS = 64;
const LARGE = 100_000;
const SMALL = 100;
/** With the rounds that add to it, the large scope comes to exactly its size. */
const PER_ROUND = 1000;
const TURNS = '100,000 turns';

export async function scopes({ target, quick, report }) {
  const rounds = quick ? 5 : 9;
  const newId = uuids(11);
  const say = sayings(11);
  const texts = Array.from({ length: rounds + 1 }, () => Array.from({ length: PER_ROUND }, say));
  const open = async (count, perScope, retain) => {
    const database = await target.fresh();
    const scope_ids = Array.from({ length: count }, newId);
    await filled(target.kind, database, async (cairn) => {
      await openScopes(cairn, scope_ids, newId(), { retain });
      await fillScopes(cairn, scope_ids, perScope, 12);
    });
    const cairn = await openWithBackgroundWork(database);
    const add = (round) =>
      byCallers(CALLERS, texts[round], (text) => cairn.api.turns.add(counted(scope_ids[round % count], text)));
    return { ...cairn, scope_ids, add };
  };
  // Each round adds to one scope: to the large one again, or to another small one.
  const small = await open(rounds + 1, SMALL, 'nothing');
  const large = await open(1, LARGE - (rounds + 1) * PER_ROUND, 'nothing');
  const { rate, ratio, noise } = await interleave({ large: thenQuiet(large.add), small: thenQuiet(small.add) }, rounds);
  report({
    what: 'turns.add at 100,000 against at 100',
    ours: 1e6 / rate('large'),
    bare: 1e6 / rate('small'),
    unit: 'µs',
    // Of times, not of rates.
    ratio: ratio('small', 'large'),
    noise: noise('small', 'large'),
    at_most: 1.3,
  });
  await small.close();
  await closing(target.kind, large, newId, quick, report);
  await large.close();
  if (!quick) await digesting(await open(1, LARGE, 'digest'), report);
}

/**
 * Closes the large scope while another writer in the same process adds turns to another scope, one at a time. The floor
 * is the same writer in the same database with nothing beside it, for the same time or the first seconds of it.
 */
async function closing(kind, cairn, newId, quick, report) {
  const other = newId();
  const say = sayings(13);
  await openScopes(cairn, [other], newId(), { retain: 'nothing' });
  const write = () => cairn.api.turns.add(counted(other, say()));
  const close = () => cairn.api.scopes.close({ scope_id: cairn.scope_ids[0], wait: true });
  // Warms up: what is compiled or opened at the first write is not what is measured.
  await longestWait(write, () => sleep(500));
  const beside = await longestWait(write, close);
  const { erased, kept, state } = beside.result.erasure;
  if (state !== 'done' || erased !== LARGE || kept > 0) throw new Error(`erased ${erased}, kept ${kept}: ${state}`);
  await whenQuiet();
  const alone = await longestWait(write, () => sleep(quick ? Math.min(beside.took, 4000) : beside.took));
  report({
    what: 'longest wait of a writer while 100,000 are erased',
    ours: beside.longest,
    bare: alone.longest,
    unit: 'ms',
    ratio: beside.longest / alone.longest,
    mark: 'ours',
    at_most: 50,
  });
  report({
    what: 'middle wait of a writer while 100,000 are erased',
    ours: beside.middle,
    bare: alone.middle,
    unit: 'ms',
    ratio: beside.middle / alone.middle,
  });
  report({
    what: `erasing a closed scope of ${TURNS}`,
    ours: beside.took / 1000,
    unit: 's',
    mark: 'ours',
    at_most: kind === 'sqlite' ? 10 : 15,
  });
}

/** How long closing takes to answer when it leaves a digest; the turns are erased afterwards. */
async function digesting(cairn, report) {
  const started = performance.now();
  const { made } = await cairn.api.scopes.close({ scope_id: cairn.scope_ids[0] });
  const took = performance.now() - started;
  const digests = made.length;
  if (digests === 0) throw new Error('there is no digest');
  report({
    what: `closing a scope of ${TURNS} with its digest, until the answer`,
    ours: took / 1000,
    unit: 's',
    digests,
  });
  await cairn.close();
}

/** Writes one after another until the work is done. */
async function longestWait(write, work) {
  const waits = [];
  let done = false;
  const writer = (async () => {
    while (!done) {
      const start = performance.now();
      await write();
      waits.push(performance.now() - start);
    }
  })();
  const start = performance.now();
  const result = await work();
  const took = performance.now() - start;
  done = true;
  await writer;
  return { result, took, longest: Math.max(...waits), middle: median(waits) };
}
