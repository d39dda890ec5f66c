/** Statements that follow edges: one step of a traversal, and the cycle check. */
import { byDialect, type Query, type Sql, sql, TENANT, type Tx } from '../../driver/index.js';
import { type EntityRef, entityKey } from '../entities/store.js';
import { ENDS_BY_ENTITY, PARTICIPANTS_OF_EDGE, participantsAmong } from '../lookups.js';
import { selectIds } from '../rows.js';
import type { EdgeType } from './model.js';

/** Locks an edge type, so that a cycle check and the insert that it allows are atomic. */
export async function lockGuard(tx: Tx, edge_type: EdgeType): Promise<void> {
  const lock = () =>
    tx.get(sql`SELECT edge_type FROM edge_guards WHERE tenant_id = ${TENANT} AND edge_type = ${edge_type} FOR UPDATE`);
  // The row is missing only the first time, and a refusal that has changed nothing costs less.
  if (await lock()) return;
  await tx.run(
    sql`INSERT INTO edge_guards (tenant_id, edge_type) VALUES (${TENANT}, ${edge_type})
        ON CONFLICT (tenant_id, edge_type) DO NOTHING`,
  );
  await lock();
}

/** `entityKey` in SQL. */
const KIND_OF_P: Sql = sql`CASE WHEN p.entity_type = 'Turn' THEN 'Card' ELSE p.entity_type END`;
const KIND_OF_O: Sql = sql`CASE WHEN o.entity_type = 'Turn' THEN 'Card' ELSE o.entity_type END`;
const KEY_OF_P: Sql = sql`(${KIND_OF_P} || ' ' || p.entity_id)`;
const KEY_OF_O: Sql = sql`(${KIND_OF_O} || ' ' || o.entity_id)`;

/**
 * Participants p behind the first that are in `reached r`, with the first participant o of their edge. PostgreSQL
 * misestimates the size of a recursion: OFFSET 0 makes each lookup a subquery that uses the index.
 */
const firstEnds = (edge_type: EdgeType): Sql =>
  byDialect({
    sqlite: sql`${ENDS_BY_ENTITY} CROSS JOIN edge_participants o`,
    postgres: sql`LATERAL (SELECT * FROM edge_participants l WHERE l.tenant_id = ${TENANT} AND l.entity_id = r.entity_id
          AND l.edge_type = ${edge_type} AND l.position > 1 OFFSET 0) p
      CROSS JOIN LATERAL (SELECT * FROM edge_participants l WHERE l.tenant_id = ${TENANT} AND l.edge_id = p.edge_id
          AND l.position = 1 OFFSET 0) o`,
  });

/** All entities that lead to one by edges of a type, as a table `reached` of key and id. */
const leadingTo = (edge_type: EdgeType, to: EntityRef): Sql =>
  sql`WITH RECURSIVE reached(entity_key, entity_id) AS (
        SELECT ${KEY_OF_O}, o.entity_id FROM ${ENDS_BY_ENTITY} CROSS JOIN ${PARTICIPANTS_OF_EDGE}
          WHERE p.tenant_id = ${TENANT} AND p.entity_id = ${to.entity_id} AND p.edge_type = ${edge_type}
            AND p.position > 1 AND p.deleted_at IS NULL AND ${KEY_OF_P} = ${entityKey(to)}
            AND o.tenant_id = ${TENANT} AND o.edge_id = p.edge_id AND o.position = 1
        UNION
        SELECT ${KEY_OF_O}, o.entity_id FROM reached r CROSS JOIN ${firstEnds(edge_type)}
          WHERE p.tenant_id = ${TENANT} AND p.entity_id = r.entity_id AND p.edge_type = ${edge_type}
            AND p.position > 1 AND p.deleted_at IS NULL AND ${KEY_OF_P} = r.entity_key
            AND o.tenant_id = ${TENANT} AND o.edge_id = p.edge_id AND o.position = 1
      )`;

