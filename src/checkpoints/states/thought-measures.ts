/** Measures thoughts for the search index before the transaction that writes them. */
import { type Call, indexKey } from '../../engine/index.js';
import type { Measured } from '../../index/sql.js';
import { afterYield } from '../../kernel/index.js';
import { measureThought, type ThoughtMeasures } from './thought-docs.js';

/** Thoughts that only the transaction finds are measured there. */
export async function measureThoughts(call: Call, bodies: readonly string[]): Promise<ThoughtMeasures> {
  const index_key = indexKey(call.meta, call.tenant);
  const measures = new Map<string, Measured>();
  for (const body of bodies) measures.set(body, await afterYield(() => measureThought(index_key, body)));
  return (body) => measures.get(body) ?? measureThought(index_key, body);
}
