/** Use cases of handoffs: offer, read, list, reject, complete. How one is accepted is in handoff-accepting.ts. */
import { atLength, type Query, type Tx } from '../../driver/index.js';
import type { In, Out } from '../../engine/contract.js';
import { actsAs, type Call, change, endLease, listPage, putLease, type Work } from '../../engine/index.js';
import { type AgentRow, checkMayDelegate, findAgent } from '../../identity/index.js';
import { type Json, newId } from '../../kernel/contract.js';
import { CairnError, invalid } from '../../kernel/index.js';
import { canonical, sha256 } from '../../kernel/node.js';
import { openScopeOf, openTrajectoryLocked, type TrajectoryRow } from '../../memory/index.js';
import { noteOverdue } from './expiry.js';
import { HANDOFF_EXPIRES_MS, type Handoff } from './model.js';
import { movesHandoff } from './rules.js';
import {
  countHandoffs,
  findHandoff,
  type HandoffChange,
  type HandoffRow,
  insertHandoff,
  listHandoffs,
  lockHandoff,
  moveHandoff,
  openHandoffOf,
  toHandoff,
} from './store.js';
import { tellHandoff } from './telling.js';

const noHandoff = (call: Call, handoff_id: string): CairnError =>
  new CairnError('HANDOFF_NOT_FOUND', `there is no handoff ${handoff_id} in tenant ${call.tenant}`);

/** Who gives: the agent of the key, or the one that the body names. */
function giverOf(call: Call, named: string | undefined): string {
  const giver = actsAs(call, named, 'from_agent_id') ?? named;
  if (giver !== undefined) return giver;
  throw invalid('handoffs.create: from_agent_id: is needed, since this key acts for no agent');
}

/** The agent that a trajectory is offered to, as it is registered. */
export async function receiverOf(query: Query, to_agent_id: string): Promise<AgentRow> {
  const agent = await findAgent(query, to_agent_id);
  if (agent && agent.unregistered_at === null) return agent;
  const what = agent ? 'was unregistered' : 'is not registered';
  throw new CairnError('UNKNOWN_ENTITY', `to_agent_id names ${to_agent_id}, which ${what}`, {
    missing_ids: [to_agent_id],
  });
}

/** An agent gives away its own alone. What is nobody's yet, the tenant may give in the name of one. */
function refuseForeign(call: Call, trajectory: TrajectoryRow, giver: string): void {
  const { trajectory_id, agent_id } = trajectory;
  if (agent_id === giver || (agent_id === null && call.caller.agent_id === null)) return;
  throw new CairnError(
    'FORBIDDEN',
    `trajectory ${trajectory_id} is not that of ${giver}, which so cannot hand it over`,
    { rule: 'handoff_party', trajectory_id },
  );
}

/** The scope to be packed: open, of the trajectory, and not another agent's. */
async function checkScope(tx: Tx, scope_id: string, trajectory_id: string, giver: string): Promise<void> {
  const scope = await openScopeOf(tx, 'scope_id', scope_id, trajectory_id);
  if (scope.agent_id !== null && scope.agent_id !== giver) {
    throw new CairnError('FORBIDDEN', `scope ${scope_id} is of agent ${scope.agent_id}: ${giver} cannot hand it over`, {
      rule: 'handoff_party',
      scope_id,
    });
  }
}

async function refuseSecond(tx: Tx, trajectory_id: string, now: number): Promise<void> {
  const handoff_id = await openHandoffOf(tx, trajectory_id, now);
  if (handoff_id === undefined) return;
  throw new CairnError(
    'STATE_CONFLICT',
    `trajectory ${trajectory_id} is offered already: handoff ${handoff_id} is Initiated; wait until it is answered or expires`,
    { handoff_id, status: 'Initiated' },
  );
}

function sameHandoff(row: HandoffRow, sent_hash: string | null, giver: string): void {
  if (row.sent_hash === sent_hash && row.from_agent_id === giver) return;
  throw new CairnError(
    'ENTITY_ALREADY_EXISTS',
    `handoff ${row.handoff_id} exists and was made otherwise: use a new handoff_id`,
  );
}

/** Canonical JSON of what the receiver should know, or null. */
function bodyOf({ next_steps = [], blockers = [], open_questions = [] }: In<'handoffs.create'>): string | null {
  if (next_steps.length + blockers.length + open_questions.length === 0) return null;
  return canonical({ next_steps, blockers, open_questions });
}

