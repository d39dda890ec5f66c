/** Finishing a trajectory, which closes its scopes and records its outcome, and deleting a trajectory tree. */
import type { Query, Tx } from '../../driver/index.js';
import type { In } from '../../engine/contract.js';
import { type Call, change, event, startErasure, type Work, waitForErasure } from '../../engine/index.js';
import { addEndings, scopeHolder, sessionHolder } from '../../engine/sql.js';
import { trajectoryWriteReach } from '../../identity/index.js';
import { CairnError, notFound } from '../../kernel/index.js';
import { trajectoryBeyond } from '../access/reach.js';
import { settleEdges } from '../edges/store.js';
import { endScopes } from '../scopes/closing.js';
import { lockScopesOf } from '../scopes/store.js';
import { refuseUnknownMemories } from '../versions/sources.js';
import { finishingHooks, treeDeletions } from './ending-hooks.js';
import { formerOwnerRefusal } from './former-owners.js';
import type { Outcome, OutcomeInput } from './model.js';
import { artifactsOf, notesFrom } from './outputs.js';
import { clearTrajectories, deleteEdgesBelow, endedBelow, endTrajectories, lockTree } from './removal-store.js';
import type { FinalStatus } from './rules.js';
import { activeChildren, findTrajectory } from './store.js';

/** Maximum number of ids in an outcome of either kind, in an error, and in an event. */
const MAX_PRODUCED = 1000;
const MAX_NAMED = 100;
const IDS_PER_EVENT = 1000;

interface Finish {
  readonly trajectory_id: string;
  readonly status: FinalStatus;
  readonly outcome?: OutcomeInput | undefined;
}

interface Finished {
  readonly outcome: Outcome;
  readonly finished_at: number;
  /** Holders that ended with it. */
  readonly ended: readonly string[];
  readonly closed_scope_ids: readonly string[];
}

/** The ids that an outcome names, without duplicates. */
const producedOf = ({ outcome = {} }: Finish) => ({
  artifact: outcome.produced_artifacts && [...new Set(outcome.produced_artifacts)],
  note: outcome.produced_notes && [...new Set(outcome.produced_notes)],
});

/** Refuses to finish a trajectory with active children, or with an outcome that names unknown entities. */
export async function checkFinish(call: Call, query: Query, what: Finish, now: number): Promise<void> {
  const { trajectory_id, status } = what;
  const active = status === 'Completed' ? await activeChildren(query, trajectory_id, MAX_NAMED) : [];
  if (active.length > 0)
    throw new CairnError(
      'STATE_CONFLICT',
      `trajectory ${trajectory_id} has Active children: finish or suspend them first: ${active.slice(0, 3).join(', ')}`,
      { active_child_ids: active },
    );
  const named = producedOf(what);
  // Checks reach as well: an outcome must not reveal whether an unreadable entity exists.
  const within = { call, query, now };
  await refuseUnknownMemories(within, 'artifact', 'outcome.produced_artifacts', named.artifact ?? []);
  await refuseUnknownMemories(within, 'note', 'outcome.produced_notes', named.note ?? []);
}

/** Closes the open scopes of a locked trajectory and ends its session. */
export async function finish(work: Work, what: Finish): Promise<Finished> {
  const { call, tx, now } = work;
  const { trajectory_id, status, outcome: given = {} } = what;
  await checkFinish(call, tx, what, now);
  const named = producedOf(what);
  const scopes = await lockScopesOf(tx, [trajectory_id]);
  const finished_at = await endScopes(work, scopes);
  const session = sessionHolder(trajectory_id);
  await addEndings(tx, [{ holder: session, ended_at: finished_at, thread_id: trajectory_id, box_id: null }]);
  // Read after the endings, so that the outcome does not name content that ends with the trajectory.
  const outcome: Outcome = {
    status: given.status ?? (status === 'Completed' ? 'Success' : 'Failure'),
    summary: given.summary ?? '',
    produced_artifacts: named.artifact ?? (await artifactsOf(tx, trajectory_id, now, MAX_PRODUCED)),
    produced_notes: named.note ?? (await notesFrom(tx, trajectory_id, now, MAX_PRODUCED)),
  };
  const closed_scope_ids = scopes.map(({ scope_id }) => scope_id);
  return { outcome, finished_at, ended: [...closed_scope_ids.map(scopeHolder), session], closed_scope_ids };
}

/** Refuses to delete a tree that contains a trajectory of another agent, unless it was made on behalf of the caller. */
async function refuseForeignBelow({ call, tx }: Work, trajectory_ids: readonly string[]): Promise<void> {
  const reach = trajectoryWriteReach(call);
  const foreign = reach && (await trajectoryBeyond(tx, trajectory_ids, reach));
  if (foreign === undefined) return;
  throw new CairnError(
    'FORBIDDEN',
    `agent ${reach!.agent_id} may not delete this tree: a trajectory in it is another agent's; finish yours instead`,
    { rule: 'memory_access', memory_type: 'Trajectory', need: 'write', scope: reach!.extent },
  );
}

/** Deletes a trajectory tree. Returns the holders whose content is to be erased. */
export async function removeIn(work: Work, trajectory_id: string): Promise<string[]> {
  const { call, tx, now } = work;
  if (!(await findTrajectory(tx, trajectory_id))) throw notFound(tx, 'trajectory', trajectory_id);
  const others = Array.from(treeDeletions, ([, begin]) => begin(work));
  for (const other of others) await other.lockBeforeTree?.(trajectory_id);
  const ids = await lockTree(tx, trajectory_id);
  // Deleted before, but the erasure can still be running.
  if (ids.length === 0) return endedBelow(tx, trajectory_id);
  const refusal = await formerOwnerRefusal(call, tx, ids);
  if (refusal) throw refusal;
  await refuseForeignBelow(work, ids);
  const ended: string[] = [];
  for (const other of others) ended.push(...((await other.stop?.(ids, now)) ?? []));
  const scopes = await lockScopesOf(tx, ids);
  for (const other of others) await other.lockAfterScopes?.(ids);
  const deleted_at = await endScopes(work, scopes, 'deleted');
  for (const other of others) await other.remove?.(ids, deleted_at, now);
  await endTrajectories(tx, ids, deleted_at);
  for (const other of others) await other.addEndings?.(ids, deleted_at);
  await clearTrajectories(tx, ids, deleted_at);
  for (const other of others) await other.clear?.(ids, deleted_at);
  ended.push(...(await finishingHooks.get('tasks').finishAbove({ ...work, now: deleted_at }, trajectory_id)));
  const edge_ids = await deleteEdgesBelow(tx, ids);
  for (let from = 0; from < ids.length; from += IDS_PER_EVENT) {
    const facts = { trajectory_ids: ids.slice(from, from + IDS_PER_EVENT), trajectories: ids.length };
    const entity = { type: 'trajectory', id: trajectory_id };
    const packet = event(work, 'cairn.trajectory.deleted', entity, facts, trajectory_id);
    const settle = (settling: Tx, recorded_at: number) => settleEdges(settling, edge_ids, recorded_at);
    tx.journal(from === 0 ? { ...packet, settle } : packet);
  }
  return [...ended, ...(await endedBelow(tx, trajectory_id))];
}

export async function remove(call: Call, input: In<'trajectories.delete'>): Promise<void> {
  const ended = await change<readonly string[]>(call, {
    input,
    work: (work) => removeIn(work, input.trajectory_id),
    remember: () => null,
    again: (query) => endedBelow(query, input.trajectory_id),
  });
  if (input.wait) await waitForErasure(call, ended);
  else if (ended.length > 0) startErasure(call, ended);
}
