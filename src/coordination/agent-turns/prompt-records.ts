/** The records of prompts: system prompt and tools as they were rendered, as cards that no model sees. */
import type { Tx } from '../../driver/index.js';
import type { Call, Work } from '../../engine/index.js';
import { turnBoxHolder } from '../../engine/sql.js';
import type { Prompt } from '../../facts/contract.js';
import { addCard, makeBox, type PreparedCard, prepareCard } from '../../facts/index.js';
import { type CardRow, findCards, growBox, insertEntries, lockBox } from '../../facts/sql.js';
import { type Json, newId } from '../../kernel/contract.js';
import { type AgentTurnView, changeAgentTurn, type StepRow } from './store.js';

/** What is kept of a prompt, ready to be added. */
export interface Records {
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

/** The prompt and tools as cards, in a box of their own, which no model sees. Those of the last step, if they say the same. */
export async function keepRecords(
  work: Work,
  turn: AgentTurnView,
  last: StepRow | undefined,
  { prompt, tools }: Records,
): Promise<Pick<StepRow, 'prompt_card_id' | 'tools_card_id'>> {
  const { tx, now } = work;
  const known = last ? await findCards(tx, [last.prompt_card_id, last.tools_card_id]) : new Map();
  const says = (card_id: string | undefined, { content_hash }: PreparedCard): boolean => {
    const row: CardRow | undefined = known.get(card_id ?? '');
    return row?.erased_at === null && row.content_hash === content_hash;
  };
  const box_id = await recordBoxOf(tx, turn, now);
  const added: string[] = [];
  const keep = async (card_id: string | undefined, prepared: PreparedCard): Promise<string> => {
    if (card_id !== undefined && says(card_id, prepared)) return card_id;
    const { card } = await addCard(work, prepared, turnBoxHolder(box_id));
    added.push(card.card_id);
    return card.card_id;
  };
  const prompt_card_id = await keep(last?.prompt_card_id, prompt);
  const tools_card_id = await keep(last?.tools_card_id, tools);
  await putRecords(tx, box_id, added, now);
  return { prompt_card_id, tools_card_id };
}

/** The box with the records of an agent_turn, made when there is one to keep. */
async function recordBoxOf(tx: Tx, turn: AgentTurnView, now: number): Promise<string> {
  if (turn.record_box_id !== null) return turn.record_box_id;
  const box_id = newId();
  const held_by = turnBoxHolder(box_id);
  const { agent_id } = turn;
  await makeBox(tx, { box_id, agent_id, metadata: '{}', sent_hash: null, length: 0, held_by }, now);
  await changeAgentTurn(tx, turn, { record_box_id: box_id }, now);
  return box_id;
}

async function putRecords(tx: Tx, box_id: string, card_ids: readonly string[], now: number): Promise<void> {
  if (card_ids.length === 0) return;
  const box = (await lockBox(tx, box_id))!;
  const { length, next_position } = box;
  const revision = box.revision + 1;
  await insertEntries(tx, box_id, { position: next_position, behind: length, revision }, card_ids);
  await growBox(tx, box_id, {
    revision,
    length: length + card_ids.length,
    next_position: next_position + card_ids.length,
    updated_at: now,
  });
}