export async function create(call: Call, input: In<'handoffs.create'>): Promise<Handoff> {
  const { to_agent_id, trajectory_id, scope_id = null, reason = null, context_snapshot = null } = input;
  const from_agent_id = giverOf(call, input.from_agent_id);
  if (from_agent_id === to_agent_id) {
    throw invalid('handoffs.create: to_agent_id: names the agent that gives: name another');
  }
  const body = bodyOf(input);
  const sent_hash = input.handoff_id === undefined ? null : sha256(canonical(input as unknown as Json));
  return change(call, {
    input,
    bytes: (body?.length ?? 0) + (reason?.length ?? 0) + (context_snapshot?.length ?? 0),
    work: async (work) => {
      const { tx, now } = work;
      const handoff_id = input.handoff_id ?? newId();
      if (input.handoff_id !== undefined) {
        const existing = await findHandoff(tx, handoff_id);
        if (existing) {
          sameHandoff(existing, sent_hash, from_agent_id);
          return toHandoff(existing, now);
        }
      }
      await checkMayDelegate(tx, from_agent_id, await receiverOf(tx, to_agent_id));
      refuseForeign(call, await openTrajectoryLocked(work, trajectory_id), from_agent_id);
      if (scope_id !== null) await checkScope(tx, scope_id, trajectory_id, from_agent_id);
      await refuseSecond(tx, trajectory_id, now);
      const expires_at = now + HANDOFF_EXPIRES_MS;
      const row: HandoffRow = {
        handoff_id,
        from_agent_id,
        to_agent_id,
        trajectory_id,
        scope_id,
        new_scope_id: null,
        context_box_id: null,
        status: 'Initiated',
        reason,
        rejection: null,
        body,
        context_snapshot,
        sent_hash,
        expires_at,
        created_at: now,
        updated_at: now,
        accepted_at: null,
        ended_at: null,
      };
      await insertHandoff(tx, row);
      const lease = { kind: 'handoff', subject_id: handoff_id, holder: to_agent_id, token: 1 } as const;
      await putLease(tx, { ...lease, expires_at });
      await tellHandoff(work, 'created', row);
      return toHandoff(row, now);
    },
    remember: ({ handoff_id }) => handoff_id,
    again: (query, kept) => readHandoff(call, query, kept as string),
  });
}

/** An agent sees what it gives or is given; a key without one sees all. */
export async function readHandoff(call: Call, query: Query, handoff_id: string): Promise<Handoff> {
  const row = await findHandoff(query, handoff_id);
  const agent = call.caller.agent_id;
  const hidden = agent !== null && agent !== row?.from_agent_id && agent !== row?.to_agent_id;
  if (!row || hidden) throw noHandoff(call, handoff_id);
  return toHandoff(row, call.driver.now());
}

export async function get(call: Call, { handoff_id }: In<'handoffs.get'>): Promise<Handoff> {
  const shown = await readHandoff(call, call.driver.at(call.tenant), handoff_id);
  // If it cannot be noted now, it is by the next that looks.
  if (shown.status === 'Expired') await noteOverdue(call, handoff_id).catch(() => undefined);
  return shown;
}

const bytesOf = ({ reason, rejection, body, context_snapshot }: HandoffRow): number =>
  Buffer.byteLength(`${reason ?? ''}${rejection ?? ''}${body ?? ''}${context_snapshot ?? ''}`);

export async function list(call: Call, input: In<'handoffs.list'>): Promise<Out<'handoffs.list'>> {
  const { driver, tenant } = call;
  const { limit, cursor, offset, order, ...asked } = input;
  const filter = { ...asked, party: call.caller.agent_id ?? undefined };
  const now = driver.now();
  const { rows, ...page } = await listPage<HandoffRow, string>(call, {
    input: { limit, cursor, offset, order },
    filters: filter as Json,
    key: 'string',
    keyOf: ({ handoff_id }) => handoff_id,
    // What no index finds is looked for among all, which may take a while.
    read: (request) => listHandoffs(atLength(driver, tenant), filter, request, now),
    bytesOf,
    count: countHandoffs(filter, now),
  });
  return { handoffs: rows.map((row) => toHandoff(row, now)), ...page };
}

export interface Answer {
  readonly handoff_id: string;
  readonly agent_id?: string | undefined;
}

/**
 * A handoff for its receiver, who alone answers it; locked. A key without an agent acts for the receiver, unless it
 * names an agent.
 */
export async function answeredLocked({ call, tx }: Work, answer: Answer): Promise<HandoffRow> {
  const { handoff_id } = answer;
  const row = await lockHandoff(tx, handoff_id);
  if (!row) throw noHandoff(call, handoff_id);
  const agent = actsAs(call, answer.agent_id, 'agent_id') ?? answer.agent_id ?? row.to_agent_id;
  if (agent === row.to_agent_id) return row;
  throw new CairnError('FORBIDDEN', `handoff ${handoff_id} is not for ${agent}: its receiver answers it`, {
    rule: 'handoff_party',
    handoff_id,
  });
}

/** Answers an offer without moving anything else. */
async function settle(
  call: Call,
  input: Answer,
  to: 'Rejected' | 'Completed',
  also: Pick<HandoffChange, 'rejection'> = {},
): Promise<Handoff> {
  const { handoff_id } = input;
  await noteOverdue(call, handoff_id);
  return change(call, {
    input,
    bytes: also.rejection?.length ?? 0,
    work: async (work) => {
      const { tx, now } = work;
      const row = await answeredLocked(work, input);
      if (!movesHandoff(row, to, now)) return toHandoff(row, now);
      const moved = { ...also, status: to, updated_at: now, ended_at: now };
      const after = await moveHandoff(tx, row, moved);
      await endLease(tx, 'handoff', handoff_id);
      await tellHandoff(work, to === 'Rejected' ? 'rejected' : 'completed', after);
      return toHandoff(after, now);
    },
    remember: () => handoff_id,
    again: (query, kept) => readHandoff(call, query, kept as string),
  });
}

export const reject = (call: Call, input: In<'handoffs.reject'>): Promise<Handoff> =>
  settle(call, input, 'Rejected', { rejection: input.reason ?? null });

export const complete = (call: Call, input: In<'handoffs.complete'>): Promise<Handoff> =>
  settle(call, input, 'Completed');
