/** Accepting a handoff: the trajectory moves, the giver's scope is packed for the receiver and closed, in one transaction. */
import type { Tx } from '../../driver/index.js';
import type { In } from '../../engine/contract.js';
import { appendEvent, type Call, change, endLease, startErasure, type Work } from '../../engine/index.js';
import { handoffHolder, scopeHolder } from '../../engine/sql.js';
import { makeFork } from '../../facts/index.js';
import { findBox, takeSealTime } from '../../facts/sql.js';
import { newId } from '../../kernel/contract.js';
import { CairnError } from '../../kernel/index.js';
import {
  addFormerOwner,
  addScope,
  dropFormerOwner,
  endScopes,
  lockTrajectory,
  moveTrajectory,
  noScope,
  refuseClosed,
  refuseFinished,
  type TrajectoryRow,
} from '../../memory/index.js';
import { findScope, lockOpenScopes, lockScopesOf, type ScopeRow } from '../../memory/sql.js';
import { jobQueue, moveJobs } from '../../recall/index.js';
import { noteOverdue } from './expiry.js';
import type { Handoff } from './model.js';
import { movesHandoff } from './rules.js';
import { answeredLocked, readHandoff, receiverOf } from './service.js';
import { type HandoffRow, moveHandoff, toHandoff } from './store.js';
import { tellHandoff } from './telling.js';

interface Packed {
  readonly new_scope_id: string | null;
  readonly context_box_id: string | null;
  readonly closed_scope_ids: readonly string[];
}

const NOTHING: Packed = { new_scope_id: null, context_box_id: null, closed_scope_ids: [] };

/**
 * Makes of the giver's scope a sealed box and a new scope that starts with it, both the receiver's, and closes it with
 * those nested in it.
 */
async function packScope(work: Work, handoff: HandoffRow): Promise<Packed> {
  const { call, tx, now } = work;
  const { tenant } = call;
  const { scope_id, to_agent_id: agent_id } = handoff;
  if (scope_id === null) return NOTHING;
  const open = await lockOpenScopes(tx, [scope_id]);
  const scope = open.find((one) => one.scope_id === scope_id) ?? (await findScope(tx, scope_id));
  if (!scope) throw noScope(scope_id);
  refuseClosed(scope);
  const source = await findBox(tx, scope.box_id);
  const context_box_id = newId();
  const sealed_at = await takeSealTime(tx, now);
  const bare = { agent_id, metadata: '{}', sent_hash: null };
  const packed = { ...bare, box_id: context_box_id, sealed_at, held_by: handoffHolder(context_box_id) };
  const context = await makeFork(tx, source!, source!.revision, packed, now);
  const new_scope_id = newId();
  const box_id = newId();
  const own = { ...bare, box_id, held_by: scopeHolder(new_scope_id) };
  await makeFork(tx, context, context.revision, own, now);
  const facts = { restored_from: scope_id, box_id, turns: context.length };
  appendEvent(work, 'cairn.scope.restored', { type: 'scope', id: new_scope_id }, facts, scope.trajectory_id);
  await addScope(work, successor(scope, new_scope_id, agent_id), box_id);
  for (const job_id of await moveJobs(tx, scope_id, new_scope_id, now)) jobQueue.of(call).expect(tenant, job_id);
  // Those nested in it do not go on: what is to be made of them is made.
  const nested = open.filter((one) => one.scope_id !== scope_id);
  if (nested.length > 0) await endScopes(work, nested);
  await endScopes(work, [scope], 'moved');
  return { new_scope_id, context_box_id, closed_scope_ids: open.map((one) => one.scope_id) };
}

/** The receiver's scope: as the giver's was, with nothing of it used up or won back. */
const successor = (scope: ScopeRow, scope_id: string, agent_id: string) => ({
  scope_id,
  trajectory_id: scope.trajectory_id,
  parent_scope_id: null,
  agent_id,
  name: scope.name,
  purpose: scope.purpose,
  token_budget: scope.token_budget,
  tokens_used: scope.tokens_used,
  threshold: scope.threshold,
  enforce: scope.enforce,
  metadata: scope.metadata,
  restored_from: scope.scope_id,
  sent_hash: null,
  summarized_turns: scope.summarized_turns,
  extracted_turns: scope.extracted_turns,
});

/** The trajectory, locked, if it can still be taken over: by a former owner of it too, who is given it back. */
async function offeredLocked(tx: Tx, { handoff_id, trajectory_id }: HandoffRow): Promise<TrajectoryRow> {
  const trajectory = await lockTrajectory(tx, trajectory_id);
  if (trajectory && trajectory.deleted_at === null) {
    refuseFinished(trajectory);
    return trajectory;
  }
  throw new CairnError(
    'STATE_CONFLICT',
    `handoff ${handoff_id} is of trajectory ${trajectory_id}, which was deleted: there is nothing to take over`,
    { handoff_id, trajectory_id },
  );
}

/** Moves the trajectory of a handoff, which is locked, to its receiver. */
async function takeOver(work: Work, handoff: HandoffRow) {
  const { tx, now } = work;
  const { handoff_id, trajectory_id, from_agent_id, to_agent_id } = handoff;
  await receiverOf(tx, to_agent_id);
  const { status } = await offeredLocked(tx, handoff);
  // Turns lock their scope alone: those of the giver come before, or find that it is a former owner.
  await lockScopesOf(tx, [trajectory_id]);
  const { closed_scope_ids, ...packed } = await packScope(work, handoff);
  await moveTrajectory(tx, trajectory_id, to_agent_id, now);
  await addFormerOwner(tx, { trajectory_id, agent_id: from_agent_id, handoff_id });
  await dropFormerOwner(tx, { trajectory_id, agent_id: to_agent_id });
  const moved = { ...packed, status: 'Accepted', updated_at: now, accepted_at: now } as const;
  const after = await moveHandoff(tx, handoff, moved);
  await endLease(tx, 'handoff', handoff_id);
  await tellHandoff(work, 'accepted', after);
  const facts = { status, fields: ['agent_id'], agent_id: to_agent_id };
  appendEvent(work, 'cairn.trajectory.updated', { type: 'trajectory', id: trajectory_id }, facts, trajectory_id);
  return { after, closed_scope_ids };
}

export async function accept(call: Call, input: In<'handoffs.accept'>): Promise<Handoff> {
  const { handoff_id } = input;
  let closed: readonly string[] = [];
  await noteOverdue(call, handoff_id);
  const answer = await change(call, {
    input,
    work: async (work) => {
      const { now } = work;
      // It may run more than once, until it is committed.
      closed = [];
      const row = await answeredLocked(work, input);
      if (!movesHandoff(row, 'Accepted', now)) return toHandoff(row, now);
      const { after, closed_scope_ids } = await takeOver(work, row);
      closed = closed_scope_ids;
      return toHandoff(after, now);
    },
    remember: () => handoff_id,
    again: (query, kept) => readHandoff(call, query, kept as string),
  });
  if (closed.length > 0) startErasure(call, closed.map(scopeHolder));
  return answer;
}
