/** Operations on agents (seed path: /agents). */
import { z } from 'zod';
import { memoryAccess } from '../../engine/access/model.js';
import { clearable } from '../../engine/contract/lenient-input.js';
import { operation } from '../../engine/contract/operation.js';
import { pageInput, pageOutput } from '../../kernel/common.js';
import { anyId, profileName, uuid } from '../../kernel/ids.js';
import { smallMetadata } from '../../kernel/json.js';
import {
  agent,
  agentStatus,
  agentType,
  canDelegateTo,
  capabilities,
  DEFAULT_OFFLINE_AFTER_MS,
  offlineAfter,
  sayableStatus,
} from './model.js';

const byId = { agent_id: anyId };

export const agents = {
  register: operation({
    method: 'POST',
    path: '/api/v1/agents/register',
    also: ['/api/v1/agents'],
    input: z.strictObject({
      agent_id: anyId.optional().describe('The agent of the key, or made by the server, when absent'),
      agent_type: agentType,
      capabilities,
      memory_access: memoryAccess.optional(),
      can_delegate_to: canDelegateTo.optional(),
      profile_name: profileName.nullish().describe('The profile that it is made from'),
      offline_after_ms: offlineAfter.optional(),
      metadata: smallMetadata.optional(),
    }),
    output: agent,
    access: 'write',
    touches: 'self',
    event: 'cairn.agent.registered',
    status: 201,
    summary:
      'Register an agent: it starts idle. One that registers itself has the rights that came with its key.',
    example: { agent_id: 'reviewer-1', agent_type: 'reviewer', capabilities: ['review_code'] },
  }),
  get: operation({
    method: 'GET',
    path: '/api/v1/agents/{agent_id}',
    input: z.strictObject(byId),
    output: agent,
    access: 'read',
    touches: 'directory',
    event: null,
    summary: 'Read an agent.',
    example: { agent_id: 'reviewer-1' },
  }),
  list: operation({
    method: 'GET',
    path: '/api/v1/agents',
    input: z.strictObject({
      agent_type: agentType.optional(),
      status: agentStatus.optional(),
      ...pageInput,
    }),
    output: z.object({ agents: z.array(agent), ...pageOutput }),
    access: 'read',
    touches: 'directory',
    event: null,
    summary: 'List agents, by type and status.',
    example: {},
  }),
  update: operation({
    method: 'PATCH',
    path: '/api/v1/agents/{agent_id}',
    input: z.strictObject({
      ...byId,
      agent_type: agentType.optional(),
      capabilities: capabilities.optional(),
      memory_access: memoryAccess.optional(),
      can_delegate_to: canDelegateTo.optional(),
      status: sayableStatus.optional(),
      current_trajectory_id: uuid.nullish(),
      offline_after_ms: clearable(offlineAfter, DEFAULT_OFFLINE_AFTER_MS),
      metadata: clearable(smallMetadata, {}),
    }),
    output: agent,
    access: 'write',
    touches: 'directory',
    event: 'cairn.agent.updated',
    summary: 'Change an agent. What it may see and do is changed by an admin key without an agent.',
    example: { agent_id: 'reviewer-1', status: 'busy' },
  }),
  heartbeat: operation({
    method: 'POST',
    path: '/api/v1/agents/{agent_id}/heartbeat',
    input: z.strictObject({
      ...byId,
      status: sayableStatus.optional(),
      current_trajectory_id: uuid.nullish(),
    }),
    output: agent,
    access: 'write',
    touches: 'directory',
    event: 'cairn.agent.online',
    summary: 'Say that an agent is there. Only one that was offline makes an event.',
    example: { agent_id: 'reviewer-1' },
  }),
  unregister: operation({
    method: 'DELETE',
    path: '/api/v1/agents/{agent_id}',
    input: z.strictObject(byId),
    output: z.void(),
    access: 'write',
    touches: 'directory',
    event: 'cairn.agent.unregistered',
    status: 204,
    summary: 'Take an agent off the register: not while it is active or has an agent_turn under way.',
    example: { agent_id: 'reviewer-1' },
  }),
};
