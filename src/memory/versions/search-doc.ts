/** The search document of an artifact or note, for writes and for reindexing. */
import type { MemoryCategory } from '../../index/contract.js';
import { type Doc, describe, type Measured, measure, PLAIN_DOC } from '../../index/sql.js';
import type { Json, JsonObject } from '../../kernel/contract.js';
import type { NewVersion } from './store.js';

/** A note is indexed under the first, by id, of the trajectories in which it was learned. */
export function memoryDoc(row: NewVersion, learned_in: readonly string[]): Doc {
  return {
    ...PLAIN_DOC,
    entity_type: row.kind,
    entity_id: row.memory_id,
    type: row.type,
    name: row.name,
    trajectory_id: row.trajectory_id ?? [...learned_in].sort()[0] ?? null,
    scope_id: row.scope_id,
    abstraction_level: row.abstraction_level,
    category: categoryOf(row),
    described: describe(JSON.parse(row.metadata ?? '{}') as JsonObject),
  };
}

function categoryOf({ kind, type, lifetime }: NewVersion): MemoryCategory {
  if (lifetime === 'Scope' || lifetime === 'Session') return 'working';
  if (kind === 'artifact') return 'episodic';
  return type === 'Procedure' ? 'procedural' : 'semantic';
}

/** Measures an artifact or note as it is stored. */
export const measureMemory = (
  index_key: string,
  memory: { readonly content: string; readonly name: string | null; readonly metadata: JsonObject },
): Measured => measure(index_key, { ...memory, content: JSON.parse(memory.content) as Json });
