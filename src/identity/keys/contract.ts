/** Operations on keys, and whoami. */
import { z } from 'zod';
import { caller, grantedAccess, keyRole, operation } from '../../engine/contract.js';
import { anyId, listOrder, text, uuid } from '../../kernel/contract.js';
import { agentType, canDelegateTo } from '../agents/model.js';
import { createdKey, key } from './model.js';

export const auth = {
  whoami: operation({
    method: 'GET',
    path: '/api/v1/whoami',
    input: z.strictObject({}),
    output: caller,
    access: 'read',
    touches: 'self',
    event: null,
    summary: 'Return the tenant, agent and role of the caller.',
    example: {},
  }),
};

export const keys = {
  create: operation({
    method: 'POST',
    path: '/api/v1/keys',
    input: z.strictObject({
      agent_id: anyId.optional().describe('The agent that the key acts as; registered if it does not exist'),
      access: grantedAccess.optional(),
      agent_type: agentType
        .optional()
        .describe('Of the agent. A type that it claims itself opens no mailbox and matches no can_delegate_to'),
      can_delegate_to: canDelegateTo.optional(),
      user_id: anyId
        .optional()
        .describe(
          'The user that the key acts for: it reaches what is about this user or about nobody, whatever its role',
        ),
      role: keyRole.optional().describe('Default: write'),
      name: text(200, 1).optional(),
    }),
    output: createdKey,
    access: 'admin',
    touches: 'tenant_key',
    event: 'cairn.key.created',
    status: 201,
    summary: 'Create a key of this tenant, with the rights of its agent. The secret is shown only once.',
    example: { role: 'read', name: 'dashboard' },
  }),
  list: operation({
    method: 'GET',
    path: '/api/v1/keys',
    input: z.strictObject({ order: listOrder() }),
    output: z.object({ keys: z.array(key) }),
    access: 'admin',
    touches: 'tenant_key',
    event: null,
    summary: 'List the keys of this tenant, without their secrets.',
    example: {},
  }),
  revoke: operation({
    method: 'DELETE',
    path: '/api/v1/keys/{key_id}',
    input: z.strictObject({ key_id: uuid }),
    output: z.void(),
    access: 'admin',
    touches: 'tenant_key',
    event: 'cairn.key.revoked',
    status: 204,
    summary: 'Revoke a key: requests with it are refused from now on.',
    example: { key_id: 'a1b2c3d4-e5f6-7890-abcd-ef1234567890' },
  }),
};
