/** Checkpoint policies: when a checkpoint is taken automatically, and its reason. */
import { z } from 'zod';
import type { CheckpointReason } from '../checkpoints/contract.js';
import { confidence } from '../memory/contract.js';
import type { ChangeEvents, EventArgs } from './events.js';

export const checkpointPolicies = z.strictObject({
  /** After each step: `step_complete`. */
  after_step: z.boolean().optional(),
  /** On a thought with less confidence, when it is added or changed: `low_confidence`. */
  confidence_below: confidence.optional(),
  /** On a tool call that failed: `tool_error`. */
  on_tool_error: z.boolean().optional(),
  /** When something changed and this time has passed since the last checkpoint: `auto`. */
  every_ms: z.number().min(1).optional(),
});
export type CheckpointPolicies = Readonly<z.input<typeof checkpointPolicies>>;

export const DEFAULT_POLICIES: CheckpointPolicies = { after_step: true };

/** The reason for a checkpoint after a change, if any; `every_ms` is not considered here. */
export function reasonFor(
  policies: CheckpointPolicies,
  ...[event, data]: EventArgs<ChangeEvents>
): CheckpointReason | undefined {
  const { after_step, confidence_below = 0, on_tool_error } = policies;
  switch (event) {
    case 'step':
      return after_step ? 'step_complete' : undefined;
    case 'thought.added':
      return data.thought.confidence < confidence_below ? 'low_confidence' : undefined;
    case 'thought.changed': {
      const { before, after } = data;
      const fell = after.confidence < confidence_below && after.confidence !== before.confidence;
      return fell ? 'low_confidence' : undefined;
    }
    case 'tool.finished':
      return on_tool_error && !data.call.success ? 'tool_error' : undefined;
    default:
      return undefined;
  }
}
