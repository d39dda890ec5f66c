/** A handover: a packing recipe, stored by name or given with the call. */
import { z } from 'zod';
import { instant, jsonObject, profileName, text } from '../../kernel/contract.js';

export const handoverName = profileName;
const argument = text(200, 1);

/** Packs one argument as one card. */
const packRule = z.strictObject({
  arg_key: argument,
  as_card_type: text(100, 1).optional().describe('Default: task.instruction'),
  card_metadata: jsonObject.optional().describe('Default role: user'),
});
export type PackRule = z.output<typeof packRule>;

export const notAnObject = z
  .unknown()
  .refine(
    (value) => typeof value !== 'object' || value === null || Array.isArray(value),
    'must be a rule with arg_key',
  ) as unknown as z.ZodType<null, null>;

export const handover = z
  .strictObject({
    target_profile_config: z.strictObject({ profile_name: profileName.optional() }).optional(),
    context_packing_config: z
      .strictObject({
        pack_arguments: z
          .array(z.union([packRule, notAnObject]))
          .max(100)
          .optional()
          .describe('Entries that are not objects are ignored'),
        inherit_context: z
          .strictObject({
            include_boxes_from_args: z.array(argument).max(100).optional().describe('Arguments that name boxes'),
            include_parent: z.boolean().optional().describe('Add a meta.parent_pointer card'),
          })
          .optional(),
        instruction_last: z.boolean().optional().describe('Put the cards of arguments behind the inherited ones'),
      })
      .optional(),
  })
  .meta({ id: 'HandoverRecipe' });
export type Handover = z.output<typeof handover>;

/** A recipe, or the name of a stored one. */
export const handoverChoice = z.union([handoverName, handover]);
export type HandoverChoice = z.output<typeof handoverChoice>;

export const INSTRUCTION_HANDOVER = 'instruction';

/** The default recipe of delegations. */
export const instructionHandover: Handover = {
  context_packing_config: {
    pack_arguments: [{ arg_key: 'instruction', as_card_type: 'task.instruction' }],
    inherit_context: { include_boxes_from_args: ['input_box_ids'], include_parent: true },
  },
};

export const storedHandover = z
  .object({
    name: z.string(),
    handover: handover.optional().describe('Absent for an agent that neither stored it nor may read all cards'),
    built_in: z.boolean(),
    created_at: instant.nullable(),
    updated_at: instant.nullable(),
  })
  .meta({ id: 'Handover' });
export type StoredHandover = z.output<typeof storedHandover>;
