/** Which contents still exist, according to their own tables. */
import { parseThoughtContentId } from '../../checkpoints/sql.js';
import { type Query, type Sql, sql, TENANT } from '../../driver/index.js';
import { executionHolder } from '../../engine/sql.js';
import { contentKey, sourceOf } from '../search/contents.js';

interface ContentRef {
  readonly entity_type: string;
  /** Needed only for locking. */
  readonly entity_id?: string;
  readonly content_id: string;
}

/** The part of a document that can change after it was written. */
interface Lifetime {
  readonly expires_at: number | null;
  readonly held_by: string | null;
}

/**
 * The lifetimes of those that still exist, by contentKey. With `lock` none of them can be erased before the end of the
 * transaction: a concurrent eraser waits, and then sees the documents that were written.
 */
export async function presentAmong(
  query: Query,
  contents: readonly ContentRef[],
  lock = false,
): Promise<Map<string, Lifetime>> {
  const present = new Map<string, Lifetime>();
  const locked: Sql = lock ? sql`FOR UPDATE` : sql``;
  const idsOf = (some: readonly ContentRef[]) => some.map(({ content_id }) => content_id);
  const from = (source: string) => idsOf(contents.filter(({ entity_type }) => sourceOf(entity_type) === source));
  if (lock) await lockVersions(query, contents);
  const card_ids = from('card');
  if (card_ids.length > 0) {
    const rows = await query.all<Lifetime & { id: string }>(
      sql`SELECT c.card_id AS id, c.expires_at, c.held_by FROM cards c
          WHERE c.tenant_id = ${TENANT} AND c.card_id = ANY(${card_ids})
            AND c.erased_at IS NULL AND c.deleted_at IS NULL ORDER BY c.card_id ${locked}`,
    );
    for (const { id, ...lifetime } of rows) present.set(cardKey(id), lifetime);
  }
  const version_ids = idsOf(contents.filter(isVersion)).filter((id) => present.has(cardKey(id)));
  if (version_ids.length > 0) {
    const holders = [...new Set(version_ids.map((id) => present.get(cardKey(id))!.held_by ?? ''))];
    const rows = await query.all<{ card_id: string }>(
      sql`SELECT v.card_id FROM memory_versions v
          WHERE v.tenant_id = ${TENANT} AND v.held_by = ANY(${holders}) AND v.erased_at IS NULL
            AND v.card_id = ANY(${version_ids}) AND v.superseded_at IS NULL`,
    );
    const current = new Set(rows.map(({ card_id }) => card_id));
    for (const id of version_ids) if (!current.has(id)) present.delete(cardKey(id));
  }
  const packet_ids = from('packet');
  if (packet_ids.length > 0) {
    const rows = await query.all<{ content_id: string; expires_at: number | null }>(
      sql`SELECT p.packet_id AS content_id, p.expires_at FROM packet_store p
          WHERE p.tenant_id = ${TENANT} AND p.packet_id = ANY(${packet_ids}) AND p.erased_at IS NULL
          ORDER BY p.packet_id ${locked}`,
    );
    for (const { content_id, expires_at } of rows) {
      present.set(contentKey({ entity_type: 'packet', content_id }), { expires_at, held_by: null });
    }
  }
  for (const content_id of from('thought')) {
    const [checkpoint_id, id] = parseThoughtContentId(content_id);
    const row = await query.get<{ execution_id: string }>(
      sql`SELECT t.execution_id FROM thoughts t
          WHERE t.tenant_id = ${TENANT} AND t.checkpoint_id = ${checkpoint_id} AND t.id = ${id} AND t.removed > 0 ${locked}`,
    );
    const key = contentKey({ entity_type: 'thought', content_id });
    if (row) present.set(key, { expires_at: null, held_by: executionHolder(row.execution_id) });
  }
  return present;
}

const cardKey = (content_id: string): string => contentKey({ entity_type: 'card', content_id });

const isVersion = ({ entity_type }: ContentRef) => entity_type === 'artifact' || entity_type === 'note';

/** In the lock order of every change of an artifact or note: its first version, before the cards. */
async function lockVersions(query: Query, contents: readonly ContentRef[]): Promise<void> {
  const ids = contents.filter(isVersion).flatMap(({ entity_id }) => entity_id ?? []);
  if (ids.length === 0) return;
  await query.all(
    sql`SELECT v.memory_id FROM memory_versions v
        WHERE v.tenant_id = ${TENANT} AND v.memory_id = ANY(${ids}) AND v.version = 1 ORDER BY v.memory_id FOR UPDATE`,
  );
}
