/** Operations on messages between agents (seed path: /messages). */
import { z } from 'zod';
import { operation, reads } from '../../engine/contract.js';
import { agentType } from '../../identity/contract.js';
import { anyId, instant, pageInput, pageOutput, text, uuid } from '../../kernel/contract.js';
import { waitMs } from '../agent-turns/model.js';
import { leaseMs } from '../locks/model.js';
import { agentOfKey, EXAMPLE_ID, newEntityId, READ, WRITE } from '../party-operations.js';
import { deliveredMessage, fanOut, message, priority } from './model.js';

const byId = { message_id: uuid };

const reader = {
  agent_id: anyId.optional().describe(`The receiving agent. ${agentOfKey}`),
  reader_id: anyId.optional().describe('The reader, if the agent has several. Default: agent_id'),
  lease_ms: leaseMs
    .optional()
    .describe('Time after which an unacknowledged message is delivered again. Default: 30,000'),
};

const streamed = z.object({ token: z.string(), message: deliveredMessage.nullable().describe('null in a heartbeat') });

export const messages = {
  send: operation({
    method: 'POST',
    path: '/api/v1/messages',
    input: z.strictObject({
      message_id: uuid.optional().describe(newEntityId),
      from_agent_id: anyId.optional().describe(agentOfKey),
      to_agent_id: anyId.optional().describe('Give either this or to_agent_type'),
      to_agent_type: agentType.optional(),
      fan_out: fanOut.optional(),
      message_type: text(200, 1),
      payload: text(1_000_000).describe('Text, such as JSON'),
      trajectory_id: uuid.optional(),
      scope_id: uuid.optional(),
      artifact_ids: z.array(uuid).max(1000).optional(),
      priority: priority.optional(),
      expires_at: instant.optional().describe('After this it is not delivered, and its content is erased'),
    }),
    output: message,
    access: 'write',
    touches: ['parties', reads('Trajectory', 'named'), reads('Scope', 'named'), reads('Artifact', 'named')],
    event: 'cairn.message.sent',
    status: 201,
    summary: 'Send a message to an agent, or to one or all agents of a type.',
    example: { from_agent_id: 'planner-1', to_agent_id: 'reviewer-1', message_type: 'ping', payload: '{}' },
  }),
  get: operation({
    ...READ,
    path: '/api/v1/messages/{message_id}',
    input: z.strictObject(byId),
    output: message,
    summary: 'Read a message, without taking delivery of it.',
    example: { message_id: EXAMPLE_ID },
  }),
  list: operation({
    ...READ,
    path: '/api/v1/messages',
    input: z.strictObject({
      to_agent: anyId.optional().describe('Messages in the mailboxes of this agent'),
      to_agent_type: agentType.optional(),
      from_agent_id: anyId.optional(),
      message_type: text(200, 1).optional(),
      trajectory_id: uuid.optional(),
      unacknowledged: z.boolean().optional().describe('Only messages that await an acknowledgement'),
      ...pageInput,
    }),
    output: z.object({ messages: z.array(message), ...pageOutput }),
    summary: 'List messages in order of sending, without taking delivery of them.',
    example: {},
  }),
  receive: operation({
    ...WRITE,
    path: '/api/v1/messages/receive',
    input: z.strictObject({
      ...reader,
      limit: z.int().min(1).max(100).optional().describe('Default: 10'),
      wait_ms: waitMs.optional(),
    }),
    output: z.object({ messages: z.array(deliveredMessage) }),
    event: null,
    waits: true,
    summary:
      'Take delivery of messages: most urgent first, in order per sender. Unacknowledged ones are delivered again.',
    example: { agent_id: 'reviewer-1' },
  }),
  stream: operation({
    method: 'GET',
    path: '/api/v1/messages/stream',
    input: z.strictObject({
      ...reader,
      after: z.string().max(100).optional().describe('Sent by browsers that reconnect; has no effect'),
    }),
    output: streamed,
    access: 'write',
    touches: 'parties',
    event: null,
    stream: true,
    frames: {
      toFrame: (item) => {
        const { message: one } = item as z.output<typeof streamed>;
        return one === null ? null : { event: 'message', data: one };
      },
      toItem: (token, frame) => ({ token, message: frame?.data ?? null }),
    },
    summary: 'Take delivery of messages as they arrive.',
    example: { agent_id: 'reviewer-1' },
  }),
  acknowledge: operation({
    ...WRITE,
    path: '/api/v1/messages/{message_id}/acknowledge',
    input: z.strictObject({
      ...byId,
      agent_id: anyId.optional().describe('The acknowledging agent. Default: the agent of the key, or its receiver'),
    }),
    output: message,
    event: 'cairn.message.acknowledged',
    summary: 'Acknowledge a message, so that it is not delivered again.',
    example: { message_id: EXAMPLE_ID },
  }),
};
