/** One write's view of a shared transaction: its statements, savepoint, journal entries and wakes. */
import type { Channel } from './channel.js';
import type { JournalEntry, Table, Tx } from './driver.js';
import type { BoundParam, Sql } from './sql.js';

export class OpenTx implements Tx {
  readonly tenant: string;
  readonly journalled: JournalEntry[];
  readonly #channel: Channel;
  readonly #own: JournalEntry[] = [];
  readonly #savepoints: boolean;
  /** The keys to wake if this write stays. */
  readonly keys = new Set<string>();
  #ended = false;
  inSavepoint = false;
  /** Whether there may be rows to undo. */
  changed = false;

  constructor(tenant: string, channel: Channel, entries: JournalEntry[], savepoints: boolean) {
    this.tenant = tenant;
    this.#channel = channel;
    this.journalled = entries;
    this.#savepoints = savepoints;
  }

  journal(entry: JournalEntry): void {
    this.#use(false);
    this.journalled.push(entry);
    this.#own.push(entry);
  }

  wake(key: string): void {
    this.#use(false);
    this.keys.add(key);
  }

  /** Removes the journal entries and wakes of this write. */
  withdraw(): void {
    this.keys.clear();
    for (const entry of this.#own) this.journalled.splice(this.journalled.indexOf(entry), 1);
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
