/** Which contents are there, whatever the search says of them. */
import { thoughtOf } from '../../checkpoints/sql.js';
import { type Query, type Sql, sql, TENANT } from '../../driver/index.js';
import { executionHolder } from '../../engine/sql.js';
import { contentKey } from '../search/contents.js';

interface Of {
  readonly entity_type: string;
  /** Of what is to be locked. */
  readonly entity_id?: string;
  readonly content_id: string;
}

/** How long a content is there, which can change after it was written. */
export interface Lifetime {
  readonly expires_at: number | null;
  readonly held_by: string | null;
}

/**
 * Those of these that can still be found, by contentKey, with how long. In a transaction with `lock`, none of them goes before its end:
 * whoever takes one away waits, and finds what was written meanwhile.
 */
export async function presentAmong(
  query: Query,
  contents: readonly Of[],
  lock = false,
): Promise<Map<string, Lifetime>> {
  const there = new Map<string, Lifetime>();
  const locked: Sql = lock ? sql`FOR UPDATE` : sql``;
  const ids = (type: (entity_type: string) => boolean) =>
    contents.filter(({ entity_type }) => type(entity_type)).map(({ content_id }) => content_id);
  const ofCards = ids((type) => type !== 'packet' && type !== 'thought');
  if (lock) await lockVersions(query, contents);
  if (ofCards.length > 0) {
    const rows = await query.all<Lifetime & { id: string }>(
      sql`SELECT c.card_id AS id, c.expires_at, c.held_by FROM cards c
          WHERE c.tenant_id = ${TENANT} AND c.card_id = ANY(${ofCards})
            AND c.erased_at IS NULL AND c.deleted_at IS NULL ORDER BY c.card_id ${locked}`,
    );
    for (const { id, expires_at, held_by } of rows) there.set(ofCard(id), { expires_at, held_by });
  }
  const ofVersions = ids(isVersion).filter((id) => there.has(ofCard(id)));
  if (ofVersions.length > 0) {
    const holders = [...new Set(ofVersions.map((id) => there.get(ofCard(id))!.held_by ?? ''))];
    const rows = await query.all<{ card_id: string }>(
      sql`SELECT v.card_id FROM memory_versions v
          WHERE v.tenant_id = ${TENANT} AND v.held_by = ANY(${holders}) AND v.erased_at IS NULL
            AND v.card_id = ANY(${ofVersions}) AND v.superseded_at IS NULL`,
    );
    const current = new Set(rows.map(({ card_id }) => card_id));
    for (const id of ofVersions) if (!current.has(id)) there.delete(ofCard(id));
  }
  const ofPackets = ids((type) => type === 'packet');
  if (ofPackets.length > 0) {
    const rows = await query.all<{ id: string; expires_at: number | null }>(
      sql`SELECT p.packet_id AS id, p.expires_at FROM packet_store p
          WHERE p.tenant_id = ${TENANT} AND p.packet_id = ANY(${ofPackets}) AND p.erased_at IS NULL
          ORDER BY p.packet_id ${locked}`,
    );
    for (const { id, expires_at } of rows)
      there.set(contentKey({ entity_type: 'packet', content_id: id }), { expires_at, held_by: null });
  }
  for (const content_id of ids((type) => type === 'thought')) {
    const [checkpoint_id, id] = thoughtOf(content_id);
    const row = await query.get<{ execution_id: string }>(
      sql`SELECT t.execution_id FROM thoughts t
          WHERE t.tenant_id = ${TENANT} AND t.checkpoint_id = ${checkpoint_id} AND t.id = ${id} AND t.removed > 0 ${locked}`,
    );
    const key = contentKey({ entity_type: 'thought', content_id });
    if (row) there.set(key, { expires_at: null, held_by: executionHolder(row.execution_id) });
  }
  return there;
}

const ofCard = (card_id: string): string => contentKey({ entity_type: 'card', content_id: card_id });

const isVersion = (type: string) => type === 'artifact' || type === 'note';

/** As every change of an artifact or note does: by its first version, and before the cards. */
async function lockVersions(query: Query, contents: readonly Of[]): Promise<void> {
  const ids = contents.flatMap(({ entity_type, entity_id }) =>
    isVersion(entity_type) && entity_id !== undefined ? [entity_id] : [],
  );
  if (ids.length === 0) return;
  await query.all(
    sql`SELECT v.memory_id FROM memory_versions v
        WHERE v.tenant_id = ${TENANT} AND v.memory_id = ANY(${ids}) AND v.version = 1 ORDER BY v.memory_id FOR UPDATE`,
  );
}
