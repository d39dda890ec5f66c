/** Use cases that end an agent_turn: complete and fail by its holder, stop by its parties. */
import type { In } from '../../engine/contract.js';
import type { Call, TurnGuard, Work } from '../../engine/index.js';
import type { Json } from '../../kernel/contract.js';
import { CairnError } from '../../kernel/index.js';
import { canonical } from '../../kernel/node.js';
import { findDelegation } from '../delegations/store.js';
import { changeAndErase } from '../erasing-change.js';
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
  readonly end: (work: Work, turn: AgentTurnView) => Promise<TurnEnd>;
  /** Whether an ended agent_turn was ended by the same request. */
  readonly isSame: (work: Work, turn: AgentTurnView) => Promise<boolean>;
}

const alreadyEnded = ({ agent_turn_id, status }: AgentTurnView, how: string): CairnError =>
  new CairnError('STATE_CONFLICT', `agent_turn ${agent_turn_id} is already ${status}${how}`, { status });

/** Ends an agent_turn that the caller holds. The same request again is answered with the agent_turn. */
const endHeld = (call: Call, input: TurnGuard, { status, bytes, end, isSame }: Ending): Promise<AgentTurn> =>
  changeAndErase(call, {
    input,
    bytes,
    work: async (work) => {
      const { agent_turn_id, turn_epoch } = input;
      const locked = await lockForEnding(work.tx, [agent_turn_id], status);
      const known = await ownTurn(work, agent_turn_id);
      if (known.turn_epoch === turn_epoch && hasEnded(known.status)) {
        if (await isSame(work, known)) return [];
        throw alreadyEnded(known, ', with a different result');
      }
      const held = await heldTurn(work, input);
      return endTurns(work, locked, new Map([[agent_turn_id, await end(work, held)]]));
    },
    read: (query) => readTurn(call, query, input.agent_turn_id),
  });

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
    end: async (work, turn) => {
      await refuseUnknownArtifacts(work, 'artifact_ids', artifact_ids);
      return deliver(work, turn, { deliverable, summary, result });
    },
    isSame: async ({ tx }, turn) => {
      const delegation = turn.delegation_id === null ? null : await findDelegation(tx, turn.delegation_id);
      return (
        turn.status === 'completed' &&
        turn.summary === (summary ?? null) &&
        delegation?.result != null &&
        canonical(JSON.parse(delegation.result) as Json) === canonical(result)
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

/** Stops an agent_turn without its epoch: for its delegator, the tenant or the agent itself. */
export const stop = (call: Call, input: In<'agent_turns.stop'>): Promise<AgentTurn> =>
  changeAndErase(call, {
    input,
    work: async (work) => {
      const { agent_turn_id } = input;
      await openTurn(call, work.tx, agent_turn_id);
      const locked = await lockForEnding(work.tx, [agent_turn_id], 'stopped');
      const known = locked.get(agent_turn_id)!;
      if (hasEnded(known.status) && known.status !== 'stopped') throw alreadyEnded(known, '');
      const error = { code: 'STOPPED', message: input.reason ?? 'it was stopped' };
      return endTurns(work, locked, new Map([[agent_turn_id, { status: 'stopped', error }]]));
    },
    read: (query) => readTurn(call, query, input.agent_turn_id),
  });