/**
 * An existing edge through which one of the other participants already leads to the first, so that the new edge would
 * close a cycle. Searches from the first: it is usually new, and nothing leads to it yet.
 */
export async function edgeThatCloses(
  tx: Query,
  edge_type: EdgeType,
  [first, ...others]: readonly EntityRef[],
): Promise<string | undefined> {
  const all = leadingTo(edge_type, first!);
  const keys = new Map(others.map((one) => [entityKey(one), one]));
  const found = await tx.get<{ entity_key: string }>(
    sql`${all} SELECT r.entity_key FROM reached r WHERE r.entity_key = ANY(${[...keys.keys()]}) LIMIT 1`,
  );
  if (!found) return undefined;
  const from = keys.get(found.entity_key)!;
  const edge = await tx.get<{ edge_id: string }>(
    sql`${all} SELECT p.edge_id FROM ${ENDS_BY_ENTITY} CROSS JOIN ${PARTICIPANTS_OF_EDGE}
        WHERE p.tenant_id = ${TENANT} AND p.entity_id = ${from.entity_id} AND p.edge_type = ${edge_type}
          AND p.position = 1 AND p.deleted_at IS NULL AND ${KEY_OF_P} = ${found.entity_key}
          AND o.tenant_id = ${TENANT} AND o.edge_id = p.edge_id AND o.position > 1
          AND (${KEY_OF_O} = ${entityKey(first!)} OR ${KEY_OF_O} IN (SELECT r.entity_key FROM reached r))
        ORDER BY p.edge_id LIMIT 1`,
  );
  return edge!.edge_id;
}

export interface Step {
  readonly from: readonly EntityRef[];
  readonly direction: keyof typeof DIRECTIONS;
  readonly edge_type: EdgeType | undefined;
}

/** From A to the others, or towards A; the others do not lead to each other. */
const DIRECTIONS = {
  out: sql`p.position = 1 AND o.position > 1`,
  in: sql`p.position > 1 AND o.position = 1`,
  both: sql`p.position <> o.position AND (p.position = 1 OR o.position = 1)`,
};

const steps = ({ from, direction, edge_type }: Step): Sql => {
  const ids = from.map(({ entity_id }) => entity_id);
  const ofType = edge_type === undefined ? sql`` : sql` AND l.edge_type = ${edge_type}`;
  return sql`${participantsAmong(ids, ofType)} CROSS JOIN ${PARTICIPANTS_OF_EDGE}
      WHERE p.tenant_id = ${TENANT} AND p.entity_id = ANY(${ids})
        AND ${KEY_OF_P} = ANY(${from.map(entityKey)}) AND p.deleted_at IS NULL
        AND o.tenant_id = ${TENANT} AND o.edge_id = p.edge_id AND ${DIRECTIONS[direction]}
        ${edge_type === undefined ? sql`` : sql`AND p.edge_type = ${edge_type}`}`;
};

/** Entities that a step leads to and that were not seen before, in the order of the first edges that lead there. */
export const nextEntities = (query: Query, step: Step, seen: readonly string[], limit: number): Promise<EntityRef[]> =>
  query.all<EntityRef>(
    sql`SELECT MIN(o.entity_type) AS entity_type, o.entity_id FROM ${steps(step)}
          AND NOT (${KEY_OF_O} = ANY(${seen}))
        GROUP BY ${KIND_OF_O}, o.entity_id ORDER BY MIN(p.edge_id), o.entity_id, MIN(o.entity_type) LIMIT ${limit}`,
  );

/** Ids of the edges by which a step leads to these entities, in order. */
export const edgesBetween = (
  query: Query,
  step: Step,
  to: readonly EntityRef[],
  { limit, after = '' }: { readonly limit: number; readonly after?: string | undefined },
): Promise<string[]> =>
  selectIds(
    query,
    sql`SELECT DISTINCT p.edge_id AS id FROM ${steps(step)} AND ${KEY_OF_O} = ANY(${to.map(entityKey)})
          AND p.edge_id > ${after} ORDER BY p.edge_id LIMIT ${limit}`,
  );
