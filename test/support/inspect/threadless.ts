/** A driver that reads on the calling thread alone: starting a thread takes longer than all that a doctor reads in a test. */
import { type AwayModule, type Driver, type Query, SqliteConnection } from '#cairn/driver/index.js';

export function threadless(driver: Driver): Driver {
  // PostgreSQL has no threads.
  if (driver.dialect === 'postgres') return driver;
  const rows: Driver['long'] = (tenant, query) => driver.at(tenant).all(query);
  const here: Partial<Driver> = {
    long: rows,
    examine: rows,
    away: async <O>(tenant: string, module: URL, input: unknown) => {
      const { run } = (await import(module.href)) as AwayModule;
      return driver.snapshot(tenant, async (query: Query) => (await run(query, input)) as O);
    },
    integrity: async () => {
      const connection = await SqliteConnection.open(driver.location);
      try {
        const found = connection.all<{ integrity_check: string }>('PRAGMA integrity_check');
        return found.map((row) => row.integrity_check).filter((line) => line !== 'ok');
      } finally {
        connection.close();
      }
    },
  };
  return new Proxy(driver, {
    get: (target, name: keyof Driver) => {
      const own = here[name] ?? target[name];
      return typeof own === 'function' ? (own as () => unknown).bind(target) : own;
    },
  });
}
