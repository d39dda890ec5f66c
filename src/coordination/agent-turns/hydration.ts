/** Prompts of agent_turns: rendered from the boxes, recorded by box revisions, replayed byte for byte. */
import { longQuery, type Query } from '../../driver/index.js';
import type { In } from '../../engine/contract.js';
import { reads } from '../../engine/contract.js';
import { appendEvent, type Call, change, isGuarded, storedReplay, writeGuarded } from '../../engine/index.js';
import type { Hydrated, Prompt, PromptFormat } from '../../facts/contract.js';
import { renderSteps } from '../../facts/index.js';
import { findBox } from '../../facts/sql.js';
import { asPermitted, mayReadRecipe } from '../../identity/index.js';
import { CairnError, cooperativeYield, invalid, runWithYields } from '../../kernel/index.js';
import { sha256 } from '../../kernel/node.js';
import { type BoxView, cardsAt, cardsSeen, turnBox, turnBoxAt } from './cards.js';
import { keepRecords, recordsOf } from './prompt-records.js';
import { findHeldTurn, heldTurn, openTurn } from './service.js';
import { type AgentTurnRow, type AgentTurnView, findStep, insertStep, type StepRow } from './store.js';

/** The boxes of a prompt and their revisions. */
type Revisions = Pick<StepRow, 'context_box_id' | 'context_revision' | 'output_box_id' | 'output_revision'>;

/** The input of a rendering: cards by id. */
interface Script {
  readonly turn: AgentTurnView;
  readonly revisions: Revisions;
  readonly format: PromptFormat;
  readonly boxes: readonly BoxView[];
  /** Decides which cards have expired. */
  readonly moment: number;
  readonly last: StepRow | undefined;
}

interface View extends Script {
  readonly prompt: Prompt;
  readonly content_hash: string;
}

/** Above this many cards a prompt is read off the event loop. */
const MAX_CARDS_ON_LOOP = 500;
/** Attempts to render outside the transaction before the boxes are locked for it. */
const MAX_ATTEMPTS = 3;

async function revisionsOf(query: Query, turn: AgentTurnRow): Promise<Revisions> {
  const context = await turnBox(query, turn.context_box_id);
  const output = await turnBox(query, turn.output_box_id);
  return {
    context_box_id: context.box_id,
    context_revision: context.revision,
    output_box_id: output.box_id,
    output_revision: output.revision,
  };
}

const sameRevisions = (one: Revisions, other: Revisions): boolean =>
  (Object.keys(one) as (keyof Revisions)[]).every((name) => one[name] === other[name]);

const boxesOf = async (query: Query, revisions: Revisions): Promise<BoxView[]> => [
  await turnBoxAt(query, revisions.context_box_id, revisions.context_revision),
  await turnBoxAt(query, revisions.output_box_id, revisions.output_revision),
];

/** The current script for the holder of an agent_turn. */
async function scriptFor(call: Call, query: Query, input: In<'agent_turns.hydrate'>, moment: number): Promise<Script> {
  const turn = await findHeldTurn(call, query, input, moment);
  const revisions = await revisionsOf(query, turn);
  const boxes = await boxesOf(query, revisions);
  const last = await findStep(query, turn.agent_turn_id, undefined);
  return { turn, revisions, format: input.format ?? 'openai', boxes, moment, last };
}

/** Cards are immutable, so they may be read after the boxes. */
async function renderScript(call: Call, query: Query, script: Script): Promise<View> {
  const { turn, boxes, moment, format } = script;
  const cards = await cardsAt(call, query, boxes, moment);
  const [profile] = turn.profile_card_id === null ? [] : await cardsSeen(call, query, [turn.profile_card_id]);
  const maybe_yield = cooperativeYield();
  const steps = renderSteps({ profile: profile?.content ?? null, cards, format });
  const { prompt, text } = await runWithYields(steps, maybe_yield);
  await maybe_yield();
  return { ...script, prompt, content_hash: sha256(text) };
}

