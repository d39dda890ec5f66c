// Durable writes in process, by 64 concurrent callers and by one, against bare statements that write the same rows.
import { sql } from '../dist/driver/sql.js';
import { eventRows, groupWriter, packetRows } from './support/bare-writes.mjs';
import { openBare, openCairn, openWithBackgroundWork, TENANT } from './support/databases.mjs';
import { byCallers, byGroups, interleave } from './support/measure.mjs';
import { thenQuiet } from './support/quiet.mjs';
import { uuids } from './support/seeded.mjs';
import { addCards, packetBodies } from './support/work.mjs';

const CALLERS = 64;
const BOXES = 16;

/** How many writes each caller makes in a round, how many the only one, and how many rounds. */
const plan = (quick) => (quick ? { many: 30, one: 150, rounds: 5 } : { many: 100, one: 500, rounds: 9 });

/** The work of every round, of which the first warms up. */
const inRounds = (rounds, make) => Array.from({ length: rounds + 1 }, make);

/** The row of packet_store that Cairn wrote last. */
export async function lastPacket({ api, driver }, type) {
  const { packets } = await api.packets.list({ packet_type: type, limit: 1 });
  const { packet_id } = packets[0];
  return driver
    .at(TENANT)
    .get(sql`SELECT * FROM packet_store WHERE tenant_id = ${TENANT} AND packet_id = ${packet_id}`);
}

export async function appends({ target, quick, report }) {
  const { rounds, ...size } = plan(quick);
  const newId = uuids(1);
  const cairn = await openCairn(await target.fresh());
  const bareFile = await target.fresh();
  const beside = await openCairn(bareFile);
  const boxes = Array.from({ length: BOXES }, newId);
  const batch = (count) => () =>
    Array.from({ length: count }, (_, i) => ({ box_id: boxes[i % BOXES], card_id: newId() }));
  const work = { many: inRounds(rounds, batch(CALLERS * size.many)), one: inRounds(rounds, batch(size.one)) };
  const cardIds = Object.values(work)
    .flat(2)
    .map(({ card_id }) => card_id);
  for (const store of [cairn, beside]) {
    for (const box_id of boxes) await store.api.boxes.create({ box_id });
    await addCards(store, cardIds);
  }
  const rows = await appendRows(beside, boxes, newId);
  await beside.close();
  const bare = await openBare(target.kind, bareFile);
  const write = groupWriter(target.kind, bare);

  const append = ({ box_id, card_id }) => cairn.api.boxes.append({ box_id, card_ids: [card_id] });
  const measured = await interleave(
    {
      ours_many: (round) => byCallers(CALLERS, work.many[round], append),
      bare_many: (round) => byGroups(CALLERS, work.many[round].map(rows), write),
      ours_one: (round) => byCallers(1, work.one[round], append),
      bare_one: (round) => byGroups(1, work.one[round].map(rows), write),
    },
    rounds,
  );
  reportPair(report, 'boxes.append', measured, { sqlite: 0.55, postgres: 0.6 }[target.kind]);
  await bare.close();
  await cairn.close();
}

/** Makes the rows of an append as Cairn writes them, from those of one that Cairn made. */
async function appendRows(store, boxes, newId) {
  const card_id = newId();
  await addCards(store, [card_id]);
  await store.api.boxes.append({ box_id: boxes[0], card_ids: [card_id] });
  const template = await lastPacket(store, 'cairn.box.appended');
  const row = eventRows(template);
  const lengths = new Map(boxes.map((box_id, i) => [box_id, i === 0 ? 1 : 0]));
  return (item) => {
    const length = lengths.get(item.box_id) + 1;
    lengths.set(item.box_id, length);
    return {
      entry: [TENANT, item.box_id, length, item.card_id, length + 1, length],
      box: [length + 1, length, 1, length + 1, null, Date.now(), TENANT, item.box_id],
      event: row([
        [template.packet_id, newId()],
        [card_id, item.card_id],
        [boxes[0], item.box_id],
      ]),
    };
  };
}

export async function packets({ target, quick, report }) {
  const { rounds, ...size } = plan(quick);
  const newBody = packetBodies(2);
  const newId = uuids(3);
  const cairn = await openWithBackgroundWork(await target.fresh());
  const bareFile = await target.fresh();
  const beside = await openCairn(bareFile);
  const batch = (count) => () => Array.from({ length: count }, newBody);
  const work = { many: inRounds(rounds, batch(CALLERS * size.many)), one: inRounds(rounds, batch(size.one)) };
  const rows = await packetRowsOf(beside, newId);
  await beside.close();
  const bare = await openBare(target.kind, bareFile);
  const write = groupWriter(target.kind, bare);
  const measured = await interleave(
    {
      ours_many: thenQuiet((round) => byCallers(CALLERS, work.many[round], cairn.api.packets.write)),
      bare_many: (round) => byGroups(CALLERS, work.many[round].map(rows), write),
      ours_one: thenQuiet((round) => byCallers(1, work.one[round], cairn.api.packets.write)),
      bare_one: (round) => byGroups(1, work.one[round].map(rows), write),
    },
    rounds,
  );
  reportPair(report, 'packets.write', measured, { sqlite: 0.45, postgres: 0.7 }[target.kind]);
  await bare.close();
  await cairn.close();
}

async function packetRowsOf(store, newId) {
  const body = packetBodies(2)();
  await store.api.packets.write(body);
  const template = await lastPacket(store, body.packet_type);
  const row = packetRows(template);
  return ({ thread_id, metadata, tags }) => {
    const packet = row([
      [template.packet_id, newId()],
      [body.thread_id, thread_id],
      [body.metadata.agent, metadata.agent],
    ]);
    return { packet, index: tags.map((tag) => ['tag', tag]) };
  };
}

function reportPair(report, name, { rate, ratio, noise }, wanted) {
  const pair = (side) => ({
    ours: rate(`ours_${side}`),
    bare: rate(`bare_${side}`),
    unit: '/s',
    ratio: ratio(`ours_${side}`, `bare_${side}`),
    noise: noise(`ours_${side}`, `bare_${side}`),
  });
  report({ what: `${name}, ${CALLERS} callers`, ...pair('many'), at_least: wanted });
  report({ what: `${name}, one caller`, ...pair('one') });
  const gain = (side) => rate(`${side}_many`) / rate(`${side}_one`);
  const gains = { ours: gain('ours'), bare: gain('bare'), unit: '×' };
  report({ what: `${name}, gain over one caller`, ...gains, ratio: gains.ours / gains.bare, at_least: 0.7 });
}
