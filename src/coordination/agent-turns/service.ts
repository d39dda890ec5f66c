/** Reading agent_turns, and holding one: renew, suspend, resume. Claiming is in agent-turn-claiming.ts. */
import { atLength, type Query, type Tx } from '../../driver/index.js';
import type { In, Out } from '../../engine/contract.js';
import {
  appendEvent,
  type Call,
  change,
  listPage,
  noticeDue,
  putLease,
  type TurnGuard,
  type Work,
} from '../../engine/index.js';
import { waitForEnd } from '../../identity/index.js';
import type { Json, JsonObject } from '../../kernel/contract.js';
import { CairnError } from '../../kernel/index.js';
import { checkTurnHeld, seenAtWork } from './holding.js';
import { type AgentTurn, DEFAULT_TURN_LEASE_MS } from './model.js';
import { checkTurnMove, hasEnded, isPartyTo } from './rules.js';
import {
  type AgentTurnFilter,
  type AgentTurnView,
  changeAgentTurn,
  countAgentTurns,
  findAgentTurn,
  listAgentTurns,
  lockAgentTurn,
  toAgentTurn,
} from './store.js';

const SUSPENDED_MS = 900_000;

export const noTurn = (call: Call, agent_turn_id: string): CairnError =>
  new CairnError('AGENT_TURN_NOT_FOUND', `there is no agent_turn ${agent_turn_id} in tenant ${call.tenant}`);

/** An agent_turn does not exist for others than its parties. */
const isParty = (call: Call, turn: AgentTurnView): boolean => isPartyTo(turn, call.caller.agent_id);

export async function openTurn(call: Call, query: Query, agent_turn_id: string): Promise<AgentTurnView> {
  const turn = await findAgentTurn(query, agent_turn_id);
  if (!turn || !isParty(call, turn)) throw noTurn(call, agent_turn_id);
  return turn;
}

export const readTurn = async (call: Call, query: Query, agent_turn_id: string): Promise<AgentTurn> =>
  toAgentTurn(call.tenant, await openTurn(call, query, agent_turn_id));

/** A worker may have fallen silent, or a deadline passed: that is noticed first. */
export async function get(call: Call, input: In<'agent_turns.get'>): Promise<AgentTurn> {
  await noticeDue(call);
  const query = call.driver.at(call.tenant);
  const first = await openTurn(call, query, input.agent_turn_id);
  if (!input.wait_ms || hasEnded(first.status)) return toAgentTurn(call.tenant, first);
  const ended = await waitForEnd(call, [`agent_turn:${input.agent_turn_id}`], input.wait_ms, async () => {
    const turn = await openTurn(call, query, input.agent_turn_id);
    return hasEnded(turn.status) ? turn : undefined;
  });
  return ended ? toAgentTurn(call.tenant, ended) : readTurn(call, query, input.agent_turn_id);
}

export async function list(call: Call, input: In<'agent_turns.list'>): Promise<Out<'agent_turns.list'>> {
  const { driver, tenant, caller } = call;
  await noticeDue(call);
  const { limit, cursor, offset, order, ...asked } = input;
  const filter: AgentTurnFilter = { ...asked, party: caller.agent_id ?? undefined };
  const { rows, ...page } = await listPage<AgentTurnView, string>(call, {
    input: { limit, cursor, offset, order },
    filters: filter as Json,
    key: 'string',
    keyOf: ({ agent_turn_id }) => agent_turn_id,
    read: (request) => listAgentTurns(atLength(driver, tenant), filter, request),
    bytesOf: ({ error, summary }) => (error?.length ?? 0) + (summary?.length ?? 0),
    count: countAgentTurns(filter),
  });
  return { agent_turns: rows.map((row) => toAgentTurn(tenant, row)), ...page };
}

/** Tells of a move, with what others need to follow it. */
export function journalTurn(work: Work, turn: AgentTurnView, what: string, facts: JsonObject = {}): void {
  const { agent_turn_id, turn_epoch, trajectory_id, channel_id } = turn;
  const routed: JsonObject = channel_id === null ? {} : { channel_id };
  appendEvent(
    work,
    `cairn.agent_turn.${what}`,
    { type: 'agent_turn', id: agent_turn_id },
    { turn_epoch, ...routed, ...facts },
    trajectory_id,
  );
}

