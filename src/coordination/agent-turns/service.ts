/** Use cases of agent_turns: get, list, renew, suspend, resume. `claim` is in claiming.ts. */
import { longQuery, type Query } from '../../driver/index.js';
import type { In, Out } from '../../engine/contract.js';
import {
  appendEvent,
  type Call,
  change,
  expireDueLeases,
  listPage,
  putLease,
  type TurnGuard,
  type Work,
} from '../../engine/index.js';
import type { Json, JsonObject } from '../../kernel/contract.js';
import { CairnError, notFound } from '../../kernel/index.js';
import { readAfterEnd } from '../waiting-reads.js';
import { checkTurnHeld, recordWorkerHeartbeat } from './holding.js';
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

const SUSPENDED_LEASE_MS = 900_000;

/** To an agent that is not a party, an agent_turn does not exist. */
function visible(call: Call, agent_turn_id: string, turn: AgentTurnView | undefined): AgentTurnView {
  if (turn && isPartyTo(turn, call.caller.agent_id)) return turn;
  throw notFound(call, 'agent_turn', agent_turn_id);
}

export const openTurn = async (call: Call, query: Query, agent_turn_id: string): Promise<AgentTurnView> =>
  visible(call, agent_turn_id, await findAgentTurn(query, agent_turn_id));

export const readTurn = async (call: Call, query: Query, agent_turn_id: string): Promise<AgentTurn> =>
  toAgentTurn(call.tenant, await openTurn(call, query, agent_turn_id));

export const get = (call: Call, { agent_turn_id, wait_ms }: In<'agent_turns.get'>): Promise<AgentTurn> =>
  readAfterEnd(
    call,
    `agent_turn:${agent_turn_id}`,
    wait_ms,
    () => readTurn(call, call.driver.at(call.tenant), agent_turn_id),
    ({ status }) => hasEnded(status),
  );

export async function list(call: Call, input: In<'agent_turns.list'>): Promise<Out<'agent_turns.list'>> {
  const { driver, tenant, caller } = call;
  await expireDueLeases(call);
  const { limit, cursor, offset, order, ...asked } = input;
  const filter: AgentTurnFilter = { ...asked, party: caller.agent_id ?? undefined };
  const { rows, ...page } = await listPage<AgentTurnView, string>(call, {
    input: { limit, cursor, offset, order },
    filters: filter as Json,
    key: 'string',
    keyOf: ({ agent_turn_id }) => agent_turn_id,
    read: (request) => listAgentTurns(longQuery(driver, tenant), filter, request),
    bytesOf: ({ error, summary }) => (error?.length ?? 0) + (summary?.length ?? 0),
    count: countAgentTurns(filter),
  });
  return { agent_turns: rows.map((row) => toAgentTurn(tenant, row)), ...page };
}

/** Appends the event of a move. */
export function journalTurn(work: Work, turn: AgentTurnView, event: string, facts: JsonObject = {}): void {
  const { agent_turn_id, turn_epoch, trajectory_id, channel_id } = turn;
  const payload = { turn_epoch, ...(channel_id === null ? {} : { channel_id }), ...facts };
  appendEvent(work, `cairn.agent_turn.${event}`, { type: 'agent_turn', id: agent_turn_id }, payload, trajectory_id);
}

/** Locks an agent_turn of the agent for which the caller acts. */
export const ownTurn = async ({ call, tx }: Work, agent_turn_id: string): Promise<AgentTurnView> =>
  checkOwn(call, agent_turn_id, await lockAgentTurn(tx, agent_turn_id));

function checkOwn(call: Call, agent_turn_id: string, row: AgentTurnView | undefined): AgentTurnView {
  const turn = visible(call, agent_turn_id, row);
  if (call.caller.agent_id === null || call.caller.agent_id === turn.agent_id) return turn;
  throw new CairnError(
    'FORBIDDEN',
    `agent_turn ${agent_turn_id} belongs to agent ${turn.agent_id}: this key acts as ${call.caller.agent_id}`,
    { rule: 'key_agent' },
  );
}

/** Locks an agent_turn that the caller holds in this epoch. */
export async function heldTurn(work: Work, held: TurnGuard): Promise<AgentTurnView> {
  if (work.call.caller.agent_id === null) await recordWorkerHeartbeat(work, held);
  const turn = await ownTurn(work, held.agent_turn_id);
  checkTurnHeld(turn, held.turn_epoch, work.now);
  return turn;
}

/** The same without a lock: it may change at once. */
export async function findHeldTurn(
  call: Call,
  query: Query,
  { agent_turn_id, turn_epoch }: TurnGuard,
  now: number,
): Promise<AgentTurnView> {
  const turn = checkOwn(call, agent_turn_id, await findAgentTurn(query, agent_turn_id));
  checkTurnHeld(turn, turn_epoch, now);
  return turn;
}

/** Alters a held agent_turn and renews its lease. `alter` returns undefined to leave both as they are. */
const changeHeld = (
  call: Call,
  input: In<'agent_turns.renew'>,
  alter: (work: Work, turn: AgentTurnView) => Promise<AgentTurnView | undefined>,
): Promise<AgentTurn> =>
  change(call, {
    input,
    work: async (work) => {
      const held = await heldTurn(work, input);
      const turn = await alter(work, held);
      if (!turn) return toAgentTurn(call.tenant, held);
      const { agent_turn_id: subject_id, worker_id: holder, turn_epoch: token, status } = turn;
      const fallback = status === 'suspended' ? SUSPENDED_LEASE_MS : DEFAULT_TURN_LEASE_MS;
      const expires_at = work.now + (input.lease_ms ?? fallback);
      await putLease(work.tx, { kind: 'agent_turn', subject_id, holder, token, expires_at });
      return toAgentTurn(call.tenant, { ...turn, lease_expires_at: expires_at });
    },
    remember: () => input.agent_turn_id,
    again: (query, kept) => readTurn(call, query, kept as string),
  });

export const renew = (call: Call, input: In<'agent_turns.renew'>): Promise<AgentTurn> =>
  changeHeld(call, input, async (_work, turn) => turn);

const moveTo = (call: Call, input: In<'agent_turns.suspend'>, to: 'suspended' | 'running'): Promise<AgentTurn> =>
  changeHeld(call, input, async (work, turn) => {
    if (turn.status === to) return undefined;
    checkTurnMove(turn.agent_turn_id, turn.status, to);
    const moved = await changeAgentTurn(work.tx, turn, { status: to }, work.now);
    journalTurn(work, moved, to === 'running' ? 'resumed' : 'suspended');
    return moved;
  });

export const suspend = (call: Call, input: In<'agent_turns.suspend'>): Promise<AgentTurn> =>
  moveTo(call, input, 'suspended');

export const resume = (call: Call, input: In<'agent_turns.resume'>): Promise<AgentTurn> =>
  moveTo(call, input, 'running');