/** Renders outside any transaction. */
function renderApart(call: Call, script: Script): Promise<View> {
  const { driver, tenant } = call;
  const count = script.boxes.reduce((sum, { card_ids }) => sum + card_ids.length, 0);
  return renderScript(call, count > MAX_CARDS_ON_LOOP ? longQuery(driver, tenant) : driver.at(tenant), script);
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

/** The last step, if it shows the same prompt: then no new step is recorded. */
const sameStep = (last: StepRow | undefined, { content_hash, format }: View): StepRow | undefined =>
  last?.content_hash === content_hash && last.format === format ? last : undefined;

const sameAgain = ({ turn, prompt }: View, last: StepRow): Hydrated => ({
  ...answer(turn, last, prompt),
  turn_epoch: turn.turn_epoch,
});

async function viewNow(call: Call, input: In<'agent_turns.hydrate'>): Promise<View> {
  try {
    const now = call.driver.now();
    const script = await call.driver.snapshot(call.tenant, (query) => scriptFor(call, query, input, now));
    return await renderApart(call, script);
  } catch (error) {
    // A stale guard is reported before any other error.
    if (isGuarded(call)) await writeGuarded(call, async () => undefined);
    throw error;
  }
}

/** Rolls back a record whose boxes changed since the prompt was rendered. */
class BoxesMoved extends Error {}

export async function hydrate(call: Call, input: In<'agent_turns.hydrate'>): Promise<Hydrated> {
  const kept = await storedReplay(call, input);
  if (kept !== undefined) return replay(call, { agent_turn_id: input.agent_turn_id, step: kept as number });
  const needsWrite = call.options.idempotency_key !== undefined || isGuarded(call);
  for (let left = MAX_ATTEMPTS; ; left--) {
    const view = await viewNow(call, input);
    const same = sameStep(view.last, view);
    if (same && !needsWrite) return sameAgain(view, same);
    try {
      return await record(call, input, view, left > 1);
    } catch (error) {
      if (!(error instanceof BoxesMoved)) throw error;
    }
  }
}

/** Records a rendered prompt. If its boxes changed meanwhile, throws BoxesMoved (`retry`) or renders it again here. */
async function record(call: Call, input: In<'agent_turns.hydrate'>, shown: View, retry: boolean): Promise<Hydrated> {
  const cards = recordsOf(call, shown.turn.agent_id, shown.prompt);
  return change(call, {
    input,
    bytes: cards.bytes,
    work: async (work) => {
      const { tx, now } = work;
      const turn = await heldTurn(work, input);
      const moved = !sameRevisions(await revisionsOf(tx, turn), shown.revisions);
      if (moved && retry) throw new BoxesMoved();
      const view = moved ? await renderScript(call, tx, await scriptFor(call, tx, input, now)) : shown;
      const last = await findStep(tx, turn.agent_turn_id, undefined);
      const same = sameStep(last, view);
      if (same) return sameAgain({ ...view, turn }, same);
      const { format, content_hash, moment } = view;
      const records = moved ? recordsOf(call, turn.agent_id, view.prompt) : cards;
      const step: StepRow = {
        ...view.revisions,
        ...(await keepRecords(work, turn, last, records)),
        step: (last?.step ?? 0) + 1,
        turn_epoch: turn.turn_epoch,
        format,
        content_hash,
        // A replay omits the cards that had expired at this moment.
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

/** The script of a recorded step; default: the last. */
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
    throw invalid(`agent_turn ${agent_turn_id} ${which}: hydrate it first`);
  }
  const boxes = await boxesOf(query, step);
  return { turn, revisions: step, format: step.format, boxes, moment: step.created_at, last: step, step };
}

function asRecorded({ turn, prompt, content_hash }: View, step: StepRow): Hydrated {
  if (content_hash === step.content_hash) return answer(turn, step, prompt);
  throw new CairnError(
    'STORAGE_FAILED',
    `step ${step.step} of agent_turn ${turn.agent_turn_id} renders differently than recorded: its content was altered`,
  );
}

/** A prompt contains the profile: a party other than the agent itself needs the right to read it. */
async function refusePrompt(call: Call, turn: AgentTurnRow): Promise<void> {
  const { agent_id } = call.caller;
  if (agent_id === null || agent_id === turn.agent_id || turn.profile_box_id === null) return;
  const box = await findBox(call.driver.at(call.tenant), turn.profile_box_id);
  const reader = await asPermitted(call, ['parties', reads('Card', 'named')], {});
  if (mayReadRecipe(reader, box?.agent_id ?? null)) return;
  throw new CairnError(
    'FORBIDDEN',
    `agent ${agent_id} may not see this prompt: its profile "${turn.profile_name}" needs the right to read all cards`,
    { rule: 'memory_access', memory_type: 'Card', need: 'read' },
  );
}

export async function replay(call: Call, { agent_turn_id, step }: In<'agent_turns.replay'>): Promise<Hydrated> {
  const script = await call.driver.snapshot(call.tenant, (query) => scriptOf(call, query, agent_turn_id, step));
  await refusePrompt(call, script.turn);
  return asRecorded(await renderApart(call, script), script.step);
}
