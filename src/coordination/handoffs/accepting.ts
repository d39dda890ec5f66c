/** Accepting a handoff: moves the trajectory, packs and closes the giver's scope, in one transaction. */
import type { Tx } from '../../driver/index.js';
import type { In } from '../../engine/contract.js';
import { appendEvent, type Call, type Work } from '../../engine/index.js';
import { handoffHolder, scopeHolder } from '../../engine/sql.js';
import { makeFork } from '../../facts/index.js';
import { findBox, takeSealTime } from '../../facts/sql.js';
import { newId } from '../../kernel/contract.js';
import { CairnError } from '../../kernel/index.js';
import {
  addFormerOwner,
  addScope,
  changeOwner,
  dropFormerOwner,
  endScopes,
  lockTrajectory,
  noScope,
  refuseClosed,
  refuseFinished,
  type TrajectoryRow,
} from '../../memory/index.js';
import { findScope, lockOpenScopes, lockScopesOf, type ScopeRow } from '../../memory/sql.js';
import { jobQueue, moveJobs } from '../../recall/index.js';
import { changeAndErase } from '../erasing-change.js';
import { receiverOf } from '../packing/dispatch-targets.js';
import { passQuestions } from '../pauses/executions.js';
import { expireIfOverdue } from './expiry.js';
import type { Handoff } from './model.js';
import { moveHandoff } from './moves.js';
import { movesHandoff } from './rules.js';
import { lockForReceiver, readHandoff } from './service.js';
import type { HandoffRow } from './store.js';

interface PackedScope {
  readonly new_scope_id: string | null;
  readonly context_box_id: string | null;
  readonly closed_scope_ids: readonly string[];
}

/** Forks the giver's scope into a sealed box and a new scope of the receiver; closes it with its nested scopes. */
async function packScope(work: Work, { scope_id, to_agent_id: agent_id }: HandoffRow): Promise<PackedScope> {
  const { call, tx, now } = work;
  if (scope_id === null) return { new_scope_id: null, context_box_id: null, closed_scope_ids: [] };
  const open = await lockOpenScopes(tx, [scope_id]);
  const scope = open.find((one) => one.scope_id === scope_id) ?? (await findScope(tx, scope_id));
  if (!scope) throw noScope(scope_id);
  refuseClosed(scope);
  const source = (await findBox(tx, scope.box_id))!;
  const [context_box_id, new_scope_id, box_id] = [newId(), newId(), newId()];
  const bare = { agent_id, metadata: '{}', sent_hash: null };
  const sealed_at = await takeSealTime(tx, now);
  const packed = { ...bare, box_id: context_box_id, sealed_at, held_by: handoffHolder(context_box_id) };
  const context = await makeFork(tx, source, source.revision, packed, now);
  await makeFork(tx, context, context.revision, { ...bare, box_id, held_by: scopeHolder(new_scope_id) }, now);
  const facts = { restored_from: scope_id, box_id, turns: context.length };
  appendEvent(work, 'cairn.scope.restored', { type: 'scope', id: new_scope_id }, facts, scope.trajectory_id);
  await addScope(work, successor(scope, new_scope_id, agent_id), box_id);
  for (const job_id of await moveJobs(tx, scope_id, new_scope_id, now)) jobQueue.of(call).expect(call.tenant, job_id);
  // Nested scopes have no successor: they close as usual.
  const nested = open.filter((one) => one.scope_id !== scope_id);
  if (nested.length > 0) await endScopes(work, nested);
  await endScopes(work, [scope], 'moved');
  return { new_scope_id, context_box_id, closed_scope_ids: open.map((one) => one.scope_id) };
}

/** The receiver's scope: a copy of the giver's, without a parent. */
const successor = (scope: ScopeRow, scope_id: string, agent_id: string) => ({
  scope_id,
  trajectory_id: scope.trajectory_id,
  parent_scope_id: null,
  agent_id,
  name: scope.name,
  purpose: scope.purpose,
  subject_ids: scope.subject_ids,
  token_budget: scope.token_budget,
  tokens_used: scope.tokens_used,
  threshold: scope.threshold,
  retain: scope.retain,
  enforce: scope.enforce,
  metadata: scope.metadata,
  restored_from: scope.scope_id,
  sent_hash: null,
  summarized_turns: scope.summarized_turns,
  extracted_turns: scope.extracted_turns,
});

/** Locks the trajectory; refuses one that was deleted or has finished. A former owner may take it back. */
async function lockOffered(tx: Tx, { handoff_id, trajectory_id }: HandoffRow): Promise<TrajectoryRow> {
  const trajectory = await lockTrajectory(tx, trajectory_id);
  if (trajectory?.deleted_at === null) {
    refuseFinished(trajectory);
    return trajectory;
  }
  throw new CairnError(
    'STATE_CONFLICT',
    `trajectory ${trajectory_id} of handoff ${handoff_id} was deleted: it cannot be accepted`,
    { handoff_id, trajectory_id },
  );
}

/** Moves the trajectory of a locked handoff to its receiver; returns the closed scopes. */
async function takeOver(work: Work, handoff: HandoffRow): Promise<readonly string[]> {
  const { tx, now } = work;
  const { handoff_id, trajectory_id, from_agent_id, to_agent_id } = handoff;
  await receiverOf(tx, to_agent_id);
  const { status } = await lockOffered(tx, handoff);
  // Adding a turn locks only its scope: with the scopes locked, the giver's turns commit before, or are refused.
  await lockScopesOf(tx, [trajectory_id]);
  const { closed_scope_ids, ...packed } = await packScope(work, handoff);
  await changeOwner(tx, trajectory_id, to_agent_id, now);
  await addFormerOwner(tx, { trajectory_id, agent_id: from_agent_id, handoff_id });
  await dropFormerOwner(tx, { trajectory_id, agent_id: to_agent_id });
  await passQuestions(tx, trajectory_id, from_agent_id, to_agent_id);
  const change = { ...packed, status: 'Accepted', updated_at: now, accepted_at: now } as const;
  await moveHandoff(work, 'accepted', handoff, change);
  const facts = { status, fields: ['agent_id'], agent_id: to_agent_id };
  appendEvent(work, 'cairn.trajectory.updated', { type: 'trajectory', id: trajectory_id }, facts, trajectory_id);
  return closed_scope_ids;
}

export async function accept(call: Call, input: In<'handoffs.accept'>): Promise<Handoff> {
  await expireIfOverdue(call, input.handoff_id);
  return changeAndErase(call, {
    input,
    work: async (work) => {
      const row = await lockForReceiver(work, input);
      return movesHandoff(row, 'Accepted', work.now) ? (await takeOver(work, row)).map(scopeHolder) : [];
    },
    read: (query) => readHandoff(call, query, input.handoff_id),
  });
}
