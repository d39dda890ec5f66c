/** Operations on messages between agents (seed path: /messages). */
import { z } from 'zod';
import { operation, reads } from '../../engine/contract.js';
import { agentType } from '../../identity/contract.js';
import { anyId, instant, pageInput, pageOutput, text, uuid } from '../../kernel/contract.js';
import { waitMs } from '../agent-turns/model.js';
import { leaseMs } from '../locks/model.js';
import { deliveredMessage, fanOut, message, priority } from './model.js';

const AN_ID = '0190a1b2-c3d4-7e5f-8a9b-0c1d2e3f4a5b';
const byId = { message_id: uuid };

const reader = {
  agent_id: anyId.optional().describe('Whose messages: those of the agent of the key unless given'),
  reader_id: anyId.optional().describe('Which of its readers this is: the agent itself unless given'),
  lease_ms: leaseMs.optional().describe('How long until it comes again unacknowledged: 30,000 unless given'),
};

const streamed = z.object({ token: z.string(), message: deliveredMessage.nullable().describe('null in a heartbeat') });

export const messages = {
  send: operation({
    method: 'POST',
    path: '/api/v1/messages',
    input: z.strictObject({
      message_id: uuid.optional().describe('Made by the server when absent'),
      from_agent_id: anyId.optional().describe('Default: the agent of the key'),
      to_agent_id: anyId.optional().describe('Either this or to_agent_type'),
      to_agent_type: agentType.optional(),
      fan_out: fanOut.optional(),
      message_type: text(200, 1),
      payload: text(1_000_000).describe('Text, such as JSON'),
      trajectory_id: uuid.optional(),
      scope_id: uuid.optional(),
      artifact_ids: z.array(uuid).max(1000).optional(),
      priority: priority.optional(),
      expires_at: instant.optional().describe('Not delivered after this, and forgotten'),
    }),
    output: message,
    access: 'write',
    touches: ['parties', reads('Trajectory', 'named'), reads('Scope', 'named'), reads('Artifact', 'named')],
    event: 'cairn.message.sent',
    status: 201,
    summary: 'Send a message to an agent, or to one or all of a type.',
    example: { from_agent_id: 'planner-1', to_agent_id: 'reviewer-1', message_type: 'ping', payload: '{}' },
  }),
  get: operation({
    method: 'GET',
    path: '/api/v1/messages/{message_id}',
    input: z.strictObject(byId),
    output: message,
    access: 'read',
    touches: 'parties',
    event: null,
    summary: 'Read a message, without taking delivery of it.',
    example: { message_id: AN_ID },
  }),
  list: operation({
    method: 'GET',
    path: '/api/v1/messages',
    input: z.strictObject({
      to_agent: anyId.optional().describe('In the mailbox of this agent'),
      to_agent_type: agentType.optional(),
      from_agent_id: anyId.optional(),
      message_type: text(200, 1).optional(),
      trajectory_id: uuid.optional(),
      unacknowledged: z.boolean().optional().describe('Only those that still wait'),
      ...pageInput,
    }),
    output: z.object({ messages: z.array(message), ...pageOutput }),
    access: 'read',
    touches: 'parties',
    event: null,
    summary: 'List messages in the order of sending, without taking delivery of them.',
    example: {},
  }),
  receive: operation({
    method: 'POST',
    path: '/api/v1/messages/receive',
    input: z.strictObject({
      ...reader,
      limit: z.int().min(1).max(100).optional().describe('10 unless given'),
      wait_ms: waitMs.optional(),
    }),
    output: z.object({ messages: z.array(deliveredMessage) }),
    access: 'write',
    touches: 'parties',
    event: null,
    waits: true,
    summary:
      'Take delivery of messages, the most urgent first, in order for each sender. What is not acknowledged comes again.',
    example: { agent_id: 'reviewer-1' },
  }),
  stream: operation({
    method: 'GET',
    path: '/api/v1/messages/stream',
    input: z.strictObject({
      ...reader,
      after: z
        .string()
        .max(100)
        .optional()
        .describe('Taken for the sake of browsers; what is unacknowledged comes again'),
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
    summary: 'Take delivery of messages as they come, live.',
    example: { agent_id: 'reviewer-1' },
  }),
  acknowledge: operation({
    method: 'POST',
    path: '/api/v1/messages/{message_id}/acknowledge',
    input: z.strictObject({
      ...byId,
      agent_id: anyId
        .optional()
        .describe('Who acknowledges: the agent of the key, or the one it went to, unless given'),
    }),
    output: message,
    access: 'write',
    touches: 'parties',
    event: 'cairn.message.acknowledged',
    summary: 'Acknowledge a message: it does not come again.',
    example: { message_id: AN_ID },
  }),
};
