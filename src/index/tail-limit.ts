/** The limit of the tail: a writer that finds it full folds some of it in its own commit. */
import type { Tx } from '../driver/index.js';
import { SlotRegistry } from '../engine/sql.js';
import { makeFold, storeFold } from './segments/folding.js';
import type { MeasureDocs } from './tail.js';

/** Documents that a writer folds at least: a segment of fewer is not worth its blocks. */
const FOLDED_BY_WRITER = 512;

/** How contents are measured: recall knows all kinds of them. */
export const contentMeasures = new SlotRegistry<'contents', MeasureDocs>('measures of contents', ['contents']);

export async function foldOverflow(tx: Tx, tail: number, limit: number): Promise<void> {
  if (tail <= limit) return;
  const fold = await makeFold(tx, contentMeasures.get('contents'), Math.max(FOLDED_BY_WRITER, tail - limit));
  if (fold) await storeFold(tx, fold);
}
