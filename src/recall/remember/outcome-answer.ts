/** The outcome of a remembered note: its links, with the texts that they point to. */
import type { Out } from '../../engine/contract.js';
import type { Call } from '../../engine/index.js';
import { toIso } from '../../kernel/index.js';
import { beginningOf } from '../ranking/snippets.js';
import { textsOfCards } from '../updating/marks.js';
import type { LinkedNote } from '../updating/service.js';

type Outcome = Pick<Out<'memory.remember'>, 'outcome' | 'superseded' | 'contradicts' | 'strengthens' | 'superseded_by'>;

const OUTCOMES = [
  ['superseded', 'superseded'],
  ['contradicts', 'contradictory'],
  ['strengthens', 'strengthened'],
] as const;

export async function outcomeOf(call: Call, linked: readonly LinkedNote[]): Promise<Outcome> {
  if (linked.length === 0) return { outcome: 'added' };
  const texts = await textsOfCards(
    call.driver.at(call.tenant),
    linked.map(({ card_id }) => card_id),
  );
  const lists: { [K in LinkedNote['link']]?: { id: string; text: string; value: string; occurred_at: string }[] } = {};
  for (const { link, id, card_id, start, end, at } of linked) {
    const text = texts.get(card_id) ?? '';
    const one = { id, text: beginningOf(text), value: text.slice(start, end), occurred_at: toIso(at) };
    lists[link] = [...(lists[link] ?? []), one];
  }
  const outcome = OUTCOMES.find(([link]) => lists[link] !== undefined)?.[1] ?? 'added';
  return { outcome, ...lists };
}
