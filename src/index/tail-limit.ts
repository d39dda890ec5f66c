/**
 * The limit of the tail: a writer that finds it full folds some of it in its own commit. That outdates a fold which is
 * being made in the background, so writers leave half of the limit to whoever holds the lease of upkeep.
 */
import type { Tx } from '../driver/index.js';
import { findLease, SlotRegistry } from '../engine/sql.js';
import { makeFold, storeFold } from './segments/folding.js';
import type { MeasureDocs } from './tail.js';

/** Documents that a writer folds at least: a segment of fewer is not worth its blocks. */
const FOLDED_BY_WRITER = 512;

/** How contents are measured: recall knows all kinds of them. */
export const contentMeasures = new SlotRegistry<'contents', MeasureDocs>('measures of contents', ['contents']);

/** The lease of the process that keeps the index of a tenant in shape. */
export const UPKEEP_LEASE = ['index', 'documents'] as const;

interface TailLimit {
  readonly max_tail: number;
  readonly now: number;
}

/** Called at the end of each commit that adds documents. */
export async function foldOverflow(tx: Tx, tail: number, { max_tail, now }: TailLimit): Promise<void> {
  const half = Math.trunc(max_tail / 2);
  if (tail <= half) return;
  const isFolding = ((await findLease(tx, ...UPKEEP_LEASE))?.expires_at ?? 0) > now;
  if (isFolding && tail <= max_tail) return;
  // If upkeep does not keep up, it gets a part of the excess: the next writers shall not outdate its next fold, too.
  const excess = isFolding ? Math.trunc((tail - half) / 2) : tail - half;
  const fold = await makeFold(tx, contentMeasures.get('contents'), Math.max(FOLDED_BY_WRITER, excess));
  if (fold) await storeFold(tx, fold);
}
