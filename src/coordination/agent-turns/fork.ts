/** Forking an agent_turn: a new one, for a new agent of the same kind, from the same context with changes. */
import type { Tx } from '../../driver/index.js';
import type { In } from '../../engine/contract.js';
import { type Call, change, inItem, type Work } from '../../engine/index.js';
import { type PreparedCard, prepareCard, unknownCards } from '../../facts/index.js';
import { type BoxRow, standingOf } from '../../facts/sql.js';
import { CairnError, invalid } from '../../kernel/index.js';
import { findTrajectory, isFinished } from '../../memory/index.js';
import { dispatch, isRefusal, placeTask, type ReadyTask, TOO_DEEP } from '../packing/dispatch.js';
import { registerTarget, type Source, sourceOf, targetOf } from '../packing/dispatch-targets.js';
import { planPacking } from '../packing/rules.js';
import { preparePacking } from '../packing/service.js';
import { turnBox } from './cards.js';
import { type AgentTurn, MAX_DEPTH_OF_DELEGATION } from './model.js';
import { openTurn, readTurn } from './service.js';
import { type AgentTurnRow, lockAgentTurn } from './store.js';

const RECIPE = { context_packing_config: { pack_arguments: [{ arg_key: 'instruction' }] } };

/** What the new one gets: the same boxes, a new instruction before them if there is one, further cards behind. */
async function readyFork(
  work: Work,
  input: In<'agent_turns.fork'>,
  turn: AgentTurnRow,
  source: Source,
  after: readonly PreparedCard[],
): Promise<ReadyTask> {
  const { call, tx } = work;
  const target_ref = input.profile_name ?? turn.profile_name;
  if (target_ref === null) throw invalid(`agent_turn ${turn.agent_turn_id} has no profile: give profile_name`);
  const task = { target_strategy: 'new', target_ref, instruction: '' } as const;
  const target = await targetOf(work, task, source);
  if (isRefusal(target)) throw new CairnError('AGENT_BUSY', target.message);
  const boxes = [await turnBox(tx, turn.context_box_id)];
  if (input.include_output) boxes.push(await turnBox(tx, turn.output_box_id));
  await refuseAbsent(work, boxes, input.without_card_ids ?? []);
  const plan = planPacking(RECIPE, input.instruction === undefined ? {} : { instruction: input.instruction });
  const packing = preparePacking(call, plan, { author: 'fork', source_agent_id: source.agent_id });
  return { target, packing: { ...packing, after }, boxes };
}

/** What is to be left out must be there: else the new one would see what it was not to see, under another id. */
async function refuseAbsent({ call, tx }: Work, boxes: readonly BoxRow[], card_ids: readonly string[]): Promise<void> {
  const present = new Set<string>();
  for (const { box_id } of card_ids.length === 0 ? [] : boxes) {
    const { entered } = await standingOf(tx, box_id, card_ids, call.driver.now());
    for (const id of entered) present.add(id);
  }
  const missing = card_ids.filter((id) => !present.has(id));
  if (missing.length > 0) throw unknownCards('without_card_ids', missing);
}

/**
 * Who forks delegates: an agent by its own rules and depth; the tenant on behalf of who delegated the first, below the
 * agent_turn that this was delegated in as long as that is open.
 */
async function forkingSource(work: Work, turn: AgentTurnRow): Promise<Source> {
  const { call, tx } = work;
  const source: Source =
    call.caller.agent_id === null
      ? { agent_id: turn.source_agent_id, turn: await openParent(tx, turn), depth: turn.depth }
      : await sourceOf(work, undefined);
  if (source.depth > MAX_DEPTH_OF_DELEGATION) throw new CairnError(TOO_DEEP.error_code, TOO_DEEP.message);
  return source;
}

async function openParent(tx: Tx, turn: AgentTurnRow): Promise<AgentTurnRow | undefined> {
  const { parent_agent_turn_id: id } = turn;
  const parent = id === null ? undefined : await lockAgentTurn(tx, id);
  return parent?.ended_at === null ? parent : undefined;
}

/** Beside the one that it was forked from, unless what that was a part of has finished. */
async function parentFor(tx: Tx, turn: AgentTurnRow): Promise<string | null> {
  const own = await findTrajectory(tx, turn.trajectory_id);
  const parent_id = own?.parent_trajectory_id ?? null;
  const parent = parent_id === null ? undefined : await findTrajectory(tx, parent_id);
  return parent && parent.deleted_at === null && !isFinished(parent) ? parent_id : null;
}

export async function fork(call: Call, input: In<'agent_turns.fork'>): Promise<AgentTurn> {
  const { instruction, add_cards = [], without_card_ids = [] } = input;
  const after = add_cards.map((one, i) => inItem('add_cards', i, () => prepareCard(call, one)));
  return change(call, {
    input,
    bytes: after.reduce((sum, { bytes }) => sum + bytes, instruction?.length ?? 0),
    work: async (work) => {
      const { tx } = work;
      const turn = await openTurn(call, tx, input.agent_turn_id);
      const source = await forkingSource(work, turn);
      const ready = await readyFork(work, input, turn, source, after);
      await registerTarget(work, ready.target);
      // The instruction that it had gives way to a new one.
      const old = turn.instruction_card_id;
      const without = instruction === undefined || old === null ? without_card_ids : [...without_card_ids, old];
      const options = {
        channel_id: input.channel_id ?? turn.channel_id,
        trajectory_id: await parentFor(tx, turn),
        forked_from: turn.agent_turn_id,
        instruction_card_id: without.includes(old ?? '') ? null : old,
        without,
      };
      const label = instruction ?? `fork of ${turn.agent_turn_id}`;
      const placed = await placeTask(work, ready, source, options, label);
      const { agent_turn_id } = await dispatch(work, placed, source, options);
      return readTurn(call, tx, agent_turn_id);
    },
    remember: ({ agent_turn_id }) => agent_turn_id,
    again: (query, kept) => readTurn(call, query, kept as string),
  });
}
