/** What was derived from entities: by their edges, and by the sources that cards name. */
import { type Query, sql, TENANT } from '../../driver/index.js';
import type { Forgettable, ForgettableKind } from '../../engine/index.js';
import { cardsFrom, type PlacedCard } from '../../facts/index.js';
import type { EntityType } from '../edges/model.js';
import { participantsAmong } from '../lookups.js';

/** What cards are: turns, or versions of artifacts and notes, or cards of their own. */
export async function placesOf(query: Query, cards: readonly PlacedCard[]): Promise<Forgettable[]> {
  const held = cards.filter(({ held_by }) => held_by !== null);
  const versions = await versionsWith(query, held);
  return cards.map(({ card_id, held_by }): Forgettable => {
    const memory = versions.get(card_id);
    if (memory) return memory;
    return { kind: held_by?.startsWith('scope:') ? 'turn' : 'card', id: card_id };
  });
}

/** The artifacts and notes with these cards. Found by their holders, which cards and versions share. */
async function versionsWith(query: Query, cards: readonly PlacedCard[]): Promise<Map<string, Forgettable>> {
  if (cards.length === 0) return new Map();
  const holders = [...new Set(cards.map(({ held_by }) => held_by!))];
  const card_ids = cards.map(({ card_id }) => card_id);
  const rows = await query.all<{ card_id: string; memory_id: string; kind: 'artifact' | 'note' }>(
    sql`SELECT v.card_id, v.memory_id, v.kind FROM memory_versions v
        WHERE v.tenant_id = ${TENANT} AND v.held_by = ANY(${holders}) AND v.card_id = ANY(${card_ids})
          AND v.erased_at IS NULL`,
  );
  return new Map(rows.map(({ card_id, memory_id, kind }) => [card_id, { kind, id: memory_id }]));
}

const KIND: Readonly<Partial<Record<EntityType, ForgettableKind>>> = {
  Artifact: 'artifact',
  Note: 'note',
  Turn: 'turn',
  Packet: 'packet',
};

/** The first participant of such an edge was derived from the others. A deleted entity has deleted edges, and a history. */
export async function derivedByEdges(query: Query, ids: readonly string[]): Promise<Forgettable[]> {
  const rows = await query.all<{ entity_type: EntityType; entity_id: string; held_by: string | null }>(
    sql`SELECT DISTINCT o.entity_type, o.entity_id, c.held_by FROM ${participantsAmong(ids)}
          JOIN edge_participants o ON o.tenant_id = p.tenant_id AND o.edge_id = p.edge_id AND o.position = 1
          LEFT JOIN cards c ON o.entity_type = 'Card' AND c.tenant_id = o.tenant_id AND c.card_id = o.entity_id
        WHERE p.tenant_id = ${TENANT} AND p.entity_id = ANY(${ids}) AND p.position > 1
          AND p.edge_type IN ('DerivedFrom', 'SynthesizedFrom')`,
  );
  const cards = rows.filter(({ entity_type }) => entity_type === 'Card');
  const others = rows.flatMap(({ entity_type, entity_id }): Forgettable[] => {
    const kind = KIND[entity_type];
    return kind === undefined ? [] : [{ kind, id: entity_id }];
  });
  const placed = await placesOf(
    query,
    cards.map(({ entity_id, held_by }) => ({ card_id: entity_id, held_by })),
  );
  return [...others, ...placed];
}

export const derivedBySource = async (query: Query, ids: readonly string[]): Promise<Forgettable[]> =>
  placesOf(query, await cardsFrom(query, ids));
