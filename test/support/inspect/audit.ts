/** Holds a store against what it acknowledged: all of it is there, nothing is there twice, the stream has no hole. */
import { Store } from '#cairn/api/index.js';
import { type Sql, sql } from '#cairn/driver/index.js';
import { examine } from '#cairn/maintenance/index.js';
import type { Ledger } from './load.js';
import { threadless } from './threadless.js';

export interface Survey {
  readonly head: number;
  readonly seqs: readonly number[];
  /** How often each mark is in the store: in cards, in packets. */
  readonly cards: ReadonlyMap<string, number>;
  readonly packets: ReadonlyMap<string, number>;
  /** How often a card is in a box, by `card in box`. */
  readonly entries: ReadonlyMap<string, number>;
  /** How often the stream tells of a card's adding, and of its appending, by the same names. */
  readonly toldCards: ReadonlyMap<string, number>;
  readonly toldEntries: ReadonlyMap<string, number>;
  readonly cardIds: ReadonlySet<string>;
}

interface Told {
  readonly payload: { mark?: string; card_ids?: string[] };
}

/** An own event has facts, a packet of a user an envelope. */
interface PacketRow {
  readonly seq: number;
  readonly packet_type: string;
  readonly entity_id: string;
  readonly facts: string | null;
  readonly envelope: string;
}

export async function survey(database: string, tenant = 'default'): Promise<Survey> {
  const store = await Store.open({ database, sweep_every_ms: 0 });
  try {
    const read = <R>(query: Sql) => store.driver.at(tenant).all<R>(query);
    const [head] = await read<{ seq: number }>(sql`SELECT seq FROM tenants WHERE tenant_id = ${tenant}`);
    const cards = await read<{ card_id: string; content: string | null }>(
      sql`SELECT card_id, content FROM cards WHERE tenant_id = ${tenant}`,
    );
    const entries = await read<{ box_id: string; card_id: string }>(
      sql`SELECT box_id, card_id FROM box_entries WHERE tenant_id = ${tenant} AND removed_revision IS NULL`,
    );
    const packets = await read<PacketRow>(
      sql`SELECT seq, packet_type, entity_id, facts, envelope FROM packet_store WHERE tenant_id = ${tenant} ORDER BY seq`,
    );
    const told = packets.map(({ packet_type, entity_id, facts, envelope }) => ({
      packet_type,
      entity_id,
      payload: facts === null ? (JSON.parse(envelope) as Told).payload : (JSON.parse(facts) as Told['payload']),
    }));
    return {
      head: head?.seq ?? 0,
      seqs: packets.map(({ seq }) => seq),
      cards: tally(cards.map(({ content }) => markOf(content))),
      cardIds: new Set(cards.map(({ card_id }) => card_id)),
      packets: tally(told.map(({ payload }) => payload.mark)),
      entries: tally(entries.map(({ box_id, card_id }) => `${card_id} in ${box_id}`)),
      toldCards: tally(
        told
          .filter(({ packet_type }) => packet_type === 'cairn.card.added')
          .flatMap(({ payload, entity_id }) => payload.card_ids ?? [entity_id]),
      ),
      toldEntries: tally(
        told
          .filter(({ packet_type }) => packet_type === 'cairn.box.appended')
          .flatMap(({ payload, entity_id }) => payload.card_ids!.map((id) => `${id} in ${entity_id}`)),
      ),
    };
  } finally {
    await store.close();
  }
}

function markOf(content: string | null): string | undefined {
  const parsed = content === null ? null : (JSON.parse(content) as { mark?: string } | string | null);
  return typeof parsed === 'object' && parsed !== null ? parsed.mark : undefined;
}

function tally(names: readonly (string | undefined)[]): Map<string, number> {
  const counts = new Map<string, number>();
  for (const name of names) if (name !== undefined) counts.set(name, (counts.get(name) ?? 0) + 1);
  return counts;
}

/** What is wrong; empty when nothing is. */
export function audit(found: Survey, ledger: Ledger): string[] {
  const wrong: string[] = [];
  if (!found.seqs.every((seq, i) => seq === i + 1) || found.seqs.length !== found.head)
    wrong.push(`the stream has a hole: ${found.seqs.length} packets, head ${found.head}`);
  for (const [mark, { step, acknowledged, box_id }] of ledger.steps) {
    const name = step === 'append' ? `${mark} in ${box_id}` : mark;
    const where = { card: found.cards, append: found.entries, packet: found.packets }[step];
    const times = where.get(name) ?? 0;
    if (acknowledged && times === 0) wrong.push(`${step} ${name} was acknowledged and is lost`);
    if (times > 1) wrong.push(`${step} ${name} is there ${times} times`);
  }
  for (const [what, rows, told] of [
    ['card', tally([...found.cardIds]), found.toldCards],
    ['entry', found.entries, found.toldEntries],
  ] as const) {
    for (const name of rows.keys())
      if (told.get(name) !== 1) wrong.push(`${what} ${name} has ${told.get(name) ?? 0} events`);
    for (const name of told.keys()) if (!rows.has(name)) wrong.push(`${what} ${name} has an event and no row`);
  }
  return wrong.slice(0, 10);
}

/** What the doctor finds wrong, by the clock that the store was written with. */
export async function illnesses(database: string, clock_offset = 0): Promise<string[]> {
  const found: string[] = [];
  let checks = 0;
  const store = await Store.open({ database, sweep_every_ms: 0, clock_offset_ms: () => clock_offset });
  try {
    for await (const { check, ok, problems } of examine(threadless(store.driver))) {
      checks++;
      if (!ok) found.push(`${check}: ${problems.join(', ')}`);
    }
  } finally {
    await store.close();
  }
  if (checks < 5) found.push(`the doctor made ${checks} checks only`);
  return found;
}
