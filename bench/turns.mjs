// Turns added in process, by 64 concurrent callers and by one, against bare statements that write the same rows. The
// tokens are counted by the sender, as the bare side does not count any. A round is a burst: it ends with the last
// answer, and the index may take its turns in afterwards (bench/sustained.mjs waits for that).
import { sql } from '../dist/driver/sql.js';
import { cardRows, eventRows, groupWriter } from './support/bare-writes.mjs';
import { openBare, openCairn, openWithBackgroundWork, TENANT } from './support/databases.mjs';
import { byCallers, byGroups, interleave } from './support/measure.mjs';
import { thenQuiet } from './support/quiet.mjs';
import { uuids } from './support/seeded.mjs';
import { counted, openScopes, sayings } from './support/turns.mjs';
import { lastPacket } from './writes.mjs';

const CALLERS = 64;
const SCOPES = 16;

const plan = (quick) => (quick ? { many: 20, one: 100, rounds: 5 } : { many: 60, one: 500, rounds: 9 });

export async function turns({ target, quick, report }) {
  const { many, one, rounds } = plan(quick);
  const newId = uuids(15);
  const say = sayings(15);
  const cairn = await openWithBackgroundWork(await target.fresh());
  const bareFile = await target.fresh();
  const beside = await openCairn(bareFile);
  const scope_ids = Array.from({ length: SCOPES }, newId);
  const trajectory_id = newId();
  for (const store of [cairn, beside]) await openScopes(store, scope_ids, trajectory_id);
  const batch = (count) =>
    Array.from({ length: rounds + 1 }, () =>
      Array.from({ length: count }, (_, i) => ({ scope_id: scope_ids[i % SCOPES], text: say() })),
    );
  const work = { many: batch(CALLERS * many), one: batch(one) };
  const rows = await turnRows(beside, scope_ids, newId);
  await beside.close();
  const bare = await openBare(target.kind, bareFile);
  const write = groupWriter(target.kind, bare);

  const add = ({ scope_id, text }) => cairn.api.turns.add(counted(scope_id, text));
  const { rate, ratio, noise } = await interleave(
    {
      ours_many: thenQuiet((round) => byCallers(CALLERS, work.many[round], add)),
      bare_many: (round) => byGroups(CALLERS, work.many[round].map(rows), write),
      ours_one: thenQuiet((round) => byCallers(1, work.one[round], add)),
      bare_one: (round) => byGroups(1, work.one[round].map(rows), write),
    },
    rounds,
  );
  const wanted = { sqlite: { many: 0.4, one: 0.55 }, postgres: { many: 0.5, one: 0.6 } }[target.kind];
  for (const [side, callers] of [
    ['many', `${CALLERS} callers`],
    ['one', 'one caller'],
  ])
    report({
      what: `turns.add, ${callers}`,
      ours: rate(`ours_${side}`),
      bare: rate(`bare_${side}`),
      unit: '/s',
      ratio: ratio(`ours_${side}`, `bare_${side}`),
      noise: noise(`ours_${side}`, `bare_${side}`),
      at_least: wanted[side],
    });
  await bare.close();
  await cairn.close();
}

/** Makes the rows of a turn as Cairn writes them, from those of one that Cairn made. */
export async function turnRows(store, scope_ids, newId) {
  const first = scope_ids[0];
  const text = sayings(16)();
  const { turn_id } = await store.api.turns.add(counted(first, text));
  const packet = await lastPacket(store, 'cairn.turn.added');
  const query = store.driver.at(TENANT);
  const card = await query.get(sql`SELECT * FROM cards WHERE tenant_id = ${TENANT} AND card_id = ${turn_id}`);
  const [eventRow, cardRow] = [eventRows(packet), cardRows(card)];
  const states = new Map();
  for (const scope_id of scope_ids) {
    const { box_id } = await store.api.scopes.get({ scope_id });
    states.set(scope_id, { box_id, length: scope_id === first ? 1 : 0 });
  }
  return (item) => {
    const state = states.get(item.scope_id);
    const length = ++state.length;
    const card_id = newId();
    const now = Date.now();
    const ids = [
      [turn_id, card_id],
      [first, item.scope_id],
    ];
    return {
      card: cardRow([[text, item.text], ...ids]),
      entry: [TENANT, state.box_id, length, card_id, length + 1, length],
      grow: [length + 1, length, length + 1, now, TENANT, state.box_id],
      use: [100 * length, null, now, TENANT, item.scope_id],
      event: eventRow([[packet.packet_id, newId()], ...ids]),
    };
  };
}
