/** Where the documents of a trajectory are in the index, notes that were learned in it included. */
import { type Query, type Sql, sql, TENANT } from '../../driver/index.js';
import type { Range } from '../../index/sql.js';

/** Where the documents of a trajectory are, up to one; undefined where it has none. */
export async function rangeOf(query: Query, trajectory_id: string, to: number): Promise<Range | undefined> {
  const end = (order: Sql) =>
    query.get<{ doc_no: number }>(
      sql`SELECT doc_no FROM search_docs
          WHERE tenant_id = ${TENANT} AND trajectory_id = ${trajectory_id} AND doc_no <= ${to}
          ORDER BY doc_no ${order} LIMIT 1`,
    );
  const first = await end(sql`ASC`);
  const last = first && (await end(sql`DESC`));
  const ends = [first, last].flatMap((one) => (one ? [Number(one.doc_no)] : []));
  for (const doc_no of await notesLearnedIn(query, trajectory_id)) if (doc_no <= to) ends.push(doc_no);
  return ends.length === 0 ? undefined : { from: Math.min(...ends), to: Math.max(...ends) };
}

/** Of a trajectory; where more were learned in it, the newest are searched. */
const MAX_LEARNED = 2000;

/** The documents of notes, which are in no trajectory but were learned in this one. */
export async function notesLearnedIn(query: Query, trajectory_id: string): Promise<number[]> {
  const rows = await query.all<{ doc_no: number }>(
    sql`SELECT d.doc_no FROM edge_participants source CROSS JOIN edge_participants learned
          CROSS JOIN memory_versions v CROSS JOIN search_docs d
        WHERE source.tenant_id = ${TENANT} AND source.entity_id = ${trajectory_id} AND source.edge_type = 'DerivedFrom'
          AND source.position > 1 AND source.deleted_at IS NULL
          AND learned.tenant_id = ${TENANT} AND learned.edge_id = source.edge_id AND learned.position = 1
          AND v.tenant_id = ${TENANT} AND v.memory_id = learned.entity_id AND v.superseded_at IS NULL
          AND d.tenant_id = ${TENANT} AND d.content_id = v.card_id AND d.entity_type = 'note'
        ORDER BY source.edge_id DESC LIMIT ${MAX_LEARNED}`,
  );
  return rows.map(({ doc_no }) => Number(doc_no));
}
