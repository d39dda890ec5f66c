/** Measures artifacts and notes for the search, before the transaction that writes them. */
import { type Call, indexKey } from '../../engine/index.js';
import type { Measured } from '../../index/sql.js';
import type { JsonObject } from '../../kernel/contract.js';
import { inTurn } from '../../kernel/index.js';
import { canonical } from '../../kernel/node.js';
import { measureMemory } from './search-doc.js';
import type { VersionRow } from './store.js';

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

const measure = ({ meta, tenant }: Call, state: State): Measured => measureMemory(indexKey(meta, tenant), state);

export const measureTerms = async (call: Call, state: State): Promise<SearchTerms> => ({
  state_key: stateKey(state),
  measured: await inTurn(() => measure(call, state)),
});

/** The terms measured ahead, or measured again if another change has come in between. */
export function termsFor(call: Call, row: VersionRow, ahead: SearchTerms | undefined): Measured {
  const { content_hash, name } = row;
  const state = { content: row.content!, content_hash, name, metadata: JSON.parse(row.metadata!) as JsonObject };
  return ahead?.state_key === stateKey(state) ? ahead.measured : measure(call, state);
}
