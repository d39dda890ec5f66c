/** Operations on the settings of a tenant. */
import { z } from 'zod';
import { operation } from '../../engine/contract.js';
import { settings as model, settingsPatch } from './model.js';

export const settings = {
  get: operation({
    method: 'GET',
    path: '/api/v1/settings',
    input: z.strictObject({}),
    output: model,
    access: 'read',
    touches: 'tenant_key',
    event: null,
    summary: 'Read the settings of the tenant, with the defaults of those that were never set.',
    example: {},
  }),
  update: operation({
    method: 'PATCH',
    path: '/api/v1/settings',
    input: settingsPatch,
    output: model,
    access: 'admin',
    touches: 'tenant_key',
    event: 'cairn.settings.updated',
    summary: 'Change settings of the tenant. A given member replaces the whole member; null restores its default.',
    example: {
      note_ttls: { Fact: 'LongTerm', '*': 'Persistent' },
      retain: 'digest',
      context_token_budget: 6000,
      context_sections: [{ name: 'notes', priority: 95, share: 0.3 }],
    },
  }),
};
