/** Table tenant_settings: the members that a tenant has set, as one JSON object. */
import { type Query, type Sql, sql, TENANT, type Tx } from '../../driver/index.js';

export interface SettingsRow {
  /** Canonical JSON of the members that were set. */
  readonly settings: string;
  /** New with every change, and the same as on the head row: a cached copy with another one is out of date. */
  readonly revision: string;
  readonly updated_at: number;
}

const ROW: Sql = sql`SELECT settings, revision, updated_at FROM tenant_settings WHERE tenant_id = ${TENANT}`;

/** The stored settings as a column of another statement; null if there are none. */
export const SETTINGS_OF_TENANT: Sql = sql`(SELECT t.settings FROM tenant_settings t WHERE t.tenant_id = ${TENANT})`;

export const findSettings = (query: Query): Promise<SettingsRow | undefined> => query.get<SettingsRow>(ROW);

export const lockSettings = (tx: Tx): Promise<SettingsRow | undefined> => tx.get<SettingsRow>(sql`${ROW} FOR UPDATE`);

/** Of two first settings at the same time, one violates the primary key: it is run again and finds the row. */
export const insertSettings = (tx: Tx, { settings, revision, updated_at }: SettingsRow): Promise<void> =>
  tx.send(
    sql`INSERT INTO tenant_settings (tenant_id, settings, revision, updated_at)
        VALUES (${TENANT}, ${settings}, ${revision}, ${updated_at})`,
  );

export const replaceSettings = (tx: Tx, { settings, revision, updated_at }: SettingsRow): Promise<void> =>
  tx.send(
    sql`UPDATE tenant_settings SET settings = ${settings}, revision = ${revision}, updated_at = ${updated_at}
        WHERE tenant_id = ${TENANT}`,
  );
