/** The turns of a scope, as a list. */
import { type Query, sql, TENANT } from '../../driver/index.js';
import type { In, Out } from '../../engine/contract.js';
import { type Call, reachesSubjects } from '../../engine/index.js';
import { subjectsWithin, type UserReach } from '../../engine/sql.js';
import { entryPage, readCards } from '../../facts/index.js';
import { type CardRow, findBox, type Segment, segmentsOf, tailOf } from '../../facts/sql.js';
import { userReachOf } from '../../identity/index.js';
import { invalid } from '../../kernel/index.js';
import { readScope } from '../scopes/service.js';
import { toTurn } from './store.js';

const MAX_COUNTED = 1_000_000;

/** How many turns of a scope a caller that acts for a user can read. */
async function countTurnsWithin(query: Query, segments: readonly Segment[], user: UserReach): Promise<number> {
  const ids = (await tailOf(query, segments, MAX_COUNTED)).map(({ card_id }) => card_id);
  const row = await query.get<{ total: number }>(
    sql`SELECT COUNT(*) AS total FROM cards c
        WHERE c.tenant_id = ${TENANT} AND c.card_id = ANY(${ids}) AND c.erased_at IS NULL
          AND ${subjectsWithin(user, sql`c.subject_ids`)}`,
  );
  return Number(row!.total);
}

/** In order, without forgotten turns; a closed scope has none. */
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
    const user = userReachOf(call);
    const total = user === undefined ? scope.turns : await countTurnsWithin(query, segments, user);
    const list = { segments, input, filters: { scope_id }, total: box!.length };
    const { rows, ...page } = await entryPage(call, query, list);
    const ids = rows.map(({ card_id }) => card_id);
    const shown = ({ erased_at, subject_ids }: CardRow) =>
      erased_at === null && reachesSubjects(user, subject_ids) ? 1 : 0;
    const cards = await readCards(call, query, ids, shown, 'turns by limit or tail');
    const turns = rows.flatMap(({ position, card_id }) => {
      const card = cards.get(card_id);
      return card ? [toTurn(scope_id, position, card)] : [];
    });
    return { turns, ...page, total: page.total === null ? null : total };
  });
}
