// Reads by id in process, against a bare prepared select with JSON.parse. Both sides have 64 callers.
import { openBare, openWithBackgroundWork, TENANT } from './support/databases.mjs';
import { filled } from './support/filled.mjs';
import { byCallers, interleave } from './support/measure.mjs';
import { prose, seeded, uuids } from './support/seeded.mjs';
import { packetBodies } from './support/work.mjs';

const CALLERS = 64;
const ROWS = 2000;

const CARD = `SELECT content, tool_calls, tool_call_id, metadata, author_id, subject_ids, content_hash, expires_at, created_at
  FROM cards WHERE tenant_id = $1 AND card_id = $2`;
const PACKET = `SELECT seq, envelope, content_hash, recorded_at FROM packet_store WHERE tenant_id = $1 AND packet_id = $2`;

const parseCard = (row) => ({ ...row, content: JSON.parse(row.content), metadata: JSON.parse(row.metadata) });
const parsePacket = (row) => ({ ...row, envelope: JSON.parse(row.envelope) });

/** Writes what will be read; gives the ids. */
export async function fill({ api }) {
  const newId = uuids(4);
  const next = seeded(4);
  const newBody = packetBodies(5);
  const card_ids = Array.from({ length: ROWS }, newId);
  const packet_ids = Array.from({ length: ROWS }, newId);
  for (let i = 0; i < ROWS; i += 500) {
    const cards = card_ids
      .slice(i, i + 500)
      .map((card_id) => ({
        card_id,
        content: { text: prose(next, 400), step: next() % 100 },
        metadata: { type: 'note', role: 'assistant' },
      }));
    await api.cards.add_batch({ cards, atomic: true });
    const packets = packet_ids.slice(i, i + 500).map((packet_id) => ({ packet_id, ...newBody() }));
    await api.packets.write_batch({ packets });
  }
  return { card_ids, packet_ids };
}

/** Ids in an order of their own, drawn again and again. */
export function draws(ids, count) {
  const next = seeded(6);
  return Array.from({ length: count }, () => ids[next() % ids.length]);
}

export async function reads({ target, quick, report }) {
  const database = await target.fresh();
  const { card_ids, packet_ids } = await filled(target.kind, database, fill);
  const cairn = await openWithBackgroundWork(database);
  const bare = await openBare(target.kind, database);
  const select = (text) => {
    if (target.kind === 'postgres') return async (id) => (await bare.run(text, [TENANT, id])).rows[0];
    const statement = bare.prepare(text);
    return async (id) => statement.get(TENANT, id);
  };
  const count = (quick ? 10_000 : 40_000) / (target.kind === 'postgres' ? 4 : 1);
  const rounds = quick ? 5 : 9;
  const pairs = [
    ['cards.get', card_ids, (card_id) => cairn.api.cards.get({ card_id }), select(CARD), parseCard],
    ['packets.get', packet_ids, (packet_id) => cairn.api.packets.get({ packet_id }), select(PACKET), parsePacket],
  ];
  for (const [name, ids, ours, read, parse] of pairs) {
    const work = draws(ids, count);
    const { rate, ratio, noise } = await interleave(
      {
        ours: () => byCallers(CALLERS, work, ours),
        bare: () => byCallers(CALLERS, work, async (id) => parse(await read(id))),
      },
      rounds,
    );
    report({
      what: `${name}, ${CALLERS} callers`,
      ours: rate('ours'),
      bare: rate('bare'),
      unit: '/s',
      ratio: ratio('ours', 'bare'),
      noise: noise('ours', 'bare'),
      at_least: 0.4,
    });
  }
  await bare.close();
  await cairn.close();
}
