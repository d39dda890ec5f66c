/** Use cases of handoffs: create, get, list, reject, complete. `accept` is in accepting.ts. */
import { longQuery, type Query, type Tx } from '../../driver/index.js';
import type { In, Out } from '../../engine/contract.js';
import { type Call, change, listPage, putLease, type Work } from '../../engine/index.js';
import { checkMayDelegate } from '../../identity/index.js';
import { type Json, newId } from '../../kernel/contract.js';
import { CairnError, invalid, notFound } from '../../kernel/index.js';
import { canonical, sha256 } from '../../kernel/node.js';
import { openScopeOf, openTrajectoryLocked, type TrajectoryRow } from '../../memory/index.js';
import { agentOf, requiredAgent } from '../acting-agent.js';
import { receiverOf } from '../packing/dispatch-targets.js';
import { expireIfOverdue } from './expiry.js';
import { HANDOFF_EXPIRES_MS, type Handoff } from './model.js';
import { announceHandoff, moveHandoff } from './moves.js';
import { movesHandoff } from './rules.js';
import {
  countHandoffs,
  findHandoff,
  type HandoffRow,
  insertHandoff,
  listHandoffs,
  lockHandoff,
  openHandoffOf,
  toHandoff,
} from './store.js';

/** An agent hands over only its own trajectories. A key without an agent may also hand over unowned ones. */
function refuseForeign(call: Call, { trajectory_id, agent_id }: TrajectoryRow, giver: string): void {
  if (agent_id === giver || (agent_id === null && call.caller.agent_id === null)) return;
  throw new CairnError('FORBIDDEN', `trajectory ${trajectory_id} is not owned by ${giver}, which cannot hand it over`, {
    rule: 'handoff_party',
    trajectory_id,
  });
}

/** The scope must be open, in the trajectory, and not another agent's. */
async function checkScope(tx: Tx, scope_id: string, trajectory_id: string, giver: string): Promise<void> {
  const { agent_id } = await openScopeOf(tx, 'scope_id', scope_id, trajectory_id);
  if (agent_id === null || agent_id === giver) return;
  throw new CairnError('FORBIDDEN', `scope ${scope_id} belongs to agent ${agent_id}: ${giver} cannot hand it over`, {
    rule: 'handoff_party',
    scope_id,
  });
}

async function refuseSecond(tx: Tx, trajectory_id: string, now: number): Promise<void> {
  const handoff_id = await openHandoffOf(tx, trajectory_id, now);
  if (handoff_id === undefined) return;
  throw new CairnError(
    'STATE_CONFLICT',
    `trajectory ${trajectory_id} is already offered by handoff ${handoff_id}: wait until it is answered or expires`,
    { handoff_id, status: 'Initiated' },
  );
}

function sameHandoff(row: HandoffRow, sent_hash: string | null, giver: string): void {
  if (row.sent_hash === sent_hash && row.from_agent_id === giver) return;
  throw new CairnError(
    'ENTITY_ALREADY_EXISTS',
    `handoff ${row.handoff_id} already exists with different content: use a new handoff_id`,
  );
}

/** The hints for the receiver as canonical JSON, or null. */
function bodyOf({ next_steps = [], blockers = [], open_questions = [] }: In<'handoffs.create'>): string | null {
  if (next_steps.length + blockers.length + open_questions.length === 0) return null;
  return canonical({ next_steps, blockers, open_questions });
}

export async function create(call: Call, input: In<'handoffs.create'>): Promise<Handoff> {
  const { to_agent_id, trajectory_id, scope_id = null, reason = null, context_snapshot = null } = input;
  const from_agent_id = requiredAgent(call, input.from_agent_id, 'from_agent_id');
  if (from_agent_id === to_agent_id) throw invalid('to_agent_id must differ from from_agent_id');
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
      await announceHandoff(work, 'created', row);
      return toHandoff(row, now);
    },
    remember: ({ handoff_id }) => handoff_id,
    again: (query, kept) => readHandoff(call, query, kept as string),
  });
}

