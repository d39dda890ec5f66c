// Large scopes: what a turn costs at a hundred thousand turns against at a hundred, and how long another writer waits
// while a scope of that size is closed and erased. Both use the same large scope.
import { setTimeout as sleep } from 'node:timers/promises';
import { openCairn, settle } from './support/databases.mjs';
import { byCallers, interleave, median } from './support/measure.mjs';
import { uuids } from './support/seeded.mjs';
import { counted, fillScopes, openScopes, sayings } from './support/turns.mjs';

const CALLERS = 64;
const LARGE = 100_000;
const SMALL = 100;

export async function scopes({ target, quick, report }) {
  const rounds = quick ? 5 : 9;
  const perRound = quick ? 800 : 3200;
  const newId = uuids(11);
  const say = sayings(11);
  const texts = Array.from({ length: rounds + 1 }, () => Array.from({ length: perRound }, say));
  const open = async (count, perScope) => {
    const database = await target.fresh();
    const scope_ids = Array.from({ length: count }, newId);
    const before = await openCairn(database);
    await openScopes(before, scope_ids, newId());
    await fillScopes(before, scope_ids, perScope, 12);
    await before.close();
    await settle(target.kind, database);
    const cairn = await openCairn(database);
    const add = (round) =>
      byCallers(CALLERS, texts[round], (text) => cairn.api.turns.add(counted(scope_ids[round % count], text)));
    return { ...cairn, scope_ids, add };
  };
  // Each round adds to one scope: to the large one again, or to another small one.
  const small = await open(rounds + 1, SMALL);
  const large = await open(1, LARGE);
  const { rate, ratio, noise } = await interleave({ large: large.add, small: small.add }, rounds);
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
  await closing(large, newId, quick, report);
  await large.close();
}

/**
 * Closes the large scope while another writer in the same process adds turns to another scope, one at a time. The floor
 * is the same writer in the same database with nothing beside it, for the same time or the first seconds of it.
 */
async function closing(cairn, newId, quick, report) {
  const other = newId();
  const say = sayings(13);
  await openScopes(cairn, [other], newId());
  const write = () => cairn.api.turns.add(counted(other, say()));
  const close = () => cairn.api.scopes.close({ scope_id: cairn.scope_ids[0], wait: true });
  // Warms up: what is compiled or opened at the first write is not what is measured.
  await longestWait(write, () => sleep(500));
  const beside = await longestWait(write, close);
  const { erased, kept, state } = beside.result.erasure;
  if (state !== 'done' || erased < LARGE || kept > 0) throw new Error(`erased ${erased}, kept ${kept}: ${state}`);
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
    what: `erasing ${erased.toLocaleString('en')} turns beside it`,
    ours: beside.took / 1000,
    unit: 's',
    mark: 'ours',
    at_most: target.kind === 'sqlite' ? 10 : 15,
  });
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
