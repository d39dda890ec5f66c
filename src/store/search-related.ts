/** What supports or contradicts what was found, as far as the caller may see it. */
import { snippetOf } from '../domain/snippets.js';
import type { Query } from '../driver/driver.js';
import { sql } from '../driver/sql.js';
import type { SearchedType } from '../model/search.js';
import type { Asked } from './search-candidates.js';
import { textsOf } from './search-contents.js';
import { type DocRow, docsOf } from './search-rows.js';

export interface RelatedEntity {
  readonly edge_type: string;
  readonly direction: 'to' | 'from';
  readonly entity_type: SearchedType;
  readonly id: string;
  readonly name: string | null;
  readonly snippet: string;
}

/** Of one thing that was found. */
const MAX_RELATED = 5;
const MAX_EDGES = 500;

interface Tie {
  readonly found: string;
  readonly place: number;
  readonly edge_type: string;
  readonly other: string;
}

const tiesOf = (query: Query, tenant: string, ids: readonly string[]): Promise<Tie[]> =>
  query.all<Tie>(
    sql`SELECT y.entity_id AS found, y.position AS place, y.edge_type, f.entity_id AS other
        FROM edge_participants y CROSS JOIN edge_participants f
        WHERE y.tenant_id = ${tenant} AND y.entity_id = ANY(${ids}) AND y.edge_type IN ('Supports', 'Contradicts')
          AND y.deleted_at IS NULL
          AND f.tenant_id = ${tenant} AND f.edge_id = y.edge_id AND f.position <> y.position
        ORDER BY y.entity_id, y.edge_id, f.position LIMIT ${MAX_EDGES}`,
  );

/** Of artifacts and notes, which card has the content now; others have their own id. */
async function contentsOf(query: Query, tenant: string, ids: readonly string[]): Promise<string[]> {
  const rows = await query.all<{ card_id: string }>(
    sql`SELECT card_id FROM memory_versions
        WHERE tenant_id = ${tenant} AND memory_id = ANY(${ids}) AND superseded_at IS NULL`,
  );
  return [...ids, ...rows.map(({ card_id }) => card_id)];
}

/** By the number of the document that each belongs to. */
export async function relatedTo(
  query: Query,
  { tenant, now, viewer }: Asked,
  found: readonly DocRow[],
): Promise<Map<number, RelatedEntity[]>> {
  const related = new Map<number, RelatedEntity[]>();
  const ids = found.map(({ entity_id }) => entity_id);
  const ties = ids.length === 0 ? [] : await tiesOf(query, tenant, ids);
  if (ties.length === 0) return related;
  const others = [...new Set(ties.map(({ other }) => other))];
  const docs = await docsOf(query, { tenant, now, viewer }, await contentsOf(query, tenant, others));
  const texts = await textsOf(query, tenant, docs);
  const byId = new Map(docs.map((doc) => [doc.entity_id, doc]));
  for (const { doc_no, entity_id } of found) {
    const mine = ties
      .filter((tie) => tie.found === entity_id)
      .flatMap((tie): RelatedEntity[] => {
        const doc = byId.get(tie.other);
        const text = doc && texts.get(doc.content_id);
        if (!doc || text === undefined) return [];
        const { entity_type, name } = doc;
        const direction = tie.place === 1 ? 'to' : 'from';
        const { snippet } = snippetOf(text, new Set());
        return [{ edge_type: tie.edge_type, direction, entity_type, id: doc.entity_id, name, snippet }];
      });
    if (mine.length > 0) related.set(doc_no, mine.slice(0, MAX_RELATED));
  }
  return related;
}
