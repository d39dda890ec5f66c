/** What other modules may use of driver. */
export * from './driver.js';
export * from './filters.js';
export { Lane } from './lane.js';
export { bootstrapTables, statementsOf } from './migrate.js';
export { openPostgres } from './open-postgres.js';
export { composed, type Schema, type SchemaPart } from './schema.js';
export {
  acrossTenants,
  type BoundParam,
  byDialect,
  type Dialect,
  join,
  type Sql,
  sql,
  TENANT,
  verbatim,
} from './sql.js';
export { openSqlite } from './sqlite/driver.js';
export { SqliteConnection } from './sqlite/open.js';
export { insertRows, tenantTable } from './tenant-table.js';
export { QUEUE_BYTES } from './write-queue.js';
