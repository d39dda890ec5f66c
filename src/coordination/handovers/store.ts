/** handovers: packing recipes by name. */
import { type KeysetPage, keyset, type Query, type Sql, sql, TENANT, type Tx } from '../../driver/index.js';

export interface HandoverRow {
  readonly name: string;
  /** The agent that stored it; null for a key without an agent. */
  readonly agent_id: string | null;
  /** JSON. */
  readonly recipe: string;
  readonly created_at: number;
  readonly updated_at: number;
}

const COLUMNS: Sql = sql`name, agent_id, recipe, created_at, updated_at`;

export const findHandover = (query: Query, name: string): Promise<HandoverRow | undefined> =>
  query.get(sql`SELECT ${COLUMNS} FROM handovers WHERE tenant_id = ${TENANT} AND name = ${name}`);

/** Reads behind the lock: a row deleted and saved again by the former holder of the lock is new to the statement. */
export async function lockHandover(tx: Tx, name: string): Promise<HandoverRow | undefined> {
  await tx.get(sql`SELECT name FROM handovers WHERE tenant_id = ${TENANT} AND name = ${name} FOR UPDATE`);
  return findHandover(tx, name);
}

/** Several recipes, locked in the order of their names if `locks`. */
export const handoversNamed = (query: Query, names: readonly string[], locks: boolean): Promise<HandoverRow[]> =>
  query.all(
    sql`SELECT ${COLUMNS} FROM handovers WHERE tenant_id = ${TENANT} AND name = ANY(${names})
        ORDER BY name${locks ? sql` FOR UPDATE` : sql``}`,
  );

/** Of two at the same time, one violates the primary key: it is run again and finds the row. */
export const insertHandover = (tx: Tx, row: HandoverRow): Promise<void> =>
  tx.send(
    sql`INSERT INTO handovers (tenant_id, name, agent_id, recipe, created_at, updated_at)
        VALUES (${TENANT}, ${row.name}, ${row.agent_id}, ${row.recipe}, ${row.created_at}, ${row.updated_at})`,
  );

export const replaceHandover = (
  tx: Tx,
  { name, recipe, updated_at }: Pick<HandoverRow, 'name' | 'recipe' | 'updated_at'>,
): Promise<void> =>
  tx.send(
    sql`UPDATE handovers SET recipe = ${recipe}, updated_at = ${updated_at}
        WHERE tenant_id = ${TENANT} AND name = ${name}`,
  );

export const deleteHandover = (tx: Tx, name: string): Promise<void> =>
  tx.send(sql`DELETE FROM handovers WHERE tenant_id = ${TENANT} AND name = ${name}`);

export const listHandovers = (query: Query, page: KeysetPage): Promise<HandoverRow[]> =>
  query.all(sql`SELECT ${COLUMNS} FROM handovers WHERE tenant_id = ${TENANT}${keyset(sql`name`, page)}`);

export const countHandovers = (): Sql => sql`SELECT COUNT(*) AS total FROM handovers WHERE tenant_id = ${TENANT}`;
