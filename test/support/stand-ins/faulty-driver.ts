/** A real driver with faults, wrapped from outside: the nth statement of chosen writes fails, or the journal does. */
import type { Driver, Journal, Query, Sql, Tx, WakeListener, WriteOptions } from '#cairn/driver/index.js';

/** Where the next fault strikes. Statements of all writes that the fault is meant for are counted together. */
export interface Fault {
  /** Which statement fails, from 1; 0 for none. */
  at: number;
  /** Before the statement is run, or after it; or when all is committed, so that only the answer is lost. */
  when: 'before' | 'after' | 'committed';
  error: () => Error;
  /** Strikes again when the write is run again. */
  again: boolean;
  /** How many statements were run since the fault was set. */
  seen: number;
}

export const noFault = (): Fault => ({
  at: 0,
  when: 'before',
  error: () => new Error('injected'),
  again: false,
  seen: 0,
});

async function strike<T>(fault: Fault, statement: () => Promise<T>): Promise<T> {
  const hit = ++fault.seen === fault.at;
  if (hit && fault.again) fault.seen = 0;
  if (hit && fault.when === 'before') throw fault.error();
  const result = await statement();
  if (hit && fault.when === 'after') throw fault.error();
  return result;
}

function faultyTx(tx: Tx, fault: Fault): Tx {
  return {
    tenant: tx.tenant,
    dialect: tx.dialect,
    all: <R>(query: Sql) => strike(fault, () => tx.all<R>(query)),
    get: <R>(query: Sql) => strike(fault, () => tx.get<R>(query)),
    run: (query) => strike(fault, () => tx.run(query)),
    send: (query) => strike(fault, () => tx.send(query)),
    returning: <R>(query: Sql) => strike(fault, () => tx.returning<R>(query)),
    insert: (table, rows) => strike(fault, () => tx.insert(table, rows)),
    get journalled() {
      return tx.journalled;
    },
    journal: (entry) => tx.journal(entry),
    late: (rows) => tx.late(rows),
    wake: (key) => tx.wake(key),
  };
}

export class FaultyDriver implements Driver {
  readonly #driver: Driver;
  readonly #faultOf: (tenant: string) => Fault | undefined;

  /** `faultOf` is asked when a write comes, so that a test can choose which one is hit. */
  constructor(driver: Driver, faultOf: (tenant: string) => Fault | undefined) {
    this.#driver = driver;
    this.#faultOf = faultOf;
  }

  write<T>(tenant: string, work: (tx: Tx) => Promise<T>, options?: WriteOptions): Promise<T> {
    const fault = this.#faultOf(tenant);
    if (!fault) return this.#driver.write(tenant, work, options);
    const written = this.#driver.write(tenant, (tx) => work(faultyTx(tx, fault)), options);
    if (fault.when !== 'committed') return written;
    return written.then(() => {
      throw fault.error();
    });
  }

  get dialect() {
    return this.#driver.dialect;
  }
  get location() {
    return this.#driver.location;
  }
  now = () => this.#driver.now();
  at = (tenant: string): Query => this.#driver.at(tenant);
  snapshot = <T>(tenant: string, read: (query: Query) => Promise<T>) => this.#driver.snapshot(tenant, read);
  long = <R>(tenant: string, query: Sql) => this.#driver.long<R>(tenant, query);
  examine = <R>(tenant: string, query: Sql) => this.#driver.examine<R>(tenant, query);
  away = <O>(tenant: string, module: URL, input: unknown) => this.#driver.away<O>(tenant, module, input);
  system = <T>(work: (tx: Tx) => Promise<T>) => this.#driver.system(work);
  onCommit = (listener: (tenant: string | undefined) => void) => this.#driver.onCommit(listener);
  onWake = (listener: WakeListener) => this.#driver.onWake(listener);
  migrate = () => this.#driver.migrate();
  integrity = () => this.#driver.integrity();
  scrub = () => this.#driver.scrub();
  figures = () => this.#driver.figures();
  close = () => this.#driver.close();
}

/** A journal whose statements fail: the last ones before COMMIT, which no write sees. */
export function faultyJournal(journal: Journal, fault: Fault): Journal {
  return {
    append: (tx, entries, late) => journal.append(faultyTx(tx, fault), entries, late),
    landed: (tx, entries) => journal.landed(tx, entries),
  };
}

/** Lets somebody else commit between a look and the write that rests on it: once, at the moment that is set. */
export class InterleavingDriver extends FaultyDriver {
  /** Runs when the next write is about to begin. */
  beforeWrite: (() => Promise<unknown>) | undefined;
  /** Runs when a statement of a write with these words is about to be run. */
  beforeStatement: { readonly words: string; readonly run: () => Promise<unknown> } | undefined;

  constructor(driver: Driver) {
    super(driver, () => undefined);
  }

  override async write<T>(tenant: string, work: (tx: Tx) => Promise<T>, options?: WriteOptions): Promise<T> {
    const { beforeWrite } = this;
    this.beforeWrite = undefined;
    await beforeWrite?.();
    return super.write(tenant, (tx) => work(this.#watched(tx)), options);
  }

  #watched(tx: Tx): Tx {
    const reach = async ({ parts }: Pick<Sql, 'parts'>): Promise<void> => {
      const { beforeStatement } = this;
      if (!beforeStatement || !parts.join('?').includes(beforeStatement.words)) return;
      this.beforeStatement = undefined;
      await beforeStatement.run();
    };
    return {
      tenant: tx.tenant,
      dialect: tx.dialect,
      all: <R>(query: Sql) => reach(query).then(() => tx.all<R>(query)),
      get: <R>(query: Sql) => reach(query).then(() => tx.get<R>(query)),
      run: (query) => reach(query).then(() => tx.run(query)),
      send: (query) => reach(query).then(() => tx.send(query)),
      returning: <R>(query: Sql) => reach(query).then(() => tx.returning<R>(query)),
      insert: (table, rows) => reach({ parts: [`INSERT INTO ${table.name}`] }).then(() => tx.insert(table, rows)),
      get journalled() {
        return tx.journalled;
      },
      journal: (entry) => tx.journal(entry),
      late: (rows) => tx.late(rows),
      wake: (key) => tx.wake(key),
    };
  }
}

/** A driver whose clock stands at a moment, for what happens at exactly that one. */
export class StoppedClockDriver extends FaultyDriver {
  moment: number;

  constructor(driver: Driver) {
    super(driver, () => undefined);
    this.moment = driver.now();
  }

  override now = () => this.moment;
}
