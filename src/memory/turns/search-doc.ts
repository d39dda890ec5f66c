/** The search document of a turn, for writes and for reindexing. */
import { type Doc, type Measured, measure, PLAIN_DOC } from '../../index/sql.js';
import type { Json, JsonObject } from '../../kernel/contract.js';

export interface PlacedTurn {
  readonly turn_id: string;
  readonly sequence: number;
  readonly role: string;
  readonly scope: { readonly trajectory_id: string; readonly scope_id: string };
}

export const turnDoc = ({ turn_id, sequence, role, scope }: PlacedTurn, measured: Measured): Doc => ({
  ...PLAIN_DOC,
  entity_type: 'turn',
  entity_id: turn_id,
  trajectory_id: scope.trajectory_id,
  scope_id: scope.scope_id,
  position: sequence,
  role,
  category: 'ephemeral',
  measured,
});

/** Measures the content of a turn, its tool calls and their results. */
export const measureTurn = (
  index_key: string,
  turn: {
    readonly content?: Json | undefined;
    readonly tool_calls?: Json | undefined;
    readonly tool_results?: Json | undefined;
    readonly metadata?: JsonObject | undefined;
  },
): Measured =>
  measure(index_key, {
    content: turn.content ?? null,
    more: [turn.tool_calls, turn.tool_results],
    metadata: turn.metadata,
  });
