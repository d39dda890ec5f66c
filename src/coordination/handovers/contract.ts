/** Operations on handovers (path: /projects/{project_id}/handovers). */
import { z } from 'zod';
import { makes, operation } from '../../engine/contract.js';
import { computed, initialValue, pageInput, pageOutput } from '../../kernel/contract.js';
import { handover, handoverName, storedHandover } from './model.js';

export const handovers = {
  save: operation({
    method: 'PUT',
    path: '/projects/{project_id}/handovers/{name}',
    input: z.strictObject({
      name: handoverName,
      handover,
      built_in: initialValue(false),
      created_at: computed,
      updated_at: computed,
    }),
    output: storedHandover,
    access: 'write',
    touches: ['recipe', makes('Card')],
    event: 'cairn.handover.saved',
    summary: 'Store a packing recipe under a name.',
    example: {
      name: 'instruction-last',
      handover: {
        context_packing_config: {
          pack_arguments: [{ arg_key: 'instruction' }],
          inherit_context: { include_boxes_from_args: ['input_box_ids'], include_parent: true },
          instruction_last: true,
        },
      },
    },
  }),
  get: operation({
    method: 'GET',
    path: '/projects/{project_id}/handovers/{name}',
    input: z.strictObject({ name: handoverName }),
    output: storedHandover,
    access: 'read',
    touches: 'recipe',
    event: null,
    summary: 'Read a packing recipe.',
    example: { name: 'instruction' },
  }),
  list: operation({
    method: 'GET',
    path: '/projects/{project_id}/handovers',
    input: z.strictObject(pageInput),
    output: z.object({ handovers: z.array(storedHandover), ...pageOutput }),
    access: 'read',
    touches: 'recipe',
    event: null,
    summary: 'List stored packing recipes by name, without the built-in one.',
    example: {},
  }),
  delete: operation({
    method: 'DELETE',
    path: '/projects/{project_id}/handovers/{name}',
    input: z.strictObject({ name: handoverName }),
    output: z.void(),
    access: 'write',
    touches: 'recipe',
    event: 'cairn.handover.deleted',
    status: 204,
    summary: 'Delete a packing recipe.',
    example: { name: 'instruction-last' },
  }),
};
