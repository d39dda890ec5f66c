/** What the model of an agent_turn sees: rendered from its boxes, recorded by their revisions, given again byte for byte. */
import { atLength, type Query } from '../../driver/index.js';
import type { In } from '../../engine/contract.js';
import { reads } from '../../engine/contract.js';
import { appendEvent, type Call, change, isGuarded, keptAnswer, writeGuarded } from '../../engine/index.js';
import type { Hydrated, Prompt, PromptFormat } from '../../facts/contract.js';
import { renderSteps } from '../../facts/index.js';
import { findBox } from '../../facts/sql.js';
import { asPermitted, mayReadRecipe } from '../../identity/index.js';
import { CairnError, givingWay, inSteps, invalid } from '../../kernel/index.js';
import { sha256 } from '../../kernel/node.js';
import { cardsAt, cardsSeen, type Held, heldAt, turnBox } from './cards.js';
import { keepRecords, recordsOf } from './prompt-records.js';
import { heldTurn, openTurn, seenHeldTurn } from './service.js';
import { type AgentTurnRow, type AgentTurnView, findStep, insertStep, type StepRow } from './store.js';

/** The boxes of a prompt, and how they stood. */
type Seen = Pick<StepRow, 'context_box_id' | 'context_revision' | 'output_box_id' | 'output_revision'>;

/** What there is to render, by the ids of its cards. */
interface Script {
  readonly turn: AgentTurnView;
  readonly seen: Seen;
  readonly format: PromptFormat;
  readonly boxes: readonly Held[];
  /** When it is looked at, which says what has expired. */
  readonly moment: number;
  readonly last: StepRow | undefined;
}

interface View extends Script {
  readonly prompt: Prompt;
  readonly content_hash: string;
}

/** So many cards are read at once; more are read off the event loop, where the database would block it. */
const FEW_CARDS = 500;
/** How often a prompt is rendered beside its boxes changing, before they have to wait for it. */
const TRIES = 3;

async function seenOf(query: Query, turn: AgentTurnRow): Promise<Seen> {
  const context = await turnBox(query, turn.context_box_id);
  const output = await turnBox(query, turn.output_box_id);
  return {
    context_box_id: context.box_id,
    context_revision: context.revision,
    output_box_id: output.box_id,
    output_revision: output.revision,
  };
}

const isSeen = (one: Seen, other: Seen): boolean =>
  one.context_box_id === other.context_box_id &&
  one.context_revision === other.context_revision &&
  one.output_box_id === other.output_box_id &&
  one.output_revision === other.output_revision;

async function boxesOf(query: Query, seen: Seen): Promise<Held[]> {
  const context = await turnBox(query, seen.context_box_id);
  const output = await turnBox(query, seen.output_box_id);
  return [
    await heldAt(query, { box: context, revision: seen.context_revision }),
    await heldAt(query, { box: output, revision: seen.output_revision }),
  ];
}

/** What the holder of an agent_turn is to be shown now. */
async function scriptFor(call: Call, query: Query, input: In<'agent_turns.hydrate'>, moment: number): Promise<Script> {
  const turn = await seenHeldTurn(call, query, input, moment);
  const seen = await seenOf(query, turn);
  const boxes = await boxesOf(query, seen);
  const last = await findStep(query, turn.agent_turn_id, undefined);
  return { turn, seen, format: input.format ?? 'openai', boxes, moment, last };
}

/** Cards stay as they are, so it does not matter when they are read, as long as they are there. */
async function renderScript(call: Call, query: Query, script: Script): Promise<View> {
  const { turn, boxes, moment, format } = script;
  const cards = await cardsAt(call, query, boxes, moment);
  const [profile] = turn.profile_card_id === null ? [] : await cardsSeen(call, query, [turn.profile_card_id]);
  const give_way = givingWay();
  const steps = renderSteps({ profile: profile?.content ?? null, cards, format });
  const { prompt, text } = await inSteps(steps, give_way);
  await give_way();
  return { ...script, prompt, content_hash: sha256(text) };
}

/** Renders beside all writers. */
function renderApart(call: Call, script: Script): Promise<View> {
  const { driver, tenant } = call;
  const count = script.boxes.reduce((sum, { card_ids }) => sum + card_ids.length, 0);
  return renderScript(call, count > FEW_CARDS ? atLength(driver, tenant) : driver.at(tenant), script);
}

const answer = (turn: AgentTurnRow, step: StepRow, prompt: Prompt): Hydrated => ({
  ...prompt,
  agent_turn_id: turn.agent_turn_id,
  turn_epoch: step.turn_epoch,
  step: step.step,
  prompt_card_id: step.prompt_card_id,
  tools_card_id: step.tools_card_id,
  content_hash: step.content_hash,
});

/** The last step, if it is this: the same again is no new one, nothing is to be recorded that is not there. */
const asStep = (last: StepRow | undefined, { content_hash, format }: View): StepRow | undefined =>
  last?.content_hash === content_hash && last.format === format ? last : undefined;

const sameAgain = ({ turn, prompt }: View, last: StepRow): Hydrated => ({
  ...answer(turn, last, prompt),
  turn_epoch: turn.turn_epoch,
});

