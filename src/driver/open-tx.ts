/** One write's view of a shared transaction: its statements, savepoint, journal entries and wakes. */
import type { Channel } from './channel.js';
import type { JournalEntry, LateRows, Table, Tx } from './driver.js';
import type { BoundParam, Dialect, Sql } from './sql.js';

/** What the writes of one tenant leave to the end of their commit. */
export interface Ending {
  readonly entries: JournalEntry[];
  readonly late: LateRows[];
}

export const newEnding = (): Ending => ({ entries: [], late: [] });

export class OpenTx implements Tx {
  readonly tenant: string;
  readonly dialect: Dialect;
  readonly journalled: JournalEntry[];
  readonly #channel: Channel;
  readonly #late: LateRows[];
  readonly #own: JournalEntry[] = [];
  readonly #ownLate: LateRows[] = [];
  readonly #savepoints: boolean;
  /** The keys to wake if this write stays. */
  readonly keys = new Set<string>();
  #ended = false;
  inSavepoint = false;
  /** Whether there may be rows to undo. */
  changed = false;

  constructor(tenant: string, channel: Channel, { entries, late }: Ending, savepoints: boolean) {
    this.tenant = tenant;
    this.dialect = channel.dialect;
    this.#channel = channel;
    this.journalled = entries;
    this.#late = late;
    this.#savepoints = savepoints;
  }

  journal(entry: JournalEntry): void {
    this.#use(false);
    this.journalled.push(entry);
    this.#own.push(entry);
  }

  late(rows: LateRows): void {
    this.#use(false);
    this.#late.push(rows);
    this.#ownLate.push(rows);
  }

  wake(key: string): void {
    this.#use(false);
    this.keys.add(key);
  }

  /** Removes the journal entries, late rows and wakes of this write. */
  withdraw(): void {
    this.keys.clear();
    for (const entry of this.#own) this.journalled.splice(this.journalled.indexOf(entry), 1);
    for (const rows of this.#ownLate) this.#late.splice(this.#late.indexOf(rows), 1);
  }

  all<R>(query: Sql): Promise<R[]> {
    return this.#use(this.#channel.locksRows).all<R>(query, this.tenant);
  }

  async get<R>(query: Sql): Promise<R | undefined> {
    return (await this.all<R>(query))[0];
  }

  run(query: Sql): Promise<number> {
    return this.#change().run(query, this.tenant);
  }

  send(query: Sql): Promise<void> {
    return this.#change().send(query, this.tenant);
  }

  returning<R>(query: Sql): Promise<R[]> {
    return this.#change().all<R>(query, this.tenant);
  }

  async insert(table: Table, rows: readonly (readonly BoundParam[])[]): Promise<void> {
    if (rows.length > 0) await this.#change().insert(table, rows);
  }

  end(): void {
    this.#ended = true;
  }

  #change(): Channel {
    this.changed = true;
    return this.#use(true);
  }

  /** Sends statements in the order of the calls, awaited or not, with a savepoint before the first that needs it. */
  #use(undoable: boolean): Channel {
    if (this.#ended) throw new Error('a transaction was used after its end');
    if (undoable && this.#savepoints && !this.inSavepoint) {
      this.inSavepoint = true;
      this.#channel.savepoint();
    }
    return this.#channel;
  }
}
