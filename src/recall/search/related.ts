/** Entities that support or contradict results, as far as the caller may see them. */
import { type Query, sql, TENANT } from '../../driver/index.js';
import type { IndexedType } from '../../kernel/index.js';
import { beginningOf } from '../ranking/snippets.js';
import type { DocQuery } from './conditions.js';
import { contentKey, contentsOf, textsOf } from './contents.js';
import { supersededAmong } from './hidden-results.js';
import { type DocRow, docsOf } from './rows.js';

export interface RelatedEntity {
  readonly edge_type: string;
  readonly direction: 'to' | 'from';
  readonly entity_type: IndexedType;
  readonly id: string;
  readonly name: string | null;
  readonly snippet: string;
}

/** Maximum related entities of a result. */
export const MAX_RELATED = 5;
/** Edges read for a whole page; if there are more, each result is read alone with its own limit. */
const MAX_EDGES = 500;
const MAX_EDGES_OF_ONE = 100;

interface Edge {
  readonly found: string;
  readonly found_type: string;
  readonly position: number;
  readonly edge_type: string;
  readonly other: string;
  readonly other_type: string;
}

/** The types of an entity in edges; a turn is also a card. No edge leads to a thought. */
const EDGE_TYPES: Readonly<Record<IndexedType, readonly string[]>> = {
  turn: ['Turn', 'Card'],
  artifact: ['Artifact'],
  note: ['Note'],
  card: ['Card', 'Turn'],
  packet: ['Packet'],
  thought: [],
};

const isThis = ({ entity_type, entity_id }: DocRow, id: string, type: string): boolean =>
  entity_id === id && EDGE_TYPES[entity_type].includes(type);

const readEdges = (query: Query, ids: readonly string[], most: number): Promise<Edge[]> =>
  query.all<Edge>(
    sql`SELECT y.entity_id AS found, y.entity_type AS found_type, y.position, y.edge_type,
          f.entity_id AS other, f.entity_type AS other_type
        FROM edge_participants y CROSS JOIN edge_participants f
        WHERE y.tenant_id = ${TENANT} AND y.entity_id = ANY(${ids}) AND y.edge_type IN ('Supports', 'Contradicts')
          AND y.deleted_at IS NULL
          AND f.tenant_id = ${TENANT} AND f.edge_id = y.edge_id AND (y.position = 1) <> (f.position = 1)
        ORDER BY y.entity_id, y.edge_id, f.position LIMIT ${most}`,
  );

/** An entity with very many edges must not crowd out those of others. */
async function edgesOf(query: Query, ids: readonly string[]): Promise<Edge[]> {
  const edges = await readEdges(query, ids, MAX_EDGES);
  if (edges.length < MAX_EDGES || ids.length === 1) return edges;
  const each: Edge[] = [];
  for (const id of ids) each.push(...(await readEdges(query, [id], MAX_EDGES_OF_ONE)));
  return each;
}

/** By the number of the result. */
export async function relatedTo(
  query: Query,
  { tenant, now, viewer }: DocQuery,
  found: readonly DocRow[],
): Promise<Map<number, RelatedEntity[]>> {
  const related = new Map<number, RelatedEntity[]>();
  const ids = found.map(({ entity_id }) => entity_id);
  const edges = ids.length === 0 ? [] : await edgesOf(query, ids);
  if (edges.length === 0) return related;
  const others = [...new Set(edges.map(({ other }) => other))];
  const readable = await docsOf(query, { tenant, now, viewer }, await contentsOf(query, others));
  const superseded = await supersededAmong(query, { tenant, now }, readable);
  const docs = readable.filter(({ doc_no }) => !superseded.has(doc_no));
  const texts = await textsOf(query, docs);
  for (const one of found) {
    const seen = new Set<string>();
    // Several edges may be equal.
    const isNew = ({ edge_type, position, other, other_type }: Edge): boolean =>
      seen.size < seen.add([edge_type, position === 1, other_type, other].join(' ')).size;
    const mine = edges
      .filter((edge) => isThis(one, edge.found, edge.found_type) && isNew(edge))
      .flatMap(({ edge_type, position, ...edge }): RelatedEntity[] => {
        const doc = docs.find((other) => isThis(other, edge.other, edge.other_type));
        const text = doc && texts.get(contentKey(doc));
        if (!doc || text === undefined) return [];
        const { entity_type, entity_id: id, name } = doc;
        const direction = position === 1 ? 'to' : 'from';
        return [{ edge_type, direction, entity_type, id, name, snippet: beginningOf(text) }];
      });
    if (mine.length > 0) related.set(one.doc_no, mine.slice(0, MAX_RELATED));
  }
  return related;
}
