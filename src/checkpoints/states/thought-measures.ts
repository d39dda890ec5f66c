/** Measuring thoughts for the search: before the transaction that writes them, as far as they are known by then. */
import { type Call, indexKey } from '../../engine/index.js';
import type { Measured } from '../../index/sql.js';
import { inTurn } from '../../kernel/index.js';
import { measureThought, type ThoughtMeasures } from './thought-docs.js';

/** Those that come only in the transaction are measured there. */
export async function measureThoughts(call: Call, bodies: readonly string[]): Promise<ThoughtMeasures> {
  const index_key = indexKey(call.meta, call.tenant);
  const measures = new Map<string, Measured>();
  for (const body of bodies) measures.set(body, await inTurn(() => measureThought(index_key, body)));
  return { of: (body) => measures.get(body) ?? measureThought(index_key, body) };
}
