/** Rows that a commit writes after its head row is locked: they carry numbers in the order of the commits. */
import type { LateRows, Tx } from '../../driver/index.js';
import { SlotRegistry } from '../registry.js';

/** Default of `max_tail`. */
export const SEARCH_TAIL = 16_384;

/** How much late rows of one kind move the counters of the head row. */
export interface LateCounts {
  /** New search documents. */
  readonly documents: number;
  /** Changes of earlier documents that caches must notice. */
  readonly changes: number;
}

export interface LateWriter {
  readonly count: (rows: readonly LateRows[]) => LateCounts;
  readonly write: (tx: Tx, rows: readonly LateRows[], numbers: DocumentNumbers) => Promise<void>;
}

interface DocumentNumbers {
  /** Of the first new document. */
  readonly first: number;
  /** The newest document that the index has taken in. */
  readonly folded: number;
  /** Documents beyond it that the index may leave to searches. */
  readonly max_tail: number;
  readonly now: number;
}

export const lateWriters = new SlotRegistry<'documents', LateWriter>('late rows', ['documents']);
