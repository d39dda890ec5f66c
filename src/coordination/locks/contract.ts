/** Operations on locks (seed path: /locks). */
import { z } from 'zod';
import { clearable, operation } from '../../engine/contract.js';
import { anyId, pageInput, pageOutput, uuid } from '../../kernel/contract.js';
import { agentOfKey, EXAMPLE_ID, READ, WRITE } from '../party-operations.js';
import { leaseMs, lock, lockMode } from './model.js';

/** Many HTTP clients time out after five minutes. Asking again with the lock_id continues the wait. */
const MAX_WAIT_MS = 240_000;
const byId = { lock_id: uuid };

export const locks = {
  acquire: operation({
    ...WRITE,
    path: '/api/v1/locks/acquire',
    input: z.strictObject({
      lock_id: uuid.optional().describe('Default: a new id. Asking again with the same id continues the wait'),
      resource_type: anyId,
      resource_id: anyId,
      holder_agent_id: anyId.optional().describe(agentOfKey),
      mode: lockMode.optional(),
      timeout_ms: z.int().min(0).max(MAX_WAIT_MS).optional().describe('How long to wait for the lock. Default: 0'),
      lease_ms: leaseMs.optional().describe('How long it is held unless extended. Default: 30,000'),
    }),
    output: lock,
    event: 'cairn.lock.acquired',
    status: 201,
    waits: true,
    summary: 'Acquire a lock; can wait in its queue.',
    example: { resource_type: 'file', resource_id: 'src/main.ts', holder_agent_id: 'planner-1', timeout_ms: 1 },
  }),
  get: operation({
    ...READ,
    path: '/api/v1/locks/{lock_id}',
    input: z.strictObject(byId),
    output: lock,
    summary: 'Read a lock.',
    example: { lock_id: EXAMPLE_ID },
  }),
  list: operation({
    ...READ,
    path: '/api/v1/locks',
    input: z.strictObject({
      resource_type: anyId.optional(),
      resource_id: anyId.optional(),
      holder_agent_id: anyId.optional(),
      ...pageInput,
    }),
    output: z.object({ locks: z.array(lock), ...pageOutput }),
    summary: 'List locks that are held or waited for.',
    example: {},
  }),
  extend: operation({
    method: 'PATCH',
    path: '/api/v1/locks/{lock_id}/extend',
    input: z.strictObject({
      ...byId,
      additional_ms: leaseMs.describe('Added to the end of the lease'),
      holder_agent_id: clearable(anyId, undefined).describe(agentOfKey),
    }),
    output: lock,
    access: 'write',
    touches: 'parties',
    event: null,
    summary: 'Extend the lease of a lock, as its holder, before it expires.',
    example: { lock_id: EXAMPLE_ID, additional_ms: 10_000 },
  }),
  release: operation({
    method: 'DELETE',
    path: '/api/v1/locks/{lock_id}/release',
    also: ['POST /api/v1/locks/{lock_id}/release'],
    input: z.strictObject({
      ...byId,
      releasing_agent_id: anyId.optional().describe('Default: the agent of the key, or the holder'),
    }),
    output: lock,
    access: 'write',
    touches: 'parties',
    event: 'cairn.lock.released',
    summary: 'Release a lock or leave its queue, as its holder. The next waiter is granted it at once.',
    example: { lock_id: EXAMPLE_ID },
  }),
};
