/** Operations on turns (seed path: /turns). */
import { z } from 'zod';
import { makes, operation, reads, writes } from '../../engine/contract.js';
import { uuid } from '../../kernel/contract.js';
import { batchOf, batchResult, READ } from '../versions/model.js';
import { addedTurn, turn, turnInput } from './model.js';

const A_SCOPE = '0190a1b2-c3d4-7e5f-8a9b-0c1d2e3f4a5c';
const AN_EXAMPLE = { scope_id: A_SCOPE, role: 'User', content: 'Login fails for long names.' };

export const turns = {
  add: operation({
    method: 'POST',
    path: '/api/v1/turns',
    input: turnInput,
    output: addedTurn,
    access: 'write',
    touches: [makes('Turn', 'scope_id')],
    event: 'cairn.turn.added',
    status: 201,
    summary: 'Add a turn to an open scope. The answer includes the budget used so far.',
    example: AN_EXAMPLE,
  }),
  get: operation({
    ...READ,
    path: '/api/v1/turns/{turn_id}',
    input: z.strictObject({ turn_id: uuid }),
    output: turn,
    touches: [reads('Turn', 'turn_id')],
    summary: 'Read one turn of an open scope.',
    example: { turn_id: '0190a1b2-c3d4-7e5f-8a9b-0c1d2e3f4a5d' },
  }),
  batch: operation({
    method: 'POST',
    path: '/api/v1/turns/batch',
    input: batchOf(z.strictObject({ operation: z.literal('create').optional(), create: turnInput })),
    output: batchResult(addedTurn),
    access: 'write',
    touches: [writes('Turn', 'items')],
    event: 'cairn.turn.added',
    summary: 'Add up to 1,000 turns, in order, each with its own result.',
    example: { items: [{ operation: 'create', create: AN_EXAMPLE }] },
  }),
};
