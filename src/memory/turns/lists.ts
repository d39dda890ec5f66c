/** The turns of a scope, as a list. */
import type { In, Out } from '../../engine/contract.js';
import type { Call } from '../../engine/index.js';
import { entryPage, readCards } from '../../facts/index.js';
import { findBox, segmentsOf } from '../../facts/sql.js';
import { invalid } from '../../kernel/index.js';
import { readScope } from '../scopes/service.js';
import { toTurn } from './store.js';

/** In order; a closed scope has none. */
export function turnsOf(call: Call, input: In<'scopes.turns'>): Promise<Out<'scopes.turns'>> {
  const { scope_id, tail } = input;
  if (tail !== undefined && (input.cursor ?? input.offset ?? input.limit) !== undefined) {
    throw invalid('`tail` cannot be combined with limit, cursor or offset');
  }
  return call.driver.snapshot(call.tenant, async (query) => {
    const scope = await readScope(call, query, scope_id);
    if (!scope.is_active) return { turns: [], next_cursor: null, total: 0 };
    const box = await findBox(query, scope.box_id);
    const segments = await segmentsOf(query, box!);
    const list = { segments, input, filters: { scope_id }, total: box!.length };
    const { rows, ...page } = await entryPage(call, query, list);
    const ids = rows.map(({ card_id }) => card_id);
    const cards = await readCards(call, query, ids, () => 1, 'turns by limit or tail');
    return { turns: rows.map(({ position, card_id }) => toTurn(scope_id, position, cards.get(card_id)!)), ...page };
  });
}
