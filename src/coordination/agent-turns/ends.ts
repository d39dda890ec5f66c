/** How an agent_turn is ended by who holds it, once; and how it is stopped by others. */
import type { Tx } from '../../driver/index.js';
import type { In } from '../../engine/contract.js';
import { type Call, change, startErasure, type TurnGuard } from '../../engine/index.js';
import type { Json } from '../../kernel/contract.js';
import { CairnError } from '../../kernel/index.js';
import { canonical } from '../../kernel/node.js';
import { findDelegation } from '../delegations/store.js';
import {
  checkArtifactsReadable,
  deliver,
  prepareDeliverable,
  refuseUnknownArtifacts,
  summaryOf,
} from './deliverable.js';
import { endTurns, lockForEnding, type TurnEnd } from './ending.js';
import type { AgentTurn } from './model.js';
import { hasEnded } from './rules.js';
import { heldTurn, openTurn, ownTurn, readTurn } from './service.js';
import type { AgentTurnView } from './store.js';

interface Ending {
  readonly status: 'completed' | 'failed';
  readonly bytes: number;
  /** How it ends, if it is held. */
  readonly end: (tx: Tx, turn: AgentTurnView, now: number) => Promise<TurnEnd>;
  /** Whether one that has ended did so by the same request. */
  readonly isSame: (tx: Tx, turn: AgentTurnView) => Promise<boolean>;
}

/** Ends a turn that is held, and erases after the commit what ended with it. The same again is answered with the turn. */
async function endHeld(call: Call, input: TurnGuard, { status, bytes, end, isSame }: Ending): Promise<AgentTurn> {
  const { agent_turn_id, turn_epoch } = input;
  const { turn, ended } = await change<{ turn: AgentTurn; ended: readonly string[] }>(call, {
    input,
    bytes,
    work: async (work) => {
      const { tx, now } = work;
      const locked = await lockForEnding(tx, [agent_turn_id], status);
      const known = await ownTurn(work, agent_turn_id);
      if (known.turn_epoch === turn_epoch && hasEnded(known.status)) {
        if (!(await isSame(tx, known))) throw endedOtherwise(known);
        return { turn: await readTurn(call, tx, agent_turn_id), ended: [] };
      }
      const held = await heldTurn(work, input);
      const ends = new Map([[agent_turn_id, await end(tx, held, now)]]);
      const holders = await endTurns(work, locked, ends);
      return { turn: await readTurn(call, tx, agent_turn_id), ended: holders };
    },
    remember: () => agent_turn_id,
    again: async (query, kept) => ({ turn: await readTurn(call, query, kept as string), ended: [] }),
  });
  if (ended.length > 0) startErasure(call, ended);
  return turn;
}

const endedOtherwise = ({ agent_turn_id, status }: AgentTurnView): CairnError =>
  new CairnError('STATE_CONFLICT', `agent_turn ${agent_turn_id} is ${status} already, and ended otherwise`, { status });

export async function complete(call: Call, input: In<'agent_turns.complete'>): Promise<AgentTurn> {
  const { status = 'success', artifact_ids = [] } = input;
  const deliverable = prepareDeliverable(call, input.deliverable);
  const summary = summaryOf(input.deliverable, input.summary);
  await checkArtifactsReadable(call, artifact_ids);
  const result = {
    status: status === 'partial' ? ('Partial' as const) : ('Success' as const),
    output: input.deliverable,
    ...(artifact_ids.length === 0 ? {} : { artifacts: artifact_ids }),
  };
  return endHeld(call, input, {
    status: 'completed',
    bytes: deliverable.card.bytes,
    end: async (tx, turn, now) => {
      await refuseUnknownArtifacts(tx, 'artifact_ids', artifact_ids, now);
      return deliver({ call, tx, now }, turn, { deliverable, summary, result });
    },
    isSame: async (tx, turn) => {
      const { delegation_id } = turn;
      const told = delegation_id === null ? null : await findDelegation(tx, delegation_id);
      return (
        turn.status === 'completed' &&
        turn.summary === (summary ?? null) &&
        told?.result != null &&
        canonical(JSON.parse(told.result) as Json) === canonical(result)
      );
    },
  });
}

export const fail = (call: Call, input: In<'agent_turns.fail'>): Promise<AgentTurn> =>
  endHeld(call, input, {
    status: 'failed',
    bytes: input.error.message.length,
    end: async () => ({ status: 'failed', error: input.error }),
    isSame: async (_, { status, error }) =>
      status === 'failed' && error !== null && canonical(JSON.parse(error) as Json) === canonical(input.error as Json),
  });

/** By its delegator or the tenant, and by the agent itself; whoever holds it is late from then on. */
export async function stop(call: Call, input: In<'agent_turns.stop'>): Promise<AgentTurn> {
  const { turn, ended } = await change<{ turn: AgentTurn; ended: readonly string[] }>(call, {
    input,
    work: async (work) => {
      const { tx } = work;
      await openTurn(call, tx, input.agent_turn_id);
      const locked = await lockForEnding(tx, [input.agent_turn_id], 'stopped');
      const known = locked.get(input.agent_turn_id)!;
      if (hasEnded(known.status) && known.status !== 'stopped') {
        throw new CairnError('STATE_CONFLICT', `agent_turn ${known.agent_turn_id} is ${known.status} already`, {
          status: known.status,
        });
      }
      const end: TurnEnd = { status: 'stopped', error: { code: 'STOPPED', message: input.reason ?? 'it was stopped' } };
      const holders = await endTurns(work, locked, new Map([[input.agent_turn_id, end]]));
      return { turn: await readTurn(call, tx, input.agent_turn_id), ended: holders };
    },
    remember: () => input.agent_turn_id,
    again: async (query, kept) => ({ turn: await readTurn(call, query, kept as string), ended: [] }),
  });
  if (ended.length > 0) startErasure(call, ended);
  return turn;
}
