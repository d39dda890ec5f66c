/** The search document of an artifact or note, for writes and for reindexing; its terms are measured before a write. */
import { type Call, indexKey } from '../../engine/index.js';
import type { MemoryCategory } from '../../index/contract.js';
import { type Doc, type Measured, measure, PLAIN_DOC } from '../../index/sql.js';
import type { Json, JsonObject } from '../../kernel/contract.js';
import { afterYield } from '../../kernel/index.js';
import { canonical } from '../../kernel/node.js';
import type { NewVersion, VersionRow } from './store.js';

/** A note is indexed under the first, by id, of the trajectories in which it was learned. */
export function memoryDoc(row: NewVersion, learned_in: readonly string[], measured: Measured): Doc {
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
    measured,
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

export interface SearchTerms {
  /** Identifies the state that was measured. */
  readonly state_key: string;
  readonly measured: Measured;
}

/** The state that the terms depend on. */
interface State {
  readonly content: string;
  readonly content_hash: string;
  readonly name: string | null;
  readonly metadata: JsonObject;
}

const stateKey = ({ content_hash, name, metadata }: State): string => {
  const { speaker = null, tags = null, occurred_at = null, caption = null } = metadata;
  return canonical([content_hash, name, speaker, tags, occurred_at, caption]);
};

const measureState = ({ meta, tenant }: Call, state: State): Measured => measureMemory(indexKey(meta, tenant), state);

export const measureTerms = async (call: Call, state: State): Promise<SearchTerms> => ({
  state_key: stateKey(state),
  measured: await afterYield(() => measureState(call, state)),
});

/** The terms measured ahead, or measured again if another change has come in between. */
export function termsFor(call: Call, row: VersionRow, ahead: SearchTerms | undefined): Measured {
  const { content_hash, name } = row;
  const state = { content: row.content!, content_hash, name, metadata: JSON.parse(row.metadata!) as JsonObject };
  return ahead?.state_key === stateKey(state) ? ahead.measured : measureState(call, state);
}
