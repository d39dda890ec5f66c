/** Operations on scopes (seed path: /scopes). */
import { z } from 'zod';
import { clearable, ofUser, operation, reads, writes } from '../../engine/contract.js';
import { retain } from '../../identity/contract.js';
import {
  anyId,
  computed,
  initialValue,
  pageInput,
  pageOutput,
  smallMetadata,
  subjectIds,
  text,
  uuid,
} from '../../kernel/contract.js';
import { artifact } from '../artifacts/model.js';
import { turn } from '../turns/model.js';
import { agentFilter, name, namePrefix, READ, timeFilters } from '../versions/model.js';
import {
  closedScope,
  contextState,
  DEFAULT_THRESHOLD_PERCENT,
  DEFAULT_TOKEN_BUDGET,
  scope,
  thresholdPercent,
  tokenBudget,
} from './model.js';

const A_SCOPE = '0190a1b2-c3d4-7e5f-8a9b-0c1d2e3f4a5c';
const A_TRAJECTORY = '0190a1b2-c3d4-7e5f-8a9b-0c1d2e3f4a5b';
const byId = { scope_id: uuid };

const changeable = {
  name: name.optional(),
  purpose: text(20_000).nullish(),
  token_budget: clearable(tokenBudget, DEFAULT_TOKEN_BUDGET),
  threshold_percent: clearable(thresholdPercent, DEFAULT_THRESHOLD_PERCENT),
  enforce: clearable(z.boolean(), false).describe('Refuse turns that exceed the budget'),
  retain: retain
    .nullish()
    .describe('What closing leaves: digest or nothing; default: as the settings of the tenant say'),
  metadata: clearable(smallMetadata, {}),
};

export const scopes = {
  create: operation({
    method: 'POST',
    path: '/api/v1/scopes',
    input: z.strictObject({
      ...changeable,
      scope_id: uuid.optional().describe('Default: a new id'),
      trajectory_id: uuid,
      parent_scope_id: uuid.nullish().describe('An open scope of the same trajectory in which it is nested'),
      name,
      token_budget: tokenBudget.optional().describe('Default: 8,000'),
      threshold_percent: thresholdPercent.optional().describe('Default: 80'),
      agent_id: anyId.nullish(),
      subject_ids: subjectIds.optional(),
      box_id: computed,
      tokens_used: computed,
      turns: computed,
      threshold_reached_at: computed,
      is_active: initialValue(true),
      checkpoint: computed,
      restored_from: computed,
      erasure: computed,
      created_at: computed,
      updated_at: computed,
      closed_at: initialValue(null),
    }),
    output: scope,
    access: 'write',
    touches: [
      ofUser(writes('Trajectory', 'trajectory_id'), 'shared'),
      ofUser(writes('Scope', 'scope_id', 'parent_scope_id'), 'shared'),
    ],
    event: 'cairn.scope.created',
    status: 201,
    summary: 'Open a context window in a trajectory.',
    example: { trajectory_id: A_TRAJECTORY, name: 'Implementation', token_budget: 8000 },
  }),
  get: operation({
    ...READ,
    path: '/api/v1/scopes/{scope_id}',
    input: z.strictObject(byId),
    output: scope,
    touches: [reads('Scope', 'scope_id'), reads('Turn', 'listed')],
    summary: 'Read one scope, with its budget and its checkpoint.',
    example: { scope_id: A_SCOPE },
  }),
  list: operation({
    ...READ,
    path: '/api/v1/scopes',
    input: z.strictObject({
      trajectory_id: uuid.optional(),
      parent_scope_id: uuid.optional(),
      status: z.enum(['active', 'closed']).optional(),
      agent_id: agentFilter,
      name: namePrefix,
      ...timeFilters,
      ...pageInput,
    }),
    output: z.object({ scopes: z.array(scope), ...pageOutput }),
    touches: [reads('Scope', 'listed'), reads('Turn', 'listed')],
    summary: 'List scopes, in the order of their ids.',
    example: { status: 'active' },
  }),
  update: operation({
    method: 'PATCH',
    path: '/api/v1/scopes/{scope_id}',
    input: z.strictObject({ ...byId, ...changeable }),
    output: scope,
    access: 'write',
    touches: [writes('Scope', 'scope_id'), reads('Turn', 'listed')],
    event: 'cairn.scope.updated',
    summary: 'Update an open scope.',
    example: { scope_id: A_SCOPE, token_budget: 16000 },
  }),
  checkpoint: operation({
    method: 'POST',
    path: '/api/v1/scopes/{scope_id}/checkpoint',
    input: z.strictObject({
      ...byId,
      context_state: contextState
        .nullish()
        .describe('Up to 1 MiB, as base64 or, below about 199,000 bytes, as a list of bytes; answered as base64'),
      recoverable: z.boolean().optional().describe('Keep the turns, so that it can be restored; default: true'),
    }),
    output: scope,
    access: 'write',
    touches: [writes('Turn', 'scope_id')],
    event: 'cairn.scope.checkpointed',
    status: 201,
    summary: 'Checkpoint an open scope, replacing its previous checkpoint.',
    example: { scope_id: A_SCOPE, context_state: 'eyJzdGVwIjoyfQ==' },
  }),
  restore: operation({
    method: 'POST',
    path: '/api/v1/scopes/{scope_id}/restore',
    input: z.strictObject({
      ...byId,
      name: name.optional(),
      token_budget: tokenBudget.optional(),
      allow_erased: z.boolean().optional().describe('Restore it although turns of it were forgotten; default: false'),
    }),
    output: scope.extend({ context_state: z.string().nullable().describe('Of the checkpoint') }),
    access: 'write',
    touches: [reads('Turn', 'scope_id'), writes('Turn', 'scope_id')],
    event: 'cairn.scope.restored',
    status: 201,
    summary: 'Create a scope from the checkpoint of another, open or closed.',
    example: { scope_id: A_SCOPE },
  }),
  close: operation({
    method: 'POST',
    path: '/api/v1/scopes/{scope_id}/close',
    input: z.strictObject({ ...byId, wait: z.boolean().optional().describe('Wait until the content is erased') }),
    output: closedScope,
    access: 'write',
    touches: [writes('Scope', 'scope_id')],
    event: 'cairn.scope.closed',
    summary: 'Close a scope and its nested scopes: their turns become unreadable at once and are then erased.',
    example: { scope_id: A_SCOPE },
  }),
  turns: operation({
    ...READ,
    path: '/api/v1/scopes/{scope_id}/turns',
    input: z.strictObject({
      ...byId,
      ...pageInput,
      tail: z
        .int()
        .min(1)
        .max(500)
        .optional()
        .describe('Only the last turns, up to this number; not with limit, cursor or offset'),
    }),
    output: z.object({ turns: z.array(turn), ...pageOutput }),
    touches: [reads('Turn', 'scope_id')],
    summary: 'Read the turns of an open scope, in order.',
    example: { scope_id: A_SCOPE },
  }),
  artifacts: operation({
    ...READ,
    path: '/api/v1/scopes/{scope_id}/artifacts',
    input: z.strictObject({ ...byId, ...pageInput }),
    output: z.object({ artifacts: z.array(artifact), ...pageOutput }),
    touches: [reads('Scope', 'scope_id'), reads('Artifact', 'listed')],
    summary: 'List the artifacts of a scope.',
    example: { scope_id: A_SCOPE },
  }),
};
