/** Operations on agent_turns (paths: /projects/{project_id}/agent_turns). */
import { z } from 'zod';
import { operation } from '../../engine/contract/operation.js';
import { makes, reads } from '../../engine/contract/touches.js';
import { cardIds } from '../../facts/boxes/model.js';
import { card, cardInput } from '../../facts/cards/model.js';
import { hydrated, promptFormat } from '../../facts/transcripts/model.js';
import { pageInput, pageOutput } from '../../kernel/common.js';
import { anyId, profileName, uuid } from '../../kernel/ids.js';
import { text } from '../../kernel/json.js';
import {
  agentTurn,
  agentTurnStatus,
  deliverable,
  heldTurn,
  resultStatus,
  turnError,
  turnLease,
  waitMs,
  workerId,
} from './model.js';

const TURN = '0190a1b2-c3d4-7e5f-8a9b-0c1d2e3f4a5b';
const byId = { agent_turn_id: uuid };
const held = { agent_turn_id: TURN, turn_epoch: 1 };

export const agent_turns = {
  list: operation({
    method: 'GET',
    path: '/projects/{project_id}/agent_turns',
    input: z.strictObject({
      agent_id: anyId.optional(),
      status: agentTurnStatus.optional(),
      profile_name: profileName.optional(),
      trajectory_id: uuid.optional(),
      parent_agent_turn_id: uuid.optional(),
      batch_id: uuid.optional(),
      channel_id: anyId.optional(),
      ...pageInput,
    }),
    output: z.object({ agent_turns: z.array(agentTurn), ...pageOutput }),
    access: 'read',
    touches: 'parties',
    event: null,
    summary: 'List agent_turns.',
    example: {},
  }),
  get: operation({
    method: 'GET',
    path: '/projects/{project_id}/agent_turns/{agent_turn_id}',
    input: z.strictObject({ ...byId, wait_ms: waitMs.optional().describe('How long to wait for its end') }),
    output: agentTurn,
    access: 'read',
    touches: 'parties',
    event: null,
    waits: true,
    summary: 'Read an agent_turn; waits for its end if asked to.',
    example: { agent_turn_id: TURN },
  }),
  claim: operation({
    method: 'POST',
    path: '/projects/{project_id}/agent_turns/claim',
    input: z.strictObject({
      worker_id: workerId,
      profile_name: profileName.optional().describe('Only what was dispatched for this profile'),
      agent_id: anyId.optional().describe('Only what was dispatched to this agent'),
      agent_turn_id: uuid.optional().describe('Only this one'),
      lease_ms: turnLease.optional(),
      wait_ms: waitMs.optional(),
    }),
    output: z.object({ agent_turn: agentTurn.nullable().describe('null when there is none') }),
    access: 'write',
    touches: 'parties',
    event: 'cairn.agent_turn.claimed',
    waits: true,
    summary: 'Claim the oldest agent_turn that waits for a worker, with a lease.',
    example: { worker_id: 'worker-1', profile_name: 'researcher' },
  }),
  renew: operation({
    method: 'POST',
    path: '/projects/{project_id}/agent_turns/{agent_turn_id}/renew',
    input: z.strictObject({ ...heldTurn, lease_ms: turnLease.optional() }),
    output: agentTurn,
    access: 'write',
    touches: 'parties',
    event: null,
    summary: 'Renew the lease: the worker is still there.',
    example: held,
  }),
  append: operation({
    method: 'POST',
    path: '/projects/{project_id}/agent_turns/{agent_turn_id}/append',
    input: z.strictObject({ ...heldTurn, cards: z.array(cardInput).min(1).max(100) }),
    output: z.object({
      output_box_id: z.string(),
      revision: z.int(),
      length: z.int(),
      cards: z.array(card),
    }),
    access: 'write',
    touches: ['parties', reads('Card', 'named')],
    event: 'cairn.agent_turn.appended',
    summary: 'Append cards to the output box: by the holder alone.',
    example: {
      ...held,
      cards: [{ content: 'I see.', metadata: { type: 'agent.thought', role: 'assistant' } }],
    },
  }),
  replace_box: operation({
    method: 'POST',
    path: '/projects/{project_id}/agent_turns/{agent_turn_id}/replace_box',
    input: z.strictObject({
      ...heldTurn,
      box: z.enum(['context', 'output']),
      card_ids: cardIds.describe('What the new box has, in order: cards that are there'),
    }),
    output: agentTurn,
    access: 'write',
    touches: 'parties',
    event: 'cairn.agent_turn.box_replaced',
    summary:
      'Put a new box in the place of the context or the output, such as a shorter one. The old one stays.',
    example: { ...held, box: 'context', card_ids: ['card-1'] },
  }),
  suspend: operation({
    method: 'POST',
    path: '/projects/{project_id}/agent_turns/{agent_turn_id}/suspend',
    input: z.strictObject({
      ...heldTurn,
      lease_ms: turnLease.optional().describe('How long it may stay so: 900,000 unless given'),
    }),
    output: agentTurn,
    access: 'write',
    touches: 'parties',
    event: 'cairn.agent_turn.suspended',
    summary: 'Suspend it: it waits for something, such as other agents.',
    example: held,
  }),
  resume: operation({
    method: 'POST',
    path: '/projects/{project_id}/agent_turns/{agent_turn_id}/resume',
    input: z.strictObject({ ...heldTurn, lease_ms: turnLease.optional() }),
    output: agentTurn,
    access: 'write',
    touches: 'parties',
    event: 'cairn.agent_turn.resumed',
    summary: 'Go on with what was suspended.',
    example: held,
  }),
  complete: operation({
    method: 'POST',
    path: '/projects/{project_id}/agent_turns/{agent_turn_id}/complete',
    input: z.strictObject({
      ...heldTurn,
      deliverable,
      status: resultStatus.optional().describe('success unless given'),
      summary: text(20_000).optional(),
      artifact_ids: z
        .array(uuid)
        .max(1000)
        .optional()
        .describe('What it produced: those of its trajectory unless given'),
    }),
    output: agentTurn,
    access: 'write',
    touches: 'parties',
    event: 'cairn.agent_turn.completed',
    summary: 'End it with its deliverable, which becomes the last card of the output box.',
    example: { ...held, deliverable: 'It is 42.' },
  }),
  fail: operation({
    method: 'POST',
    path: '/projects/{project_id}/agent_turns/{agent_turn_id}/fail',
    input: z.strictObject({ ...heldTurn, error: turnError }),
    output: agentTurn,
    access: 'write',
    touches: 'parties',
    event: 'cairn.agent_turn.failed',
    summary: 'End it as failed, and say why.',
    example: { ...held, error: { code: 'NO_SOURCE', message: 'Nothing is known of it.' } },
  }),
  stop: operation({
    method: 'POST',
    path: '/projects/{project_id}/agent_turns/{agent_turn_id}/stop',
    input: z.strictObject({ ...byId, reason: text(20_000).optional() }),
    output: agentTurn,
    access: 'write',
    touches: 'parties',
    event: 'cairn.agent_turn.stopped',
    summary: 'Stop it and what it has delegated: by its delegator, whoever holds it.',
    example: { agent_turn_id: TURN },
  }),
  hydrate: operation({
    method: 'POST',
    path: '/projects/{project_id}/agent_turns/{agent_turn_id}/hydrate',
    input: z.strictObject({ ...heldTurn, format: promptFormat.optional() }),
    output: hydrated,
    access: 'write',
    touches: 'parties',
    event: 'cairn.agent_turn.hydrated',
    summary: 'Give what the model sees now, ready for a call, and keep a record of it.',
    example: { ...held, format: 'openai' },
  }),
  replay: operation({
    method: 'GET',
    path: '/projects/{project_id}/agent_turns/{agent_turn_id}/replay',
    input: z.strictObject({
      ...byId,
      step: z.int().min(1).optional().describe('Which time it was hydrated: the last unless given'),
    }),
    output: hydrated,
    access: 'read',
    touches: 'parties',
    event: null,
    summary: 'Give again, byte for byte, what the model saw.',
    example: { agent_turn_id: TURN },
  }),
  fork: operation({
    method: 'POST',
    path: '/projects/{project_id}/agent_turns/{agent_turn_id}/fork',
    input: z.strictObject({
      ...byId,
      profile_name: profileName.optional().describe('Another profile'),
      instruction: text(1_000_000, 1).optional().describe('In the place of the one that it had'),
      without_card_ids: z.array(anyId).max(1000).optional().describe('What is left out of the context'),
      add_cards: z.array(cardInput).max(100).optional().describe('What comes behind it'),
      include_output: z.boolean().optional().describe('Also what it had put out'),
      channel_id: anyId.optional(),
    }),
    output: agentTurn,
    access: 'write',
    touches: ['parties', makes('Card')],
    event: 'cairn.agent_turn.forked',
    status: 201,
    summary: 'Start a new agent_turn from the same context, with changes.',
    example: { agent_turn_id: TURN, instruction: 'Look it up, but in another book.' },
  }),
};