/** An agent sees handoffs that it gives or receives; a key without an agent sees all. */
export async function readHandoff(call: Call, query: Query, handoff_id: string): Promise<Handoff> {
  const row = await findHandoff(query, handoff_id);
  const { agent_id } = call.caller;
  const hidden = agent_id !== null && agent_id !== row?.from_agent_id && agent_id !== row?.to_agent_id;
  if (!row || hidden) throw notFound(call, 'handoff', handoff_id);
  return toHandoff(row, call.driver.now());
}

export async function get(call: Call, { handoff_id }: In<'handoffs.get'>): Promise<Handoff> {
  const shown = await readHandoff(call, call.driver.at(call.tenant), handoff_id);
  // Best effort: the timekeeper records the expiry otherwise.
  if (shown.status === 'Expired') await expireIfOverdue(call, handoff_id).catch(() => undefined);
  return shown;
}

const bytesOf = ({ reason, rejection, body, context_snapshot }: HandoffRow): number =>
  Buffer.byteLength(`${reason ?? ''}${rejection ?? ''}${body ?? ''}${context_snapshot ?? ''}`);

export async function list(call: Call, input: In<'handoffs.list'>): Promise<Out<'handoffs.list'>> {
  const { limit, cursor, offset, order, ...asked } = input;
  const filter = { ...asked, party: call.caller.agent_id ?? undefined };
  const now = call.driver.now();
  const { rows, ...page } = await listPage<HandoffRow, string>(call, {
    input: { limit, cursor, offset, order },
    filters: filter as Json,
    key: 'string',
    keyOf: ({ handoff_id }) => handoff_id,
    // Filters without an index scan the tenant.
    read: (request) => listHandoffs(longQuery(call.driver, call.tenant), filter, request, now),
    bytesOf,
    count: countHandoffs(filter, now),
  });
  return { handoffs: rows.map((row) => toHandoff(row, now)), ...page };
}

type Answer = In<'handoffs.complete'>;

/** Locks a handoff for its receiver, who alone answers it. A key without an agent acts for the receiver by default. */
export async function lockForReceiver({ call, tx }: Work, { handoff_id, agent_id }: Answer): Promise<HandoffRow> {
  const row = await lockHandoff(tx, handoff_id);
  if (!row) throw notFound(call, 'handoff', handoff_id);
  const agent = agentOf(call, agent_id, 'agent_id') ?? row.to_agent_id;
  if (agent === row.to_agent_id) return row;
  throw new CairnError('FORBIDDEN', `handoff ${handoff_id} is not for agent ${agent}: only its receiver answers it`, {
    rule: 'handoff_party',
    handoff_id,
  });
}

/** Ends a handoff; the trajectory stays where it is. */
async function end(
  call: Call,
  input: Answer,
  to: 'Rejected' | 'Completed',
  rejection?: string | null,
): Promise<Handoff> {
  await expireIfOverdue(call, input.handoff_id);
  return change(call, {
    input,
    bytes: rejection?.length ?? 0,
    work: async (work) => {
      const { now } = work;
      const row = await lockForReceiver(work, input);
      if (!movesHandoff(row, to, now)) return toHandoff(row, now);
      const ended = { status: to, updated_at: now, ended_at: now, ...(rejection === undefined ? {} : { rejection }) };
      return toHandoff(await moveHandoff(work, to === 'Rejected' ? 'rejected' : 'completed', row, ended), now);
    },
    remember: () => input.handoff_id,
    again: (query, kept) => readHandoff(call, query, kept as string),
  });
}

export const reject = (call: Call, input: In<'handoffs.reject'>): Promise<Handoff> =>
  end(call, input, 'Rejected', input.reason ?? null);

export const complete = (call: Call, input: In<'handoffs.complete'>): Promise<Handoff> => end(call, input, 'Completed');
