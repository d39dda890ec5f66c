// What row-level security costs on PostgreSQL: Cairn with it, against Cairn served by a role that it does not bind.

import { draws, fill } from './reads.mjs';
import { openCairn, openWithoutRowSecurity } from './support/databases.mjs';
import { byCallers, interleave } from './support/measure.mjs';
import { uuids } from './support/seeded.mjs';
import { addCards, packetBodies } from './support/work.mjs';

const CALLERS = 64;
const BOXES = 16;

export async function row_security({ target, quick, report }) {
  if (target.kind !== 'postgres') return;
  const rounds = quick ? 5 : 9;
  const count = quick ? 1280 : 3840;
  const newId = uuids(8);
  const boxes = Array.from({ length: BOXES }, newId);
  const cardWork = Array.from({ length: rounds + 1 }, () => Array.from({ length: count }, newId));
  const newBody = packetBodies(9);
  const packetWork = Array.from({ length: count }, newBody);
  const sides = {};
  for (const [name, open] of [
    ['ours', openCairn],
    ['bare', openWithoutRowSecurity],
  ]) {
    const cairn = await open(await target.fresh());
    for (const box_id of boxes) await cairn.api.boxes.create({ box_id });
    await addCards(cairn, cardWork.flat());
    sides[name] = { ...cairn, ids: await fill(cairn) };
  }
  const append = ({ api }, round) =>
    byCallers(CALLERS, cardWork[round], (id) =>
      api.boxes.append({ box_id: boxes[Number.parseInt(id.slice(-4), 16) % BOXES], card_ids: [id] }),
    );
  const kinds = {
    'boxes.append': append,
    'packets.write': ({ api }) => byCallers(CALLERS, packetWork, api.packets.write),
    'cards.get': ({ api, ids }) =>
      byCallers(CALLERS, draws(ids.card_ids, count * 2), (card_id) => api.cards.get({ card_id })),
    'packets.get': ({ api, ids }) =>
      byCallers(CALLERS, draws(ids.packet_ids, count * 2), (packet_id) => api.packets.get({ packet_id })),
  };
  for (const [name, run] of Object.entries(kinds)) {
    const { rate, ratio, noise } = await interleave(
      { ours: (round) => run(sides.ours, round), bare: (round) => run(sides.bare, round) },
      rounds,
    );
    const figures = {
      ours: rate('ours'),
      bare: rate('bare'),
      unit: '/s',
      ratio: ratio('ours', 'bare'),
      noise: noise('ours', 'bare'),
    };
    report({ what: `${name}, with row security against without`, ...figures });
  }
  await sides.ours.close();
  await sides.bare.close();
}
