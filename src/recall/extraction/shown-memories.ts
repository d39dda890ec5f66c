/** Whether a memory was shown in contexts: by its cards, or by the turns that say it. */
import { type Query, sql, TENANT } from '../../driver/index.js';
import { linksOf } from '../../memory/index.js';
import { withCard } from '../manifests/store.js';

/** How many versions and turns of one memory are looked for. */
const FEW = 16;

/** The cards that have what a memory says: those of its versions, and the turns that it was learned from. */
async function cardsOf(query: Query, memory_id: string): Promise<string[]> {
  const versions = await query.all<{ card_id: string }>(
    sql`SELECT DISTINCT card_id FROM memory_versions WHERE tenant_id = ${TENANT} AND memory_id = ${memory_id}
        ORDER BY card_id DESC LIMIT ${FEW}`,
  );
  const links = await linksOf(query, [memory_id], ['DerivedFrom', 'Supports']);
  const turns = links.filter(({ entity_type }) => entity_type === 'Turn').slice(0, FEW);
  return [...versions.map(({ card_id }) => card_id), ...turns.map(({ entity_id }) => entity_id)];
}

/** Whether a context that was made in a trajectory by then had it. */
export async function wasShown(
  query: Query,
  memory_id: string,
  place: { readonly trajectory_id: string; readonly until: number },
): Promise<boolean> {
  for (const card_id of await cardsOf(query, memory_id)) {
    const row = await query.get(
      sql`SELECT m.manifest_id FROM manifests m
          WHERE m.tenant_id = ${TENANT} AND m.trajectory_id = ${place.trajectory_id}
            AND m.created_at <= ${place.until} AND ${withCard([card_id])} LIMIT 1`,
    );
    if (row) return true;
  }
  return false;
}
