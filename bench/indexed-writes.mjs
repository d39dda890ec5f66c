// A turn written with its entry in the index, against the same with the statements for that left out. Both sides go
// through the same wrapper of the driver; one of them queues no documents, so that nothing is folded either.
import { openDriver, Store } from '../dist/api/store.js';
import { sayingsOf } from './support/conversations.mjs';
import { asCairn } from './support/databases.mjs';
import { byCallers, interleave } from './support/measure.mjs';
import { uuids } from './support/seeded.mjs';
import { counted, openScopes } from './support/turns.mjs';

const CALLERS = 64;
const SCOPES = 16;
const PER_CALL = 100;
const MOST_TIMES = 2;

const plan = (quick) => (quick ? { many: 20, one: 100, rounds: 5 } : { many: 100, one: 500, rounds: 9 });

export async function indexed_writes({ target, quick, report }) {
  const { many, one, rounds } = plan(quick);
  const newId = uuids(17);
  const say = sayingsOf(17);
  const sides = {};
  const scope_ids = Array.from({ length: SCOPES }, newId);
  const trajectory_id = newId();
  for (const [name, isIndexed] of [
    ['indexed', true],
    ['left_out', false],
  ]) {
    sides[name] = await openWith(await target.fresh(), isIndexed);
    await openScopes(sides[name], scope_ids, trajectory_id);
  }
  const batch = (count) =>
    Array.from({ length: rounds + 1 }, () =>
      Array.from({ length: count }, (_, i) => counted(scope_ids[i % SCOPES], say())),
    );
  const kinds = {
    [`turns.add, ${CALLERS} callers`]: [batch(CALLERS * many), CALLERS, ({ api }) => api.turns.add],
    'turns.add, one caller': [batch(one), 1, ({ api }) => api.turns.add],
    [`turns.batch, ${PER_CALL} a call`]: [
      batch(CALLERS * many).map((turns) => inCalls(turns)),
      1,
      ({ api }) =>
        (items) =>
          api.turns.batch({ items, atomic: true }),
    ],
  };
  for (const [what, [work, callers, write]] of Object.entries(kinds)) {
    const { rate, ratio, noise } = await interleave(
      {
        indexed: (round) => byCallers(callers, work[round], write(sides.indexed)),
        left_out: (round) => byCallers(callers, work[round], write(sides.left_out)),
      },
      rounds,
    );
    // As times: what a write takes with the index against what it takes without.
    report({
      what: `${what}, indexed`,
      ours: rate('indexed'),
      bare: rate('left_out'),
      unit: '/s',
      ratio: ratio('left_out', 'indexed'),
      noise: noise('left_out', 'indexed'),
      at_most: MOST_TIMES,
    });
  }
  for (const side of Object.values(sides)) await side.close();
}

const inCalls = (turns) =>
  Array.from({ length: turns.length / PER_CALL }, (_, i) =>
    turns.slice(i * PER_CALL, (i + 1) * PER_CALL).map((create) => ({ create })),
  );

async function openWith(database, isIndexed) {
  const driver = await openDriver({ database });
  const { write } = driver;
  driver.write = (tenant, work, options) => write.call(driver, tenant, (tx) => work(seenBy(tx, isIndexed)), options);
  return asCairn(await Store.on(driver, { sweep_every_ms: 0 }));
}

/** The same transaction, in which no documents are queued where they are left out. */
function seenBy(tx, isIndexed) {
  const seen = Object.create(tx);
  seen.late = (rows) => {
    if (isIndexed) tx.late(rows);
  };
  for (const name of ['all', 'get', 'run', 'returning', 'send', 'insert', 'journal', 'wake'])
    seen[name] = tx[name].bind(tx);
  Object.defineProperty(seen, 'journalled', { get: () => tx.journalled });
  return seen;
}
