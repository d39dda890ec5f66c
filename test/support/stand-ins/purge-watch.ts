/** A real driver, wrapped from outside, that counts what purges of the search index write, and lets others act between. */
import type { Driver, Sql, Tx, WriteOptions } from '#cairn/driver/index.js';
import { FaultyDriver } from './faulty-driver.js';

/** Rows of a statement: those of the longest list among its values. */
const rowsOf = ({ values }: Sql): number =>
  Math.max(1, ...values.map((value) => (Array.isArray(value) ? value.length : 1)));

export class PurgeWatch extends FaultyDriver {
  /** Blocks that were overwritten, each as often as it was. */
  blocks = 0;
  /** Segments that were read to be purged, or looks that found none. */
  looks = 0;
  /** The most hidden documents that one transaction forgot. */
  forgotten = 0;
  /** The write with this number, from now, fails before it begins; 0: none. */
  failing = 0;
  /** Runs before each look for a segment to purge. */
  beforeLook: () => Promise<unknown> = async () => undefined;
  readonly #real: Driver;

  constructor(driver: Driver) {
    super(driver, () => undefined);
    this.#real = driver;
  }

  override away = async <O>(tenant: string, module: URL, input: unknown): Promise<O> => {
    if (module.pathname.endsWith('/purge-job.js')) {
      this.looks++;
      await this.beforeLook();
    }
    return this.#real.away<O>(tenant, module, input);
  };

  override async write<T>(tenant: string, work: (tx: Tx) => Promise<T>, options?: WriteOptions): Promise<T> {
    if (this.failing > 0 && --this.failing === 0) throw new Error('the process was killed');
    return super.write(tenant, (tx) => work(this.#watched(tx)), options);
  }

  #watched(tx: Tx): Tx {
    let forgotten = 0;
    const note = (query: Sql): void => {
      const text = query.parts.join('?');
      if (/UPDATE search_blocks\b.*SET data = (?!zeroblob)/s.test(text)) this.blocks += rowsOf(query);
      if (!/DELETE FROM search_dead\b/.test(text)) return;
      forgotten += rowsOf(query);
      this.forgotten = Math.max(this.forgotten, forgotten);
    };
    return {
      tenant: tx.tenant,
      dialect: tx.dialect,
      all: <R>(query: Sql) => tx.all<R>(query),
      get: <R>(query: Sql) => tx.get<R>(query),
      run: (query) => {
        note(query);
        return tx.run(query);
      },
      send: (query) => {
        note(query);
        return tx.send(query);
      },
      returning: <R>(query: Sql) => tx.returning<R>(query),
      insert: (table, rows) => tx.insert(table, rows),
      get journalled() {
        return tx.journalled;
      },
      journal: (entry) => tx.journal(entry),
      late: (rows) => tx.late(rows),
      wake: (key) => tx.wake(key),
    };
  }
}
