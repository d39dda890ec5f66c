/** Operations on profiles (path: /projects/{project_id}/profiles). */
import { z } from 'zod';
import { makes, operation } from '../../engine/contract.js';
import { computed, pageInput, pageOutput, profileName } from '../../kernel/contract.js';
import { profile, profileContent } from './model.js';

const profileInput = z.strictObject({
  name: profileName,
  ...profileContent,
  box_id: computed,
  card_id: computed,
  created_at: computed,
  updated_at: computed,
});
const readsProfiles = { method: 'GET', access: 'read', touches: 'recipe', event: null } as const;

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
    ...readsProfiles,
    path: '/projects/{project_id}/profiles/{name}',
    input: z.strictObject({ name: profileName }),
    output: profile,
    summary: 'Read a profile.',
    example: { name: 'researcher' },
  }),
  list: operation({
    ...readsProfiles,
    path: '/projects/{project_id}/profiles',
    input: z.strictObject(pageInput),
    output: z.object({ profiles: z.array(profile), ...pageOutput }),
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
    summary: 'Replace a profile; earlier contents stay in its box. Running agent_turns keep the one they started with.',
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
    summary: 'Delete the name of a profile. Its box stays.',
    example: { name: 'researcher' },
  }),
};
