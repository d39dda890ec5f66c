/** Opens PostgreSQL. Its client is loaded on demand: a store on SQLite starts faster without it. */
import type { Driver } from './driver.js';
import type { PostgresOptions } from './postgres/driver.js';

export const openPostgres = async (url: string, options: PostgresOptions): Promise<Driver> =>
  (await import('./postgres/driver.js')).openPostgres(url, options);
