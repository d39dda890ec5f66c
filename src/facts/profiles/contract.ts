/** Operations on profiles and handovers (paths: /projects/{project_id}/profiles and /handovers). */
import { z } from 'zod';
import { handover, handoverName, storedHandover } from '../../coordination/packing/model.js';
import { operation } from '../../engine/contract/operation.js';
import { makes } from '../../engine/contract/touches.js';
import { computed, pageInput, pageOutput, startsAs } from '../../kernel/common.js';
import { profileName } from '../../kernel/ids.js';
import { profile, profileContent } from './model.js';

const profileInput = z.strictObject({
  name: profileName,
  ...profileContent,
  box_id: computed,
  card_id: computed,
  created_at: computed,
  updated_at: computed,
});

export const profiles = {
  create: operation({
    method: 'POST',
    path: '/projects/{project_id}/profiles',
    input: profileInput,
    output: profile,
    access: 'write',
    touches: ['recipe', makes('Card')],
    event: 'cairn.profile.created',
    status: 201,
    summary: 'Create a profile: a box with a sys.profile card, found by its name.',
    example: { name: 'researcher', system_prompt: 'You look things up.' },
  }),
  get: operation({
    method: 'GET',
    path: '/projects/{project_id}/profiles/{name}',
    input: z.strictObject({ name: profileName }),
    output: profile,
    access: 'read',
    touches: 'recipe',
    event: null,
    summary: 'Read a profile.',
    example: { name: 'researcher' },
  }),
  list: operation({
    method: 'GET',
    path: '/projects/{project_id}/profiles',
    input: z.strictObject(pageInput),
    output: z.object({ profiles: z.array(profile), ...pageOutput }),
    access: 'read',
    touches: 'recipe',
    event: null,
    summary: 'List profiles, by name.',
    example: {},
  }),
  save: operation({
    method: 'PUT',
    path: '/projects/{project_id}/profiles/{name}',
    input: profileInput,
    output: profile,
    access: 'write',
    touches: ['recipe', makes('Card')],
    event: 'cairn.profile.saved',
    summary:
      'Set what a profile says; what it said before stays in its box. Agent_turns keep what they began with.',
    example: { name: 'researcher', system_prompt: 'You look things up, twice.' },
  }),
  delete: operation({
    method: 'DELETE',
    path: '/projects/{project_id}/profiles/{name}',
    input: z.strictObject({ name: profileName }),
    output: z.void(),
    access: 'write',
    touches: 'recipe',
    event: 'cairn.profile.deleted',
    status: 204,
    summary: 'Forget the name of a profile. Its box stays.',
    example: { name: 'researcher' },
  }),
};

export const handovers = {
  save: operation({
    method: 'PUT',
    path: '/projects/{project_id}/handovers/{name}',
    input: z.strictObject({
      name: handoverName,
      handover,
      built_in: startsAs(false),
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
    summary: 'List packing recipes, by name; the built-in one is not among them.',
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