async function viewNow(call: Call, input: In<'agent_turns.hydrate'>): Promise<View> {
  const { driver, tenant } = call;
  try {
    const now = driver.now();
    const script = await driver.snapshot(tenant, (query) => scriptFor(call, query, input, now));
    return await renderApart(call, script);
  } catch (error) {
    // Who is late is told so before anything else.
    if (isGuarded(call)) await writeGuarded(call, async () => undefined);
    throw error;
  }
}

/** Thrown in a transaction whose prompt was rendered from boxes that have changed since. */
class BoxesMoved extends Error {}

export async function hydrate(call: Call, input: In<'agent_turns.hydrate'>): Promise<Hydrated> {
  const kept = await keptAnswer(call, input);
  if (kept !== undefined) return replay(call, { agent_turn_id: input.agent_turn_id, step: kept as number });
  const leavesTrace = call.options.idempotency_key !== undefined || isGuarded(call);
  for (let left = TRIES; ; left--) {
    const view = await viewNow(call, input);
    const same = asStep(view.last, view);
    if (same && !leavesTrace) return sameAgain(view, same);
    try {
      return await record(call, input, view, left > 1);
    } catch (error) {
      if (!(error instanceof BoxesMoved)) throw error;
    }
  }
}

/** Records what was rendered, if the boxes still stand as they did; else it is to be rendered anew, or is so at once. */
async function record(call: Call, input: In<'agent_turns.hydrate'>, shown: View, anew: boolean): Promise<Hydrated> {
  const cards = recordsOf(call, shown.turn.agent_id, shown.prompt);
  return change(call, {
    input,
    bytes: cards.bytes,
    work: async (work) => {
      const { tx, now } = work;
      const turn = await heldTurn(work, input);
      const moved = !isSeen(await seenOf(tx, turn), shown.seen);
      if (moved && anew) throw new BoxesMoved();
      const view = moved ? await renderScript(call, tx, await scriptFor(call, tx, input, now)) : shown;
      const last = await findStep(tx, turn.agent_turn_id, undefined);
      const same = asStep(last, view);
      if (same) return sameAgain({ ...view, turn }, same);
      const { format, content_hash, moment } = view;
      const records = moved ? recordsOf(call, turn.agent_id, view.prompt) : cards;
      const step: StepRow = {
        ...view.seen,
        ...(await keepRecords(work, turn, last, records)),
        step: (last?.step ?? 0) + 1,
        turn_epoch: turn.turn_epoch,
        format,
        content_hash,
        // What had expired by then was not shown, and is not when it is replayed.
        created_at: moment,
      };
      await insertStep(tx, turn.agent_turn_id, step);
      const facts = { step: step.step, turn_epoch: step.turn_epoch, format, content_hash };
      const { agent_turn_id, trajectory_id } = turn;
      appendEvent(work, 'cairn.agent_turn.hydrated', { type: 'agent_turn', id: agent_turn_id }, facts, trajectory_id);
      return answer(turn, step, view.prompt);
    },
    remember: ({ step }) => step,
    again: async (query, kept) => {
      const script = await scriptOf(call, query, input.agent_turn_id, kept as number);
      return asRecorded(await renderScript(call, query, script), script.step);
    },
  });
}

/** What a step showed, as a script. */
async function scriptOf(
  call: Call,
  query: Query,
  agent_turn_id: string,
  wanted: number | undefined,
): Promise<Script & { readonly step: StepRow }> {
  const turn = await openTurn(call, query, agent_turn_id);
  const step = await findStep(query, agent_turn_id, wanted);
  if (!step) {
    const which = wanted === undefined ? 'was never hydrated' : `has no step ${wanted}`;
    throw invalid(`agent_turn ${agent_turn_id} ${which}: there is nothing to replay`);
  }
  const boxes = await boxesOf(query, step);
  return { turn, seen: step, format: step.format, boxes, moment: step.created_at, last: step, step };
}

function asRecorded({ turn, prompt, content_hash }: View, step: StepRow): Hydrated {
  if (content_hash === step.content_hash) return answer(turn, step, prompt);
  throw new CairnError(
    'STORAGE_FAILED',
    `step ${step.step} of agent_turn ${turn.agent_turn_id} renders otherwise than it did: what it showed was altered in the database`,
  );
}

/** A prompt begins with what the profile says: to a party that did not do the turn it is shown if it may read that. */
async function refusePrompt(call: Call, turn: AgentTurnRow): Promise<void> {
  const { agent_id } = call.caller;
  if (agent_id === null || agent_id === turn.agent_id || turn.profile_box_id === null) return;
  const box = await findBox(call.driver.at(call.tenant), turn.profile_box_id);
  const reader = await asPermitted(call, ['parties', reads('Card', 'named')], {});
  if (mayReadRecipe(reader, box?.agent_id ?? null)) return;
  throw new CairnError(
    'FORBIDDEN',
    `agent ${agent_id} may not see this prompt: it has what the profile "${turn.profile_name}" says, which takes the right to read all cards`,
    { rule: 'memory_access', memory_type: 'Card', need: 'read' },
  );
}

export async function replay(call: Call, { agent_turn_id, step }: In<'agent_turns.replay'>): Promise<Hydrated> {
  const script = await call.driver.snapshot(call.tenant, (query) => scriptOf(call, query, agent_turn_id, step));
  await refusePrompt(call, script.turn);
  return asRecorded(await renderApart(call, script), script.step);
}
