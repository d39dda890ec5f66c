/** The seam below group commit: one connection in one transaction. */
import type { Table } from './driver.js';
import type { BoundParam, Dialect, Sql } from './sql.js';

export interface Channel {
  readonly dialect: Dialect;
  all<R>(query: Sql, tenant: string): Promise<R[]>;
  run(query: Sql, tenant: string): Promise<number>;
  send(query: Sql, tenant: string): Promise<void>;
  insert(table: Table, rows: readonly (readonly BoundParam[])[]): Promise<void>;
  /** Sent before the next statement. */
  savepoint(): void;
  /** Resolves when all statements since the savepoint have succeeded. */
  release(): Promise<void>;
  rollbackTo(): Promise<void>;
  commit(): Promise<void>;
  rollback(): Promise<void>;
  /** Whether the transaction is gone, or can only be rolled back. */
  lost(): boolean;
  /** Whether reads may wait for row locks or abort the transaction, and so need a savepoint before them. */
  readonly locksRows: boolean;
  /** Several writes share the transaction from here on: lock waits become short. */
  sharing(): void;
  /** Before the last statements: only the head row remains to be locked, whose holder waits for nothing. */
  ending(): void;
}
