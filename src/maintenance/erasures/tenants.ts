/**
 * Deleting a tenant: forgetting all of it. Every row goes but its receipts. On SQLite contents are overwritten first: a
 * DELETE moves neighbours within the file, and would leave copies of their content behind.
 */
import { acrossTenants, type Driver, join, type Query, type Sql, sql, TENANT, verbatim } from '../../driver/index.js';
import { type Call, inBatches, listTenants, waitForErasure } from '../../engine/index.js';
import { addEndings } from '../../engine/sql.js';
import { keyedHash } from '../../facts/sql.js';
import { newId } from '../../kernel/contract.js';
import { CairnError } from '../../kernel/index.js';
import { sha256 } from '../../kernel/node.js';
import { erasureHolder, insertErasure, noteErased } from './store.js';

/** What remains of a deleted tenant: its receipts, the progress of its deletion, and its head row. */
const KEPT = new Set(['erasures', 'erasure_items', 'erasure_marks', 'endings', 'tenants']);

interface Column {
  readonly table_name: string;
  readonly name: string;
  readonly type: string;
  readonly is_required: number;
  readonly is_primary: number;
  /** 1 if it is in the primary key or another unique index: it is not overwritten. */
  readonly is_unique: number;
}

/** The columns of all tables with tenants. */
async function columnsOf(query: Query, dialect: Driver['dialect']): Promise<Map<string, Column[]>> {
  const rows = await query.all<Column>(
    dialect === 'sqlite'
      ? acrossTenants`SELECT m.name AS table_name, c.name, c.type, c."notnull" AS is_required,
            CASE WHEN c.pk > 0 THEN 1 ELSE 0 END AS is_primary, CASE WHEN c.pk > 0 OR EXISTS (SELECT 1 FROM pragma_index_list(m.name) l JOIN pragma_index_info(l.name) i
              WHERE l."unique" = 1 AND i.name = c.name) THEN 1 ELSE 0 END AS is_unique
          FROM sqlite_master m JOIN pragma_table_info(m.name) c WHERE m.type = 'table' ORDER BY m.name, c.cid`
      : acrossTenants`SELECT c.relname AS table_name, a.attname AS name, 'KEY' AS type, 1 AS is_required, 1 AS is_primary, 1 AS is_unique
          FROM pg_index i JOIN pg_class c ON c.oid = i.indrelid JOIN pg_namespace n ON n.oid = c.relnamespace
            JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum = ANY(i.indkey)
          WHERE i.indisprimary AND n.nspname = current_schema() ORDER BY c.relname, a.attnum`,
  );
  const tables = new Map<string, Column[]>();
  for (const row of rows) tables.set(row.table_name, [...(tables.get(row.table_name) ?? []), row]);
  for (const [name, columns] of tables)
    if (KEPT.has(name) || !columns.some((column) => column.name === 'tenant_id')) tables.delete(name);
  return tables;
}

/** Overwrites what is no key. */
function overwriting(columns: readonly Column[]): Sql | undefined {
  const emptied = columns
    .filter(({ is_unique, type }) => is_unique === 0 && type !== 'INTEGER' && type !== 'REAL')
    .map(({ name, type, is_required }) => {
      const column = verbatim(`"${name}"`);
      if (is_required === 0) return sql`${column} = NULL`;
      return type === 'BLOB' ? sql`${column} = zeroblob(length(${column}))` : sql`${column} = ''`;
    });
  return emptied.length === 0 ? undefined : join(emptied, ', ');
}

/** Deletes all rows of a table, in batches. False if the store is closing. */
async function empty(call: Call, table: string, columns: readonly Column[]): Promise<boolean> {
  const { driver, tenant } = call;
  const name = verbatim(`"${table}"`);
  const primary = columns.filter(({ is_primary }) => is_primary === 1);
  const key = join(
    primary.map((column) => verbatim(`"${column.name}"`)),
    ', ',
  );
  const emptied = driver.dialect === 'sqlite' ? overwriting(columns) : undefined;
  return inBatches(call, (limit) =>
    driver.write(tenant, async (tx) => {
      const some = sql`(${key}) IN (SELECT ${key} FROM ${name} WHERE tenant_id = ${TENANT} ORDER BY ${key} LIMIT ${limit})`;
      if (emptied) await tx.run(sql`UPDATE ${name} SET ${emptied} WHERE tenant_id = ${TENANT} AND ${some}`);
      return tx.run(sql`DELETE FROM ${name} WHERE tenant_id = ${TENANT} AND ${some}`);
    }),
  );
}

/** Erases all rows of the tenant of the call; false if the store is closing. */
export async function eraseTenant(call: Call, erasure_id: string): Promise<boolean> {
  const { driver, tenant } = call;
  const tables = await columnsOf(driver.at(tenant), driver.dialect);
  // Keys first: who has one can no longer write.
  const names = [...tables.keys()].sort((a, b) => Number(b === 'api_keys') - Number(a === 'api_keys'));
  for (const name of names) if (!(await empty(call, name, tables.get(name)!))) return false;
  await driver.write(tenant, async (tx) => {
    await tx.run(
      sql`DELETE FROM endings WHERE tenant_id = ${TENANT} AND holder <> ${erasureHolder(erasure_id)}
            AND holder NOT IN (SELECT ${erasureHolder('')} || erasure_id FROM erasures WHERE tenant_id = ${TENANT})`,
    );
    await tx.run(
      sql`UPDATE tenants SET seq = 0, settings_revision = NULL, doc_no = 0, doc_changes = doc_changes + 1,
            folded_doc = 0, index_revision = index_revision + 1 WHERE tenant_id = ${TENANT}`,
    );
    await noteErased(tx, erasure_id, driver.now());
  });
  return true;
}

export interface TenantSummary {
  readonly tenant_id: string;
  /** Packets in its stream. */
  readonly packets: number;
}

/** All tenants of a store, without those that were deleted and not used since. */
export async function tenantsOf(driver: Driver): Promise<TenantSummary[]> {
  const deleted = await driver
    .at('')
    .all<{ tenant_id: string }>(acrossTenants`SELECT t.tenant_id FROM tenants t WHERE t.seq = 0 AND t.doc_changes > 0`);
  const gone = new Set(deleted.map(({ tenant_id }) => tenant_id));
  const tenants = await listTenants(driver.at(''));
  return tenants
    .filter(({ tenant_id }) => !gone.has(tenant_id))
    .map(({ tenant_id, seq }) => ({ tenant_id, packets: seq }));
}

/** Forgets the tenant of the call; returns the id of the receipt. */
export async function deleteTenant(call: Call): Promise<string> {
  const { driver, tenant, meta } = call;
  if (!(await tenantsOf(driver)).some(({ tenant_id }) => tenant_id === tenant))
    throw new CairnError('UNKNOWN_ENTITY', `there is no tenant ${tenant}: \`cairn tenants list\` lists all`);
  const erasure_id = newId();
  await driver.write(tenant, async (tx) => {
    const now = driver.now();
    await insertErasure(tx, {
      erasure_id,
      selected_by: 'tenant',
      request_hash: keyedHash(meta.erasure_key, sha256(tenant)),
      selection: null,
      shared: 1,
      copies: 0,
      agent_id: null,
      key_id: null,
      created_at: now,
    });
    await addEndings(tx, [{ holder: erasureHolder(erasure_id), ended_at: now, thread_id: null, box_id: null }]);
  });
  await waitForErasure(call, [erasureHolder(erasure_id)]);
  return erasure_id;
}
