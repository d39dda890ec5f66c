/** Tasks for other agents, and the contexts packed for them. */
import { z } from 'zod';
import { anyId, jsonObject, text } from '../../kernel/contract.js';

export const packArguments = jsonObject.describe('By the argument names of the recipe');

export const packed = z
  .object({
    context_box_id: z.string(),
    target_profile_box_id: z.string(),
    attached_card_ids: z.array(z.string()).describe('All cards of the context, in order'),
  })
  .meta({ id: 'PackedContext' });
export type Packed = z.output<typeof packed>;

export const instruction = text(1_000_000, 1);

/** A task, as delegate_async and fork_join take it. */
export const task = z.strictObject({
  target_strategy: z
    .enum(['new', 'reuse', 'clone'])
    .describe(
      'new: an agent from profile target_ref; reuse: agent target_ref; clone: a copy of it with its readable output',
    ),
  target_ref: anyId
    .optional()
    .describe('A profile for new, an agent for reuse and clone. Default for clone: the delegator'),
  instruction,
  context_box_id: anyId.optional().describe('A box whose cards are inherited first'),
  input_box_ids: z.array(anyId).max(100).describe('Boxes whose cards are inherited, in this order').optional(),
  arguments: packArguments.optional().describe('Further arguments for the recipe'),
});
export type Task = z.output<typeof task>;

/** A task that was refused; nothing of it was written. */
export interface Refusal {
  readonly status: 'busy' | 'rejected';
  readonly error_code: string;
  readonly message: string;
}
