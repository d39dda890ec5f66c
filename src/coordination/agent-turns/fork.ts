/** Forking an agent_turn: a new agent_turn for a new agent, from the same context with changes. */
import type { Tx } from '../../driver/index.js';
import type { In } from '../../engine/contract.js';
import { type Call, change, totalBytes, type Work, withItemIndex } from '../../engine/index.js';
import { type PreparedCard, prepareCard, unknownCards } from '../../facts/index.js';
import { type BoxRow, readAppendState } from '../../facts/sql.js';
import { CairnError, invalid } from '../../kernel/index.js';
import { findTrajectory, isFinished } from '../../memory/index.js';
import { createTrajectory, dispatch, isRefusal, type ReadyTask, refuseTooDeep } from '../packing/dispatch.js';
import { registerTarget, type Source, sourceOf, targetOf } from '../packing/dispatch-targets.js';
import { planPacking } from '../packing/rules.js';
import { preparePacking } from '../packing/service.js';
import { turnBox } from './cards.js';
import type { AgentTurn } from './model.js';
import { openTurn, readTurn } from './service.js';
import { type AgentTurnRow, lockAgentTurn } from './store.js';

const RECIPE = { context_packing_config: { pack_arguments: [{ arg_key: 'instruction' }] } };

/** The target and the packing of the fork: a new instruction first if given, the same boxes, added cards last. */
async function readyFork(
  work: Work,
  input: In<'agent_turns.fork'>,
  turn: AgentTurnRow,
  source: Source,
  after: readonly PreparedCard[],
): Promise<ReadyTask> {
  const target_ref = input.profile_name ?? turn.profile_name;
  if (target_ref === null) throw invalid(`agent_turn ${turn.agent_turn_id} has no profile: give profile_name`);
  const target = await targetOf(work, { target_strategy: 'new', target_ref, instruction: '' }, source);
  if (isRefusal(target)) throw new CairnError('AGENT_BUSY', target.message);
  const boxes = [await turnBox(work.tx, turn.context_box_id)];
  if (input.include_output) boxes.push(await turnBox(work.tx, turn.output_box_id));
  await refuseAbsent(work, boxes, input.without_card_ids ?? []);
  const plan = planPacking(RECIPE, input.instruction === undefined ? {} : { instruction: input.instruction });
  const packing = preparePacking(work.call, plan, { author: 'fork', source_agent_id: source.agent_id });
  return { target, packing: { ...packing, after }, boxes };
}

/** Refuses to leave out cards that are not in the boxes: the content may be there under another id. */
async function refuseAbsent({ call, tx }: Work, boxes: readonly BoxRow[], card_ids: readonly string[]): Promise<void> {
  if (card_ids.length === 0) return;
  const now = call.driver.now();
  const standing = await Promise.all(boxes.map(({ box_id }) => readAppendState(tx, box_id, card_ids, now)));
  const missing = card_ids.filter((id) => !standing.some(({ entered }) => entered.has(id)));
  if (missing.length > 0) throw unknownCards('without_card_ids', missing);
}

/**
 * A fork is a delegation. An agent forks by its own rules and depth; a key without an agent forks on behalf of the
 * original delegator, below the original parent while that is open.
 */
async function forkingSource(work: Work, turn: AgentTurnRow): Promise<Source> {
  const source: Source =
    work.call.caller.agent_id === null
      ? { agent_id: turn.source_agent_id, turn: await openParent(work.tx, turn), depth: turn.depth }
      : await sourceOf(work, undefined);
  refuseTooDeep(source);
  return source;
}

async function openParent(tx: Tx, { parent_agent_turn_id: id }: AgentTurnRow): Promise<AgentTurnRow | undefined> {
  const parent = id === null ? undefined : await lockAgentTurn(tx, id);
  return parent?.ended_at === null ? parent : undefined;
}

/** The parent trajectory of the original, unless it was deleted or has finished. */
async function parentFor(tx: Tx, turn: AgentTurnRow): Promise<string | null> {
  const parent_id = (await findTrajectory(tx, turn.trajectory_id))?.parent_trajectory_id ?? null;
  const parent = parent_id === null ? undefined : await findTrajectory(tx, parent_id);
  return parent?.deleted_at === null && !isFinished(parent) ? parent_id : null;
}

export async function fork(call: Call, input: In<'agent_turns.fork'>): Promise<AgentTurn> {
  const { instruction, add_cards = [], without_card_ids = [] } = input;
  const after = add_cards.map((one, i) => withItemIndex('add_cards', i, () => prepareCard(call, one)));
  return change(call, {
    input,
    bytes: totalBytes(after) + (instruction?.length ?? 0),
    work: async (work) => {
      const turn = await openTurn(call, work.tx, input.agent_turn_id);
      const source = await forkingSource(work, turn);
      const ready = await readyFork(work, input, turn, source, after);
      await registerTarget(work, ready.target);
      // A new instruction replaces the old one.
      const old = turn.instruction_card_id;
      const without = instruction === undefined || old === null ? without_card_ids : [...without_card_ids, old];
      const options = {
        channel_id: input.channel_id ?? turn.channel_id,
        trajectory_id: await parentFor(work.tx, turn),
        forked_from: turn.agent_turn_id,
        instruction_card_id: without.includes(old ?? '') ? null : old,
        without,
      };
      const label = instruction ?? `fork of ${turn.agent_turn_id}`;
      const trajectory_id = await createTrajectory(work, ready.target, source, options, label);
      const { agent_turn_id } = await dispatch(work, { ...ready, trajectory_id }, source, options);
      return readTurn(call, work.tx, agent_turn_id);
    },
    remember: ({ agent_turn_id }) => agent_turn_id,
    again: (query, kept) => readTurn(call, query, kept as string),
  });
}
