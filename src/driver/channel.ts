/** The seam below group commit: one connection in one transaction. */
import type { Table } from './driver.js';
import type { BoundParam, Sql } from './sql.js';

export interface Channel {
  all<R>(query: Sql, tenant: string): Promise<R[]>;
  run(query: Sql, tenant: string): Promise<number>;
  send(query: Sql, tenant: string): Promise<void>;
  insert(table: Table, rows: readonly (readonly BoundParam[])[]): Promise<void>;
  /** Travels before whatever is asked next. */
  savepoint(): void;
  /** Ends when all that was sent since the savepoint is known to have worked. */
  release(): Promise<void>;
  rollbackTo(): Promise<void>;
  commit(): Promise<void>;
  rollback(): Promise<void>;
  /** Whether the transaction is gone or can only be rolled back. */
  lost(): boolean;
  /** Whether reads may wait for others' row locks, or abort the transaction, so that a savepoint is due before them. */
  readonly locksRows: boolean;
  /** From here on several writes share the transaction: waiting for a lock while holding others is kept short. */
  sharing(): void;
  /** The last statements come: only the head row is still to be waited for, whose holder waits for nothing. */
  ending(): void;
}
