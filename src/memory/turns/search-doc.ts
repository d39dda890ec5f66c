/** The search document of a turn, for writes and for reindexing. */
import { type Described, type Doc, type Measured, measure } from '../../index/sql.js';
import type { Json, JsonObject } from '../../kernel/contract.js';

interface IndexedTurn {
  readonly turn_id: string;
  readonly sequence: number;
  readonly role: string;
  readonly scope: { readonly trajectory_id: string; readonly scope_id: string };
}

export const turnDoc = ({ turn_id, sequence, role, scope }: IndexedTurn, described: Described): Doc => ({
  entity_type: 'turn',
  entity_id: turn_id,
  type: null,
  name: null,
  trajectory_id: scope.trajectory_id,
  scope_id: scope.scope_id,
  position: sequence,
  role,
  abstraction_level: 'L0',
  category: 'ephemeral',
  described,
});

/** Measures the content of a turn, its tool calls and their results. */
export const measureTurn = (
  index_key: string,
  turn: { readonly [name in 'content' | 'tool_calls' | 'tool_results']?: Json | undefined } & {
    readonly metadata?: JsonObject | undefined;
  },
): Measured => {
  const { content = null, tool_calls, tool_results, metadata } = turn;
  return measure(index_key, { content, more: [tool_calls, tool_results], metadata });
};
