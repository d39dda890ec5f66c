/** Records of prompts: system prompt and tools as rendered, as cards in a box that no model sees. */
import type { Call, Work } from '../../engine/index.js';
import { turnBoxHolder } from '../../engine/sql.js';
import type { Prompt } from '../../facts/contract.js';
import { addCard, makeBox, type PreparedCard, prepareCard } from '../../facts/index.js';
import { findCards, lockBox } from '../../facts/sql.js';
import { type Json, newId } from '../../kernel/contract.js';
import { appendToBox } from './steps.js';
import { type AgentTurnView, changeAgentTurn, type StepRow } from './store.js';

interface Records {
  readonly prompt: PreparedCard;
  readonly tools: PreparedCard;
  readonly bytes: number;
}

export function recordsOf(call: Call, agent_id: string, { system, tools }: Prompt): Records {
  const prepare = (type: string, content: Json): PreparedCard =>
    prepareCard(call, { content, metadata: { type, role: 'system' } }, agent_id);
  const prompt = prepare('sys.rendered_prompt', system);
  const list = prepare('sys.tools', { tools });
  return { prompt, tools: list, bytes: prompt.bytes + list.bytes };
}

/** Stores the records of a step; a record equal to that of the last step is shared with it. */
export async function keepRecords(
  work: Work,
  turn: AgentTurnView,
  last: StepRow | undefined,
  { prompt, tools }: Records,
): Promise<Pick<StepRow, 'prompt_card_id' | 'tools_card_id'>> {
  const { tx, now } = work;
  const known = last ? await findCards(tx, [last.prompt_card_id, last.tools_card_id]) : new Map();
  const box_id = await recordBoxOf(work, turn);
  const added: string[] = [];
  const keep = async (last_id: string | undefined, prepared: PreparedCard): Promise<string> => {
    const row = known.get(last_id ?? '');
    if (row?.erased_at === null && row.content_hash === prepared.content_hash) return row.card_id;
    const { card } = await addCard(work, prepared, turnBoxHolder(box_id));
    added.push(card.card_id);
    return card.card_id;
  };
  const prompt_card_id = await keep(last?.prompt_card_id, prompt);
  const tools_card_id = await keep(last?.tools_card_id, tools);
  if (added.length > 0) await appendToBox(tx, (await lockBox(tx, box_id))!, added, now);
  return { prompt_card_id, tools_card_id };
}

/** The record box of an agent_turn, created with its first record. */
async function recordBoxOf({ tx, now }: Work, turn: AgentTurnView): Promise<string> {
  if (turn.record_box_id !== null) return turn.record_box_id;
  const box_id = newId();
  const held_by = turnBoxHolder(box_id);
  await makeBox(tx, { box_id, agent_id: turn.agent_id, metadata: '{}', sent_hash: null, length: 0, held_by }, now);
  await changeAgentTurn(tx, turn, { record_box_id: box_id }, now);
  return box_id;
}
