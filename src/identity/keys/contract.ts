/** Operations on the store itself: who am I, keys, the live stream, lifetimes. */
import { z } from 'zod';
import { operation } from '../../engine/contract/operation.js';
import { reads, writes } from '../../engine/contract/touches.js';
import { packet } from '../../engine/journal/model.js';
import { listOrder } from '../../kernel/common.js';
import { anyId, uuid } from '../../kernel/ids.js';
import { text } from '../../kernel/json.js';
import { agentType, canDelegateTo, grantedAccess } from '../agents/model.js';
import { caller, createdKey, key, keyRole } from './model.js';

export const auth = {
  whoami: operation({
    method: 'GET',
    path: '/api/v1/whoami',
    input: z.strictObject({}),
    output: caller,
    access: 'read',
    touches: 'self',
    event: null,
    summary: 'Say which tenant, agent and role the caller has.',
    example: {},
  }),
};

export const keys = {
  create: operation({
    method: 'POST',
    path: '/api/v1/keys',
    input: z.strictObject({
      agent_id: anyId
        .optional()
        .describe('The one agent that the key acts as; it is registered if it is not there yet'),
      access: grantedAccess.optional(),
      agent_type: agentType
        .optional()
        .describe('Of the agent. One that it says itself opens no mailbox and satisfies no can_delegate_to'),
      can_delegate_to: canDelegateTo.optional(),
      role: keyRole.optional().describe('write unless given'),
      name: text(200, 1).optional(),
    }),
    output: createdKey,
    access: 'admin',
    touches: 'tenant_key',
    event: 'cairn.key.created',
    status: 201,
    summary: 'Create a key for this tenant, and for an agent its rights. The secret is shown this once.',
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
    summary: 'Revoke a key: it is refused from now on.',
    example: { key_id: 'a1b2c3d4-e5f6-7890-abcd-ef1234567890' },
  }),
};

const followed = z.object({
  token: z.string().describe('Give it as `after`, or as Last-Event-ID, to go on behind this event'),
  packet: packet.nullable().describe('null in a heartbeat'),
});

export const events = {
  follow: operation({
    method: 'GET',
    path: '/api/v1/events',
    input: z.strictObject({
      after: z
        .string()
        .max(100)
        .optional()
        .describe(
          'Resume token of the last event seen; "0" for all of history; only what is new unless given',
        ),
      packet_type: text(100, 1).optional().describe('Only this type, or with a trailing "*" this prefix'),
      thread_id: uuid.optional(),
    }),
    output: followed,
    access: 'read',
    touches: [reads('Packet', 'listed')],
    event: null,
    stream: true,
    frames: {
      toFrame: (item) => {
        const { packet } = item as z.output<typeof followed>;
        return packet === null ? null : { event: 'packet', data: packet };
      },
      toItem: (token, frame) => ({ token, packet: frame?.data ?? null }),
    },
    summary: 'Follow what happens, live: every packet once, in the order of seq, resumable.',
    example: { after: '0' },
  }),
};

export const lifetime = {
  sweep: operation({
    method: 'POST',
    path: '/api/v1/memory/gc/run',
    input: z.strictObject({}),
    output: z.object({
      cards_erased: z.int(),
      memories_erased: z.int().describe('Versions of artifacts and notes, whose content is in cards'),
      messages_erased: z.int(),
      packets_erased: z.int(),
      requests_forgotten: z.int().describe('Idempotency records older than 24 hours'),
      cards_kept: z
        .int()
        .describe('Found expired but pinned by a sealed box; counted by the first sweep that finds it'),
      duration_ms: z.int(),
    }),
    access: 'admin',
    touches: [writes('Card', 'tenant'), writes('Packet', 'tenant')],
    event: 'cairn.lifetime.swept',
    summary: 'Erase now what has expired, in small batches.',
    example: {},
  }),
  stats: operation({
    method: 'GET',
    path: '/api/v1/memory/gc/stats',
    input: z.strictObject({}),
    output: z.object({
      cards: z.object({ total: z.int(), deleted: z.int(), expired: z.int(), erased: z.int() }),
      packets: z.object({ total: z.int(), expired: z.int(), erased: z.int() }),
    }),
    access: 'read',
    touches: [reads('Card', 'tenant'), reads('Packet', 'tenant')],
    event: null,
    summary: 'Count what is there, what has expired and waits for the sweep, and what was erased.',
    example: {},
  }),
};
