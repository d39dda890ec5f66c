/** Measuring artifacts and notes for the search: before the transaction that writes them. */
import { type Call, indexKey } from '../../engine/index.js';
import type { Measured } from '../../index/sql.js';
import type { JsonObject } from '../../kernel/contract.js';
import { inTurn } from '../../kernel/index.js';
import { canonical } from '../../kernel/node.js';
import { measureMemory } from './search-doc.js';
import type { VersionRow } from './store.js';

const keyOf = ({ meta, tenant }: Call): string => indexKey(meta, tenant);

/** What an artifact or note is found by in a state that it was to have. */
export interface FoundBy {
  readonly of: string;
  readonly measured: Measured;
}

/** What decides what it is found by. */
interface State {
  readonly content: string;
  readonly content_hash: string;
  readonly name: string | null;
  readonly metadata: JsonObject;
}

const nameOf = ({ content_hash, name, metadata }: State): string => {
  const { speaker = null, tags = null, occurred_at = null, caption = null } = metadata;
  return canonical([content_hash, name, speaker, tags, occurred_at, caption]);
};

export async function foundBy(call: Call, state: State): Promise<FoundBy> {
  return { of: nameOf(state), measured: await inTurn(() => measureMemory(keyOf(call), state)) };
}

/** As it was measured for this state; anew where it came otherwise, since another has changed it meanwhile. */
export function measuredAs(call: Call, row: VersionRow, known: FoundBy | undefined): Measured {
  const { content_hash, name } = row;
  const state = { content: row.content!, content_hash, name, metadata: JSON.parse(row.metadata!) as JsonObject };
  return known?.of === nameOf(state) ? known.measured : measureMemory(keyOf(call), state);
}
