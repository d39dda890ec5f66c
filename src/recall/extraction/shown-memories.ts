/** Whether a context showed a memory: one of its cards, or a turn that states it. */
import { type Query, sql, TENANT } from '../../driver/index.js';
import { linksOf } from '../../memory/index.js';
import { showedAnyCard } from '../manifests/store.js';

/** Versions, and turns, of one memory that are looked up. */
const MAX_CARDS = 16;

/** The cards of its versions, and the turns that it was learned from. */
async function cardsOf(query: Query, memory_id: string): Promise<string[]> {
  const versions = await query.all<{ card_id: string }>(
    sql`SELECT DISTINCT card_id FROM memory_versions WHERE tenant_id = ${TENANT} AND memory_id = ${memory_id}
        ORDER BY card_id DESC LIMIT ${MAX_CARDS}`,
  );
  const links = await linksOf(query, [memory_id], ['DerivedFrom', 'Supports']);
  const turns = links.filter(({ entity_type }) => entity_type === 'Turn').slice(0, MAX_CARDS);
  return [...versions.map(({ card_id }) => card_id), ...turns.map(({ entity_id }) => entity_id)];
}

/** Whether a context assembled in the trajectory by `until` has it. */
export async function wasShown(
  query: Query,
  memory_id: string,
  trajectory_id: string,
  until: number,
): Promise<boolean> {
  for (const card_id of await cardsOf(query, memory_id)) {
    const row = await query.get(
      sql`SELECT m.manifest_id FROM manifests m
          WHERE m.tenant_id = ${TENANT} AND m.trajectory_id = ${trajectory_id}
            AND m.created_at <= ${until} AND ${showedAnyCard([card_id])} LIMIT 1`,
    );
    if (row) return true;
  }
  return false;
}