/** An agent_turn, locked, if the caller acts for the agent that does it. */
export const ownTurn = async ({ call, tx }: Work, agent_turn_id: string): Promise<AgentTurnView> =>
  checkOwn(call, agent_turn_id, await lockAgentTurn(tx, agent_turn_id));

function checkOwn(call: Call, agent_turn_id: string, turn: AgentTurnView | undefined): AgentTurnView {
  if (!turn || !isParty(call, turn)) throw noTurn(call, agent_turn_id);
  const { agent_id } = call.caller;
  if (agent_id === null || agent_id === turn.agent_id) return turn;
  throw new CairnError(
    'FORBIDDEN',
    `agent_turn ${agent_turn_id} is done by agent ${turn.agent_id}: this key acts as ${agent_id}`,
    { rule: 'key_agent' },
  );
}

/** The same, if the caller holds it now in this epoch. */
export async function heldTurn(work: Work, held: TurnGuard): Promise<AgentTurnView> {
  const { call, now } = work;
  if (call.caller.agent_id === null) await seenAtWork(work, held);
  const turn = await ownTurn(work, held.agent_turn_id);
  checkTurnHeld(turn, held.turn_epoch, now);
  return turn;
}

/** The same as it stands, without a lock: it may move at once. */
export async function seenHeldTurn(
  call: Call,
  query: Query,
  { agent_turn_id, turn_epoch }: TurnGuard,
  now: number,
): Promise<AgentTurnView> {
  const turn = checkOwn(call, agent_turn_id, await findAgentTurn(query, agent_turn_id));
  checkTurnHeld(turn, turn_epoch, now);
  return turn;
}

/** Gives the lease longer, whatever else changes. */
async function holdFor(tx: Tx, turn: AgentTurnView, lease_ms: number, now: number): Promise<AgentTurnView> {
  const expires_at = now + lease_ms;
  const { agent_turn_id: subject_id, worker_id: holder, turn_epoch: token } = turn;
  await putLease(tx, { kind: 'agent_turn', subject_id, holder, token, expires_at });
  return { ...turn, lease_expires_at: expires_at };
}

export async function renew(call: Call, input: In<'agent_turns.renew'>): Promise<AgentTurn> {
  return change(call, {
    input,
    work: async (work) => {
      const { tx, now } = work;
      const turn = await heldTurn(work, input);
      const fallback = turn.status === 'suspended' ? SUSPENDED_MS : DEFAULT_TURN_LEASE_MS;
      return toAgentTurn(call.tenant, await holdFor(tx, turn, input.lease_ms ?? fallback, now));
    },
    remember: () => input.agent_turn_id,
    again: (query, kept) => readTurn(call, query, kept as string),
  });
}

async function move(
  call: Call,
  input: In<'agent_turns.suspend'>,
  to: 'suspended' | 'running',
  lease_ms: number,
): Promise<AgentTurn> {
  return change(call, {
    input,
    work: async (work) => {
      const { tx, now } = work;
      const turn = await heldTurn(work, input);
      if (turn.status === to) return toAgentTurn(call.tenant, turn);
      checkTurnMove(turn.agent_turn_id, turn.status, to);
      const moved = await changeAgentTurn(tx, turn, { status: to }, now);
      journalTurn(work, moved, to === 'running' ? 'resumed' : 'suspended');
      return toAgentTurn(call.tenant, await holdFor(tx, moved, lease_ms, now));
    },
    remember: () => input.agent_turn_id,
    again: (query, kept) => readTurn(call, query, kept as string),
  });
}

export const suspend = (call: Call, input: In<'agent_turns.suspend'>): Promise<AgentTurn> =>
  move(call, input, 'suspended', input.lease_ms ?? SUSPENDED_MS);

export const resume = (call: Call, input: In<'agent_turns.resume'>): Promise<AgentTurn> =>
  move(call, input, 'running', input.lease_ms ?? DEFAULT_TURN_LEASE_MS);
