/** Packing a context: what a recipe is given, and what comes of it. */
import { z } from 'zod';
import { jsonObject } from '../../kernel/contract.js';

export const packArguments = jsonObject.describe('By the names that the recipe has');

export const packed = z
  .object({
    context_box_id: z.string(),
    target_profile_box_id: z.string(),
    attached_card_ids: z.array(z.string()).describe('All cards of the context, in order'),
  })
  .meta({ id: 'PackedContext' });
export type Packed = z.output<typeof packed>;
