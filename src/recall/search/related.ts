/** What supports or contradicts what was found, as far as the caller may see it. */
import { type Query, sql, TENANT } from '../../driver/index.js';
import type { IndexedType } from '../../kernel/index.js';
import { beginningOf } from '../ranking/snippets.js';
import type { Asked } from './conditions.js';
import { contentKey, textsOf } from './contents.js';
import { type DocRow, docsOf } from './rows.js';
import { supersededAmong } from './superseded.js';

export interface RelatedEntity {
  readonly edge_type: string;
  readonly direction: 'to' | 'from';
  readonly entity_type: IndexedType;
  readonly id: string;
  readonly name: string | null;
  readonly snippet: string;
}

/** Of one thing that was found. */
export const MAX_RELATED = 5;
/** Of all on a page together; where that is not enough, so many of each. */
const MAX_EDGES = 500;
const MAX_EDGES_OF_ONE = 100;

interface Tie {
  readonly found: string;
  readonly found_type: string;
  readonly place: number;
  readonly edge_type: string;
  readonly other: string;
  readonly other_type: string;
}

/** What edges call each; a turn and its card are one. No edge leads to a thought. */
const inEdges: Readonly<Record<IndexedType, readonly string[]>> = {
  turn: ['Turn', 'Card'],
  artifact: ['Artifact'],
  note: ['Note'],
  card: ['Card', 'Turn'],
  packet: ['Packet'],
  thought: [],
};

const isThis = ({ entity_type, entity_id }: DocRow, id: string, type: string): boolean =>
  entity_id === id && inEdges[entity_type].includes(type);

const readTies = (query: Query, ids: readonly string[], most: number): Promise<Tie[]> =>
  query.all<Tie>(
    sql`SELECT y.entity_id AS found, y.entity_type AS found_type, y.position AS place, y.edge_type,
          f.entity_id AS other, f.entity_type AS other_type
        FROM edge_participants y CROSS JOIN edge_participants f
        WHERE y.tenant_id = ${TENANT} AND y.entity_id = ANY(${ids}) AND y.edge_type IN ('Supports', 'Contradicts')
          AND y.deleted_at IS NULL
          AND f.tenant_id = ${TENANT} AND f.edge_id = y.edge_id AND (y.position = 1) <> (f.position = 1)
        ORDER BY y.entity_id, y.edge_id, f.position LIMIT ${most}`,
  );

/** One that has very many leaves the others theirs: then each is asked for alone. */
async function tiesOf(query: Query, ids: readonly string[]): Promise<Tie[]> {
  const ties = await readTies(query, ids, MAX_EDGES);
  if (ties.length < MAX_EDGES || ids.length === 1) return ties;
  const each: Tie[] = [];
  for (const id of ids) each.push(...(await readTies(query, [id], MAX_EDGES_OF_ONE)));
  return each;
}

/** Of artifacts and notes, which card has the content now; others have their own id. */
async function contentsOf(query: Query, ids: readonly string[]): Promise<string[]> {
  const rows = await query.all<{ card_id: string }>(
    sql`SELECT card_id FROM memory_versions
        WHERE tenant_id = ${TENANT} AND memory_id = ANY(${ids}) AND superseded_at IS NULL`,
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
  const ties = ids.length === 0 ? [] : await tiesOf(query, ids);
  if (ties.length === 0) return related;
  const others = [...new Set(ties.map(({ other }) => other))];
  const readable = await docsOf(query, { tenant, now, viewer }, await contentsOf(query, others));
  const superseded = await supersededAmong(query, { tenant, now }, readable);
  const docs = readable.filter(({ doc_no }) => !superseded.has(doc_no));
  const texts = await textsOf(query, docs);
  for (const one of found) {
    const told = new Set<string>();
    // The same may be said by several edges.
    const isNew = ({ edge_type, place, other, other_type }: Tie): boolean =>
      told.size < told.add([edge_type, place === 1, other_type, other].join(' ')).size;
    const mine = ties
      .filter((tie) => isThis(one, tie.found, tie.found_type) && isNew(tie))
      .flatMap((tie): RelatedEntity[] => {
        const doc = docs.find((other) => isThis(other, tie.other, tie.other_type));
        const text = doc && texts.get(contentKey(doc));
        if (!doc || text === undefined) return [];
        const { entity_type, name } = doc;
        const direction = tie.place === 1 ? 'to' : 'from';
        const snippet = beginningOf(text);
        return [{ edge_type: tie.edge_type, direction, entity_type, id: doc.entity_id, name, snippet }];
      });
    if (mine.length > 0) related.set(one.doc_no, mine.slice(0, MAX_RELATED));
  }
  return related;
}
