/** Steps of a delegation by its parties: reject, start, complete, cancel. Its agent_turn moves with it. */
import type { In } from '../../engine/contract.js';
import { type Call, expireDueLeases, findLease, type Work } from '../../engine/index.js';
import { lockAgent } from '../../identity/index.js';
import { CairnError } from '../../kernel/index.js';
import { takeTurn } from '../agent-turns/claiming.js';
import {
  asDeliverable,
  checkArtifactsReadable,
  deliver,
  prepareDeliverable,
  refuseUnknownArtifacts,
} from '../agent-turns/deliverable.js';
import { endTurns, type Final, type TurnEnd } from '../agent-turns/ending.js';
import { checkTurnHeld } from '../agent-turns/holding.js';
import type { AgentTurnView } from '../agent-turns/store.js';
import { changeAndErase } from '../erasing-change.js';
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
  readonly input: In<'delegations.start'>;
  readonly party: 'from_agent_id' | 'to_agent_id';
  readonly to: DelegationStatus;
  readonly bytes?: number;
  /** Makes the move; returns the holders whose content ended. */
  readonly move: (work: Work, locked: LockedDelegation) => Promise<readonly string[]>;
}

/** How the agent_turn ends with its delegation. */
const TURN_ENDS: Partial<Record<DelegationStatus, Final>> = {
  Completed: 'completed',
  Failed: 'failed',
  Cancelled: 'stopped',
};

/** Moves a delegation; one that is in the target state already stays as it is. */
async function step(call: Call, { input, party, to, bytes, move }: Step): Promise<Delegation> {
  const { delegation_id } = input;
  await expireDueLeases(call);
  return changeAndErase(call, {
    input,
    bytes,
    work: async (work) => {
      const { tx, now } = work;
      checkParty(call, await openDelegation(call, tx, delegation_id), input.agent_id, party);
      const locked = (await lockWithTurn(tx, delegation_id, TURN_ENDS[to]))!;
      if (locked.row.status === to) return [];
      checkDelegationMove(delegation_id, locked.row.status, to);
      await refuseOverdue(tx, locked.row, now);
      return move(work, locked);
    },
    read: (query) => readDelegation(call, query, delegation_id),
  });
}

export const reject = (call: Call, input: In<'delegations.reject'>): Promise<Delegation> =>
  step(call, {
    input,
    party: 'to_agent_id',
    to: 'Rejected',
    move: async (work, { row }) => {
      await endDelegation(work, row, { status: 'Rejected', reason: input.reason ?? null });
      return [];
    },
  });

/** The agent itself then holds the agent_turn, so that no worker claims it. */
export const start = (call: Call, input: In<'delegations.start'>): Promise<Delegation> =>
  step(call, {
    input,
    party: 'to_agent_id',
    to: 'InProgress',
    move: async (work, { row, turns }) => {
      await holdAsAgent(work, row, turns.get(row.agent_turn_id!)!);
      return [];
    },
  });

/** Leases a dispatched agent_turn to its own agent until the delegation is due. */
async function holdAsAgent(work: Work, row: DelegationRow, turn: AgentTurnView): Promise<AgentTurnView> {
  const due = await findLease(work.tx, 'delegation', row.delegation_id);
  const agent = await lockAgent(work.tx, turn.agent_id);
  return takeTurn(work, agent, turn, turn.agent_id, due?.expires_at ?? work.now + STUCK_AFTER_MS);
}

export async function complete(call: Call, input: In<'delegations.complete'>): Promise<Delegation> {
  const { result, delegation_id } = input;
  const { status, artifacts = [] } = result;
  const deliverable = prepareDeliverable(call, asDeliverable(result.output ?? result.error ?? ''));
  await checkArtifactsReadable(call, artifacts);
  return step(call, {
    input,
    party: 'to_agent_id',
    to: status === 'Failure' ? 'Failed' : 'Completed',
    bytes: deliverable.card.bytes,
    move: async (work, { row, turns }) => {
      if (row.status === 'Pending') throw stateConflict(delegation_id, row.status, 'was not accepted');
      const turn = turns.get(row.agent_turn_id!)!;
      checkNotHeld(work, turn, input.turn_epoch);
      await refuseUnknownArtifacts(work, 'result.artifacts', artifacts);
      let end: TurnEnd;
      if (status === 'Failure') {
        const message = result.error ?? 'the agent reported a failure';
        end = { status: 'failed', error: { code: 'DELEGATION_FAILED', message }, result };
      } else {
        const held = turn.status === 'dispatched' ? await holdAsAgent(work, row, turn) : turn;
        turns.set(held.agent_turn_id, held);
        end = await deliver(work, held, { deliverable, result: { ...result, status } });
      }
      return endTurns(work, turns, new Map([[turn.agent_turn_id, end]]));
    },
  });
}

/** While a worker holds the agent_turn, only a call that names its epoch ends it. */
function checkNotHeld({ call, now }: Work, turn: AgentTurnView, named_epoch: number | undefined): void {
  const { agent_turn_id, status, worker_id } = turn;
  const guarded = call.turn?.agent_turn_id === agent_turn_id ? call.turn.turn_epoch : undefined;
  const turn_epoch = named_epoch ?? guarded;
  if (turn_epoch !== undefined) checkTurnHeld(turn, turn_epoch, now);
  else if (status !== 'dispatched' && worker_id !== turn.agent_id) {
    const message =
      worker_id === null
        ? `agent_turn ${agent_turn_id} waits for an answer: answer its pause, or stop it first`
        : `worker ${worker_id} holds agent_turn ${agent_turn_id}: give its turn_epoch, or stop it first`;
    throw new CairnError('STATE_CONFLICT', message, { status, agent_turn_id });
  }
}

export const cancel = (call: Call, input: In<'delegations.cancel'>): Promise<Delegation> =>
  step(call, {
    input,
    party: 'from_agent_id',
    to: 'Cancelled',
    move: async (work, { row, turns }) => {
      const message = input.reason ?? 'its delegator cancelled it';
      if (row.agent_turn_id === null) {
        await endDelegation(work, row, { status: 'Cancelled', reason: message });
        return [];
      }
      const end: TurnEnd = { status: 'stopped', error: { code: 'CANCELLED', message } };
      return endTurns(work, turns, new Map([[row.agent_turn_id, end]]));
    },
  });
