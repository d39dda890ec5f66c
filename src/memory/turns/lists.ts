/** The turns of a scope, as a list. */
import type { z } from 'zod';
import type { Call } from '../../engine/index.js';
import { entryPage, readCards } from '../../facts/index.js';
import { findBox, segmentsOf } from '../../facts/sql.js';
import { invalid } from '../../kernel/index.js';
import type { scopes } from '../scopes/contract.js';
import { readScope } from '../scopes/service.js';
import { toTurn } from './store.js';

type ListIn = z.output<(typeof scopes)['turns']['input']>;
type ListOut = z.output<(typeof scopes)['turns']['output']>;

/** The turns of a scope, in order; a closed one has none. */
export function turnsOf(call: Call, input: ListIn): Promise<ListOut> {
  const { tenant } = call;
  const { scope_id, tail } = input;
  if (tail !== undefined && (input.cursor ?? input.offset ?? input.limit) !== undefined) {
    throw invalid('tail gives the last turns and goes with neither limit, cursor nor offset');
  }
  return call.driver.snapshot(tenant, async (query) => {
    const scope = await readScope(call, query, scope_id);
    if (!scope.is_active) return { turns: [], next_cursor: null, total: 0 };
    const box = await findBox(query, scope.box_id);
    const segments = await segmentsOf(query, box!);
    const entries = { segments, input, filters: { scope_id }, total: box!.length };
    const { rows, ...page } = await entryPage(call, query, entries);
    const ids = rows.map(({ card_id }) => card_id);
    const cards = await readCards(call, query, ids, () => 1, 'turns by limit or tail');
    return { turns: rows.map(({ position, card_id }) => toTurn(scope_id, position, cards.get(card_id)!)), ...page };
  });
}
