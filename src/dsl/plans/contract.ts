/** Operations on a tenant and a source: plan, apply and export. */
import { z } from 'zod';
import { operation } from '../../engine/contract.js';
import { source } from '../language/model.js';
import { applied, definitionKind, exported, plan } from './model.js';

const EXAMPLE = { source: 'agent Coder { capabilities: [write_code] }' };

const input = {
  source,
  prune: z
    .boolean()
    .optional()
    .describe('Also delete what the source does not define, which cannot be undone; default: false'),
};

export const plans = {
  plan: operation({
    method: 'POST',
    path: '/api/v1/dsl/plan',
    input: z.strictObject(input),
    output: plan,
    access: 'read',
    touches: 'tenant_key',
    event: null,
    summary: 'Show what applying a source would create, change, leave alone and, with prune, delete.',
    example: EXAMPLE,
  }),
  apply: operation({
    method: 'POST',
    path: '/api/v1/dsl/apply',
    input: z.strictObject({
      ...input,
      plan_hash: z.string().min(1).max(100).optional().describe('Refuse unless the plan still has this hash'),
    }),
    output: applied,
    access: 'write',
    touches: 'tenant_key',
    event: 'cairn.dsl.applied',
    summary: 'Create and change what a source defines, in one transaction. Applying it again changes nothing.',
    example: EXAMPLE,
  }),
  export: operation({
    method: 'GET',
    path: '/api/v1/dsl/export',
    input: z.strictObject({ kind: definitionKind.optional().describe('Only definitions of this kind; default: all') }),
    output: exported,
    access: 'read',
    touches: 'tenant_key',
    event: null,
    summary: 'Write what the tenant has as a source.',
    example: {},
  }),
};
