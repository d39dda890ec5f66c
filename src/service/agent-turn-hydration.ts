/** What the model of an agent_turn sees: rendered from its boxes, recorded by their revisions, given again byte for byte. */
import type { z } from 'zod';
import type { agent_turns as operations } from '../contract/agent-turns.js';
import { canonical, sha256 } from '../domain/canonical.js';
import { hydrate as render } from '../domain/hydration.js';
import type { Query, Tx } from '../driver/driver.js';
import { CairnError } from '../model/errors.js';
import type { Hydrated, Prompt, PromptFormat } from '../model/hydration.js';
import { newId } from '../model/ids.js';
import type { Json } from '../model/json.js';
import {
  type AgentTurnRow,
  type AgentTurnView,
  changeAgentTurn,
  findStep,
  insertStep,
  type StepRow,
} from '../store/agent-turns.js';
import { insertEntries } from '../store/box-entries.js';
import { growBox, lockBox } from '../store/boxes.js';
import { turnBoxHolder } from '../store/endings.js';
import { heldTurn, openTurn } from './agent-turns.js';
import { makeBox } from './box-making.js';
import { addCard, prepareCard } from './cards.js';
import type { Call } from './runtime.js';
import { cardsOfBoxes, cardsSeen, turnBox } from './turn-cards.js';
import { change, event } from './write.js';

type In<V extends keyof typeof operations> = z.output<(typeof operations)[V]['input']>;

/** The boxes of a prompt, and how they stood. */
type Seen = Pick<StepRow, 'context_box_id' | 'context_revision' | 'output_box_id' | 'output_revision'>;

async function renderSeen(
  call: Call,
  query: Query,
  turn: AgentTurnRow,
  seen: Seen,
  format: PromptFormat,
): Promise<{ prompt: Prompt; content_hash: string }> {
  const context = await turnBox(call, query, seen.context_box_id);
  const output = await turnBox(call, query, seen.output_box_id);
  const cards = await cardsOfBoxes(call, query, [
    { box: context, revision: seen.context_revision },
    { box: output, revision: seen.output_revision },
  ]);
  const [profile] = turn.profile_card_id === null ? [] : await cardsSeen(call, query, [turn.profile_card_id]);
  const prompt = render({ profile: profile?.content ?? null, cards, format });
  return { prompt, content_hash: sha256(canonical(prompt as Json)) };
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

export async function hydrate(call: Call, input: In<'hydrate'>): Promise<Hydrated> {
  const { tenant } = call;
  const format = input.format ?? 'openai';
  return change(call, {
    input,
    work: async (tx, now) => {
      const turn = await heldTurn(call, tx, input, now);
      const context = await turnBox(call, tx, turn.context_box_id);
      const output = await turnBox(call, tx, turn.output_box_id);
      const seen: Seen = {
        context_box_id: context.box_id,
        context_revision: context.revision,
        output_box_id: output.box_id,
        output_revision: output.revision,
      };
      const { prompt, content_hash } = await renderSeen(call, tx, turn, seen, format);
      const last = await findStep(tx, tenant, turn.agent_turn_id, undefined);
      // The same again is no new step: nothing is to be recorded that is not there.
      if (last?.content_hash === content_hash && last.format === format) {
        return { ...answer(turn, last, prompt), turn_epoch: turn.turn_epoch };
      }
      const kept = await keepPrompt(call, tx, turn, prompt, now);
      const step: StepRow = {
        ...seen,
        ...kept,
        step: (last?.step ?? 0) + 1,
        turn_epoch: turn.turn_epoch,
        format,
        content_hash,
        created_at: now,
      };
      await insertStep(tx, tenant, turn.agent_turn_id, step);
      const facts = { step: step.step, turn_epoch: step.turn_epoch, format, content_hash };
      const { agent_turn_id, trajectory_id } = turn;
      tx.journal(
        event(call, now, 'cairn.agent_turn.hydrated', 'agent_turn', agent_turn_id, facts, trajectory_id),
      );
      return answer(turn, step, prompt);
    },
    remember: ({ step }) => step,
    again: (query, kept) => readStep(call, query, input.agent_turn_id, kept as number),
  });
}

/** The prompt and tools as cards, in a box of their own, which no model sees. */
async function keepPrompt(
  call: Call,
  tx: Tx,
  turn: AgentTurnView,
  { system, tools }: Prompt,
  now: number,
): Promise<Pick<StepRow, 'prompt_card_id' | 'tools_card_id'>> {
  const { tenant } = call;
  let box_id = turn.record_box_id;
  if (box_id === null) {
    box_id = newId();
    const held_by = turnBoxHolder(box_id);
    const { agent_id } = turn;
    await makeBox(call, tx, { box_id, agent_id, metadata: '{}', sent_hash: null, length: 0, held_by }, now);
    await changeAgentTurn(tx, tenant, turn, { record_box_id: box_id }, now);
  }
  const add = async (type: string, content: Json): Promise<string> => {
    const prepared = prepareCard(call, { content, metadata: { type, role: 'system' } }, turn.agent_id);
    return (await addCard(call, tx, prepared, now, turnBoxHolder(box_id))).card.card_id;
  };
  const prompt_card_id = await add('sys.rendered_prompt', system);
  const tools_card_id = await add('sys.tools', { tools });
  const box = (await lockBox(tx, tenant, box_id))!;
  const revision = box.revision + 1;
  const place = { position: box.next_position, behind: box.length, revision };
  await insertEntries(tx, tenant, box_id, place, [prompt_card_id, tools_card_id]);
  const { length, next_position } = box;
  await growBox(tx, tenant, box_id, {
    revision,
    length: length + 2,
    next_position: next_position + 2,
    updated_at: now,
  });
  return { prompt_card_id, tools_card_id };
}

async function readStep(
  call: Call,
  query: Query,
  agent_turn_id: string,
  wanted: number | undefined,
): Promise<Hydrated> {
  const turn = await openTurn(call, query, agent_turn_id);
  const step = await findStep(query, call.tenant, agent_turn_id, wanted);
  if (!step) {
    const which = wanted === undefined ? 'was never hydrated' : `has no step ${wanted}`;
    throw new CairnError('INVALID_INPUT', `agent_turn ${agent_turn_id} ${which}: there is nothing to replay`);
  }
  const { prompt, content_hash } = await renderSeen(call, query, turn, step, step.format);
  if (content_hash !== step.content_hash) {
    throw new Error(`step ${step.step} of agent_turn ${agent_turn_id} renders otherwise than it did`);
  }
  return answer(turn, step, prompt);
}

export const replay = (call: Call, input: In<'replay'>): Promise<Hydrated> =>
  call.driver.snapshot(call.tenant, (query) => readStep(call, query, input.agent_turn_id, input.step));
