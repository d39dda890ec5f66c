/** Operations on agent_turns (paths: /projects/{project_id}/agent_turns). */
import { z } from 'zod';
import { makes, operation, reads } from '../../engine/contract.js';
import { card, cardIds, cardInput, hydrated, promptFormat } from '../../facts/contract.js';
import { anyId, pageInput, pageOutput, profileName, text, uuid } from '../../kernel/contract.js';
import { EXAMPLE_ID, READ, WRITE } from '../party-operations.js';
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

const byId = { agent_turn_id: uuid };
const held = { agent_turn_id: EXAMPLE_ID, turn_epoch: 1 };

/** A step of an agent_turn by its holder. */
const STEP = { ...WRITE, output: agentTurn, example: held } as const;

export const agent_turns = {
  list: operation({
    ...READ,
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
    summary: 'List agent_turns.',
    example: {},
  }),
  get: operation({
    ...READ,
    path: '/projects/{project_id}/agent_turns/{agent_turn_id}',
    input: z.strictObject({ ...byId, wait_ms: waitMs.optional().describe('How long to wait for its end. Default: 0') }),
    output: agentTurn,
    waits: true,
    summary: 'Read an agent_turn; can wait for its end.',
    example: { agent_turn_id: EXAMPLE_ID },
  }),
  claim: operation({
    ...WRITE,
    path: '/projects/{project_id}/agent_turns/claim',
    input: z.strictObject({
      worker_id: workerId,
      profile_name: profileName.optional().describe('Only agent_turns of this profile'),
      agent_id: anyId.optional().describe('Only agent_turns of this agent'),
      agent_turn_id: uuid.optional().describe('Only this agent_turn'),
      lease_ms: turnLease.optional(),
      wait_ms: waitMs.optional(),
    }),
    output: z.object({ agent_turn: agentTurn.nullable().describe('null if there is none to claim') }),
    event: 'cairn.agent_turn.claimed',
    waits: true,
    summary: 'Claim the oldest dispatched agent_turn, under a lease.',
    example: { worker_id: 'worker-1', profile_name: 'researcher' },
  }),
  renew: operation({
    ...STEP,
    path: '/projects/{project_id}/agent_turns/{agent_turn_id}/renew',
    input: z.strictObject({ ...heldTurn, lease_ms: turnLease.optional() }),
    event: null,
    summary: 'Renew the lease of an agent_turn: a heartbeat of the worker.',
  }),
  append: operation({
    method: 'POST',
    path: '/projects/{project_id}/agent_turns/{agent_turn_id}/append',
    input: z.strictObject({ ...heldTurn, cards: z.array(cardInput).min(1).max(100) }),
    output: z.object({ output_box_id: z.string(), revision: z.int(), length: z.int(), cards: z.array(card) }),
    access: 'write',
    touches: ['parties', reads('Card', 'named')],
    event: 'cairn.agent_turn.appended',
    summary: 'Append cards to the output box, as the holder.',
    example: { ...held, cards: [{ content: 'I see.', metadata: { type: 'agent.thought', role: 'assistant' } }] },
  }),
  replace_box: operation({
    ...STEP,
    path: '/projects/{project_id}/agent_turns/{agent_turn_id}/replace_box',
    input: z.strictObject({
      ...heldTurn,
      box: z.enum(['context', 'output']),
      card_ids: cardIds.describe('The cards of the new box, in order'),
    }),
    event: 'cairn.agent_turn.box_replaced',
    summary: 'Replace the context or output box, for example by a shorter one. The old box is kept.',
    example: { ...held, box: 'context', card_ids: ['card-1'] },
  }),
  suspend: operation({
    ...STEP,
    path: '/projects/{project_id}/agent_turns/{agent_turn_id}/suspend',
    input: z.strictObject({ ...heldTurn, lease_ms: turnLease.optional().describe('Default: 900,000') }),
    event: 'cairn.agent_turn.suspended',
    summary: 'Suspend an agent_turn that waits for something, such as other agents.',
  }),
  resume: operation({
    ...STEP,
    path: '/projects/{project_id}/agent_turns/{agent_turn_id}/resume',
    input: z.strictObject({ ...heldTurn, lease_ms: turnLease.optional() }),
    event: 'cairn.agent_turn.resumed',
    summary: 'Resume a suspended agent_turn.',
  }),
  complete: operation({
    ...STEP,
    path: '/projects/{project_id}/agent_turns/{agent_turn_id}/complete',
    input: z.strictObject({
      ...heldTurn,
      deliverable,
      status: resultStatus.optional().describe('Default: success'),
      summary: text(20_000).optional(),
      artifact_ids: z
        .array(uuid)
        .max(1000)
        .optional()
        .describe('Artifacts of the result. Without it the outcome of its trajectory names all artifacts of that'),
    }),
    event: 'cairn.agent_turn.completed',
    summary: 'Complete an agent_turn with its deliverable, which becomes the last card of the output box.',
    example: { ...held, deliverable: 'It is 42.' },
  }),
  fail: operation({
    ...STEP,
    path: '/projects/{project_id}/agent_turns/{agent_turn_id}/fail',
    input: z.strictObject({ ...heldTurn, error: turnError }),
    event: 'cairn.agent_turn.failed',
    summary: 'Fail an agent_turn with an error.',
    example: { ...held, error: { code: 'NO_SOURCE', message: 'No source was found.' } },
  }),
  stop: operation({
    ...WRITE,
    path: '/projects/{project_id}/agent_turns/{agent_turn_id}/stop',
    input: z.strictObject({ ...byId, reason: text(20_000).optional() }),
    output: agentTurn,
    event: 'cairn.agent_turn.stopped',
    summary: 'Stop an agent_turn and its descendants, as its delegator or its agent.',
    example: { agent_turn_id: EXAMPLE_ID },
  }),
  hydrate: operation({
    ...WRITE,
    path: '/projects/{project_id}/agent_turns/{agent_turn_id}/hydrate',
    input: z.strictObject({ ...heldTurn, format: promptFormat.optional() }),
    output: hydrated,
    event: 'cairn.agent_turn.hydrated',
    summary: 'Render the current prompt for the model and record it as a step.',
    example: { ...held, format: 'openai' },
  }),
  replay: operation({
    ...READ,
    path: '/projects/{project_id}/agent_turns/{agent_turn_id}/replay',
    input: z.strictObject({
      ...byId,
      step: z.int().min(1).optional().describe('The number of the step. Default: the last'),
    }),
    output: hydrated,
    summary: 'Replay the prompt of a step, byte for byte.',
    example: { agent_turn_id: EXAMPLE_ID },
  }),
  fork: operation({
    method: 'POST',
    path: '/projects/{project_id}/agent_turns/{agent_turn_id}/fork',
    input: z.strictObject({
      ...byId,
      profile_name: profileName.optional().describe('Default: the same profile'),
      instruction: text(1_000_000, 1).optional().describe('Replaces the original instruction'),
      without_card_ids: z.array(anyId).max(1000).optional().describe('Cards to leave out of the context'),
      add_cards: z.array(cardInput).max(100).optional().describe('Cards to add at the end of the context'),
      include_output: z.boolean().optional().describe('Include the output of the original'),
      channel_id: anyId.optional(),
    }),
    output: agentTurn,
    access: 'write',
    touches: ['parties', makes('Card')],
    event: 'cairn.agent_turn.forked',
    status: 201,
    summary: 'Fork an agent_turn: dispatch a new one from the same context, with changes.',
    example: { agent_turn_id: EXAMPLE_ID, instruction: 'Look it up, but in another book.' },
  }),
};
