/** How delegations go on and end by their parties: reject, start, complete, cancel. Their agent_turns move with them. */
import type { Tx } from '../../driver/index.js';
import type { In } from '../../engine/contract.js';
import { type Call, change, findLease, noticeDue, startErasure, type Work } from '../../engine/index.js';
import { lockAgent } from '../../identity/index.js';
import { CairnError } from '../../kernel/index.js';
import { takeTurn } from '../agent-turns/claiming.js';
import {
  asDeliverable,
  checkArtifactsReadable,
  deliver,
  type PreparedDeliverable,
  prepareDeliverable,
  refuseUnknownArtifacts,
} from '../agent-turns/deliverable.js';
import { endTurns, type Final, type TurnEnd } from '../agent-turns/ending.js';
import { checkTurnHeld } from '../agent-turns/holding.js';
import type { AgentTurnView } from '../agent-turns/store.js';
import { type Delegation, type DelegationStatus, STUCK_AFTER_MS } from './model.js';
import { endDelegation } from './moves.js';
import {
  checkParty,
  type LockedDelegation,
  lockWithTurn,
  openDelegation,
  readDelegation,
  refuseOverdue,
} from './parties.js';
import { checkDelegationMove, stateConflict } from './rules.js';
import type { DelegationRow } from './store.js';

interface Step {
  readonly input: { readonly delegation_id: string; readonly agent_id?: string | undefined };
  readonly party: 'from_agent_id' | 'to_agent_id';
  readonly to: DelegationStatus;
  readonly bytes?: number;
  /** Makes the move. Gives holders that ended with it. */
  readonly move: (tx: Tx, locked: LockedDelegation, now: number) => Promise<readonly string[]>;
}

/** How the agent_turn of a delegation ends with it. */
const TURN_ENDS: Partial<Record<DelegationStatus, Final>> = {
  Completed: 'completed',
  Failed: 'failed',
  Cancelled: 'stopped',
};

/** Moves a delegation; one that is there already stays as it is. What ended with it is erased after the commit. */
async function step(call: Call, { input, party, to, bytes, move }: Step): Promise<Delegation> {
  const { delegation_id } = input;
  await noticeDue(call);
  const { delegation, ended } = await change<{ delegation: Delegation; ended: readonly string[] }>(call, {
    input,
    ...(bytes === undefined ? {} : { bytes }),
    work: async ({ tx, now }) => {
      checkParty(call, await openDelegation(call, tx, delegation_id), input.agent_id, party);
      const locked = (await lockWithTurn(tx, delegation_id, TURN_ENDS[to]))!;
      let holders: readonly string[] = [];
      if (locked.row.status !== to) {
        checkDelegationMove(delegation_id, locked.row.status, to);
        await refuseOverdue(tx, locked.row, now);
        holders = await move(tx, locked, now);
      }
      return { delegation: await readDelegation(call, tx, delegation_id), ended: holders };
    },
    remember: () => delegation_id,
    again: async (query, kept) => ({ delegation: await readDelegation(call, query, kept as string), ended: [] }),
  });
  if (ended.length > 0) startErasure(call, ended);
  return delegation;
}

export const reject = (call: Call, input: In<'delegations.reject'>): Promise<Delegation> =>
  step(call, {
    input,
    party: 'to_agent_id',
    to: 'Rejected',
    move: async (tx, { row }, now) => {
      await endDelegation({ call, tx, now }, row, { status: 'Rejected', reason: input.reason ?? null });
      return [];
    },
  });

/** The agent itself holds the agent_turn from then on, so that no worker takes it. */
export const start = (call: Call, input: In<'delegations.start'>): Promise<Delegation> =>
  step(call, {
    input,
    party: 'to_agent_id',
    to: 'InProgress',
    move: async (tx, { row, turns }, now) => {
      await takeOver({ call, tx, now }, row, turns.get(row.agent_turn_id!)!);
      return [];
    },
  });

/** Gives a turn that waits to its own agent, for as long as the delegation may take. */
async function takeOver(work: Work, row: DelegationRow, turn: AgentTurnView): Promise<AgentTurnView> {
  const { tx, now } = work;
  const due = await findLease(tx, 'delegation', row.delegation_id);
  const agent = await lockAgent(tx, turn.agent_id);
  return takeTurn(work, agent, turn, turn.agent_id, due?.expires_at ?? now + STUCK_AFTER_MS);
}

export async function complete(call: Call, input: In<'delegations.complete'>): Promise<Delegation> {
  const { result, delegation_id } = input;
  const deliverable = prepareDeliverable(call, asDeliverable(result.output ?? result.error ?? ''));
  await checkArtifactsReadable(call, result.artifacts ?? []);
  return step(call, {
    input,
    party: 'to_agent_id',
    to: result.status === 'Failure' ? 'Failed' : 'Completed',
    bytes: deliverable.card.bytes,
    move: async (tx, { row, turns }, now) => {
      if (row.status === 'Pending') throw stateConflict(delegation_id, row.status, 'was not accepted');
      const turn = turns.get(row.agent_turn_id!)!;
      checkNotHeld(call, turn, input, now);
      await refuseUnknownArtifacts(tx, 'result.artifacts', result.artifacts ?? [], now);
      const held =
        turn.status === 'dispatched' && result.status !== 'Failure'
          ? await takeOver({ call, tx, now }, row, turn)
          : turn;
      turns.set(held.agent_turn_id, held);
      const end = await endOf({ call, tx, now }, held, input, deliverable);
      return endTurns({ call, tx, now }, turns, new Map([[held.agent_turn_id, end]]));
    },
  });
}

async function endOf(
  work: Work,
  turn: AgentTurnView,
  { result }: In<'delegations.complete'>,
  deliverable: PreparedDeliverable,
): Promise<TurnEnd> {
  const { status } = result;
  if (status !== 'Failure') return deliver(work, turn, { deliverable, result: { ...result, status } });
  const message = result.error ?? 'the agent says that it failed';
  return { status: 'failed', error: { code: 'DELEGATION_FAILED', message }, result };
}

/** While a worker holds the agent_turn, only whoever names its epoch ends it. */
function checkNotHeld(call: Call, turn: AgentTurnView, input: In<'delegations.complete'>, now: number): void {
  const guard = call.turn?.agent_turn_id === turn.agent_turn_id ? call.turn.turn_epoch : undefined;
  const turn_epoch = input.turn_epoch ?? guard;
  if (turn_epoch !== undefined) {
    checkTurnHeld(turn, turn_epoch, now);
    return;
  }
  if (turn.status === 'dispatched' || turn.worker_id === turn.agent_id) return;
  throw new CairnError(
    'STATE_CONFLICT',
    `worker ${turn.worker_id} holds agent_turn ${turn.agent_turn_id}: give the turn_epoch that it has, or stop it first`,
    { status: turn.status, agent_turn_id: turn.agent_turn_id },
  );
}

export const cancel = (call: Call, input: In<'delegations.cancel'>): Promise<Delegation> =>
  step(call, {
    input,
    party: 'from_agent_id',
    to: 'Cancelled',
    move: async (tx, { row, turns }, now) => {
      const message = input.reason ?? 'it was taken back';
      if (row.agent_turn_id === null) {
        await endDelegation({ call, tx, now }, row, { status: 'Cancelled', reason: message });
        return [];
      }
      const end: TurnEnd = { status: 'stopped', error: { code: 'CANCELLED', message } };
      return endTurns({ call, tx, now }, turns, new Map([[row.agent_turn_id, end]]));
    },
  });
