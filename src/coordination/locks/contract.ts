/** Operations on locks (seed path: /locks). */
import { z } from 'zod';
import { clearable, operation } from '../../engine/contract.js';
import { anyId, pageInput, pageOutput, uuid } from '../../kernel/contract.js';
import { leaseMs, lock, lockMode } from './model.js';

const AN_ID = '0190a1b2-c3d4-7e5f-8a9b-0c1d2e3f4a5b';
/** Many HTTP clients give up on an answer after five minutes. Asking again with the lock_id goes on waiting. */
const MAX_WAIT_MS = 240_000;
const byId = { lock_id: uuid };

export const locks = {
  acquire: operation({
    method: 'POST',
    path: '/api/v1/locks/acquire',
    input: z.strictObject({
      lock_id: uuid.optional().describe('Made by the server when absent; with it, asking again goes on waiting'),
      resource_type: anyId,
      resource_id: anyId,
      holder_agent_id: anyId.optional().describe('Default: the agent of the key'),
      mode: lockMode.optional(),
      timeout_ms: z.int().min(0).max(MAX_WAIT_MS).optional().describe('How long to wait for it: 0 unless given'),
      lease_ms: leaseMs.optional().describe('How long it is held unless extended: 30,000 unless given'),
    }),
    output: lock,
    access: 'write',
    touches: 'parties',
    event: 'cairn.lock.acquired',
    status: 201,
    waits: true,
    summary: 'Acquire a lock; waits in line for as long as asked to.',
    example: { resource_type: 'file', resource_id: 'src/main.ts', holder_agent_id: 'planner-1', timeout_ms: 1 },
  }),
  get: operation({
    method: 'GET',
    path: '/api/v1/locks/{lock_id}',
    input: z.strictObject(byId),
    output: lock,
    access: 'read',
    touches: 'parties',
    event: null,
    summary: 'Read a lock.',
    example: { lock_id: AN_ID },
  }),
  list: operation({
    method: 'GET',
    path: '/api/v1/locks',
    input: z.strictObject({
      resource_type: anyId.optional(),
      resource_id: anyId.optional(),
      holder_agent_id: anyId.optional(),
      ...pageInput,
    }),
    output: z.object({ locks: z.array(lock), ...pageOutput }),
    access: 'read',
    touches: 'parties',
    event: null,
    summary: 'List locks that are held or waited for.',
    example: {},
  }),
  extend: operation({
    method: 'PATCH',
    path: '/api/v1/locks/{lock_id}/extend',
    input: z.strictObject({
      ...byId,
      additional_ms: leaseMs.describe('From now, or from its end, whichever is later'),
      holder_agent_id: clearable(anyId, undefined).describe('Default: the agent of the key'),
    }),
    output: lock,
    access: 'write',
    touches: 'parties',
    event: null,
    summary: 'Hold a lock for longer: by its holder alone, before it has expired.',
    example: { lock_id: AN_ID, additional_ms: 10_000 },
  }),
  release: operation({
    method: 'DELETE',
    path: '/api/v1/locks/{lock_id}/release',
    also: ['POST /api/v1/locks/{lock_id}/release'],
    input: z.strictObject({
      ...byId,
      releasing_agent_id: anyId.optional().describe('The agent of the key, or its holder, unless given'),
    }),
    output: lock,
    access: 'write',
    touches: 'parties',
    event: 'cairn.lock.released',
    summary: 'Release a lock, or stop waiting for it: by its holder alone. The next in line has it at once.',
    example: { lock_id: AN_ID },
  }),
};
