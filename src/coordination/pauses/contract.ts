/** Operations on pauses: questions of runs that wait for an answer. */
import { z } from 'zod';
import { operation, writes } from '../../engine/contract.js';
import { agentType } from '../../identity/contract.js';
import { anyId, instant, jsonObject, pageInput, pageOutput, text, uuid } from '../../kernel/contract.js';
import { waitMs } from '../agent-turns/model.js';
import { EXAMPLE_ID, newEntityId, READ, WRITE } from '../party-operations.js';
import {
  answerDetails,
  givenChoice,
  MAX_TIMEOUT_MS,
  pause,
  pauseAction,
  pauseAnswer,
  pauseStatus,
  pauseTrigger,
} from './model.js';

const byId = { pause_id: uuid };
const askKey = text(200, 1).describe('Names the question within its run: asked again, it is found with its answer');

export const pauses = {
  create: operation({
    method: 'POST',
    path: '/api/v1/pauses',
    input: z.strictObject({
      pause_id: uuid.optional().describe(newEntityId),
      agent_turn_id: uuid.optional().describe('The agent_turn that waits; its lease ends with this call'),
      turn_epoch: z.int().min(0).optional().describe('The epoch in which the caller holds the agent_turn'),
      execution_id: anyId.optional().describe('The execution that waits, if it is not an agent_turn'),
      checkpoint_id: anyId.optional().describe('The state in which the execution waits'),
      ask_key: askKey.optional(),
      trigger: pauseTrigger.optional().describe('Why the run waits. Default: manual'),
      question: text(20_000, 1),
      choices: z.array(givenChoice).min(1).max(100).optional().describe('Values, or values with labels'),
      details: jsonObject.optional().describe('What the question is about, such as the tool call to confirm'),
      answers: z.array(pauseAction).min(1).max(6).optional().describe('Allowed actions. Default: by the trigger'),
      timeout_ms: z.int().min(1).max(MAX_TIMEOUT_MS).optional().describe('Time to answer. Default: no deadline'),
      deadline_at: instant.optional().describe('The same as a time, at most 366 days from now'),
      default: pauseAnswer.optional().describe('The answer that counts at the deadline; without one it expires'),
      to_agent_id: anyId.optional().describe('Ask this agent. Default: people and the delegator'),
      to_agent_type: agentType.optional().describe('Ask any agent of this type'),
      outside: z.boolean().optional().describe('The answer may also be given outside Cairn. Default: false'),
    }),
    output: pause,
    access: 'write',
    touches: ['parties', writes('Checkpoint', 'execution_id')],
    event: 'cairn.pause.created',
    status: 201,
    summary: 'Ask a question and pause the run until it is answered.',
    example: { execution_id: 'run-1', question: 'Deploy to production?', trigger: 'human_review' },
  }),
  get: operation({
    ...READ,
    path: '/api/v1/pauses/{pause_id}',
    input: z.strictObject({
      ...byId,
      wait_ms: waitMs.optional().describe('How long to wait for the answer. Default: 0'),
    }),
    output: pause,
    waits: true,
    summary: 'Read a pause; can wait for its answer.',
    example: { pause_id: EXAMPLE_ID },
  }),
  list: operation({
    ...READ,
    path: '/api/v1/pauses',
    input: z.strictObject({
      status: pauseStatus.optional(),
      trigger: pauseTrigger.optional(),
      agent_turn_id: uuid.optional(),
      execution_id: anyId.optional(),
      trajectory_id: uuid.optional(),
      ask_key: askKey.optional(),
      agent_id: anyId.optional().describe('The agent that asks'),
      to_agent_id: anyId.optional(),
      to_agent_type: agentType.optional(),
      ...pageInput,
    }),
    output: z.object({ pauses: z.array(pause), ...pageOutput }),
    summary: 'List pauses.',
    example: { status: 'open' },
  }),
  answer: operation({
    ...WRITE,
    path: '/api/v1/pauses/{pause_id}/answer',
    input: z.strictObject({
      ...byId,
      agent_id: anyId.optional().describe('The agent that answers. Default: the agent of the key, or a person'),
      action: pauseAction.optional().describe('Default: continue, if a choice is given'),
      ...answerDetails,
    }),
    output: pause,
    event: 'cairn.pause.answered',
    summary: 'Answer a pause: its run continues. The first answer counts.',
    example: { pause_id: EXAMPLE_ID, action: 'approve' },
  }),
};
