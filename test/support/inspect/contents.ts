/** Every row that a tenant has, as one text: to see whether anything changed. */
import type { Store } from '#cairn/api/index.js';
import { Sql, sql } from '#cairn/driver/sql.js';
import { until } from '../server.js';

export async function contentsOf({ driver }: Store, tenant: string): Promise<string> {
  const query = driver.at(tenant);
  // What is erased after an earlier call is no change by the next one.
  await until('the erasures', async () => {
    const left = sql`SELECT 1 AS one FROM endings WHERE tenant_id = ${tenant} AND done_at IS NULL`;
    return (await query.all(left)).length === 0;
  });
  const tables = await query.all<{ name: string }>(
    driver.dialect === 'postgres'
      ? sql`SELECT table_name AS name FROM information_schema.columns
            WHERE column_name = 'tenant_id' AND table_schema = current_schema() ORDER BY 1`
      : sql`SELECT m.name FROM sqlite_master m JOIN pragma_table_info(m.name) c ON c.name = 'tenant_id'
            WHERE m.type = 'table' ORDER BY 1`,
  );
  const contents: string[] = [];
  for (const { name } of tables) {
    const rows = await query.all(new Sql([`SELECT * FROM ${name} WHERE tenant_id = `, ''], [tenant]));
    contents.push(name, ...rows.map((row) => JSON.stringify(row)).sort());
  }
  return contents.join('\n');
}
