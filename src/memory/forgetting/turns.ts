/** Forgetting turns. They keep their sequence, and neither count nor cost tokens any more. */
import { byDialect, type Query, type Sql, sql, TENANT, type Tx } from '../../driver/index.js';
import type { Forgetter } from '../../engine/index.js';
import { contentsOf } from '../../facts/index.js';
import { forgetCards } from '../../facts/sql.js';
import { selectIds } from '../rows.js';

/** INDEXED BY: SQLite would otherwise scan a whole box. */
const entriesByCard: Sql = byDialect({
  sqlite: sql`box_entries e INDEXED BY box_entries_by_card`,
  postgres: sql`box_entries e`,
});

/** The boxes that show a turn, forks included. */
const showing = (turn_id: string): Sql =>
  sql`WITH RECURSIVE held(box_id, position) AS (
        SELECT e.box_id, e.position FROM ${entriesByCard} WHERE e.tenant_id = ${TENANT} AND e.card_id = ${turn_id}
        UNION
        SELECT f.box_id, h.position FROM held h CROSS JOIN boxes f
          WHERE f.tenant_id = ${TENANT} AND f.base_box_id = h.box_id AND h.position < f.base_position
      )`;

interface TokenCount {
  readonly card_id: string;
  readonly token_count: number | null;
}

const tokensOf = (query: Query, ids: readonly string[]): Promise<TokenCount[]> =>
  query.all<TokenCount>(
    sql`SELECT c.card_id, CAST(c.metadata ->> 'token_count' AS BIGINT) AS token_count FROM cards c
        WHERE c.tenant_id = ${TENANT} AND c.card_id = ANY(${ids}) AND c.erased_at IS NULL ORDER BY c.card_id`,
  );

/** Locks the scopes that show any of these turns: before their cards. */
async function lockShowing(tx: Tx, ids: readonly string[]): Promise<void> {
  const scope_ids = new Set<string>();
  for (const id of ids)
    for (const scope_id of await selectIds(
      tx,
      sql`${showing(id)} SELECT s.scope_id AS id FROM held h
            JOIN scopes s ON s.tenant_id = ${TENANT} AND s.box_id = h.box_id`,
    ))
      scope_ids.add(scope_id);
  await tx.all(
    sql`SELECT scope_id FROM scopes WHERE tenant_id = ${TENANT} AND scope_id = ANY(${[...scope_ids]})
        ORDER BY scope_id FOR UPDATE`,
  );
}

/** The checkpoints of these scopes lose their context_state too: whoever wrote it had read the turn. */
async function uncount(tx: Tx, { card_id, token_count }: TokenCount): Promise<void> {
  const tokens = Number(token_count ?? 0);
  const shown = sql`(${showing(card_id)} SELECT box_id FROM held)`;
  await tx.send(
    sql`UPDATE scopes SET forgotten_turns = forgotten_turns + 1,
          tokens_used = CASE WHEN tokens_used > ${tokens} THEN tokens_used - ${tokens} ELSE 0 END
        WHERE tenant_id = ${TENANT} AND box_id IN ${shown}`,
  );
  // A checkpoint's box is a fork of its scope's.
  const ofScopes = sql`scope_id IN (
    SELECT s.scope_id FROM scopes s WHERE s.tenant_id = ${TENANT} AND s.box_id IN ${shown})`;
  await tx.send(
    sql`UPDATE scope_checkpoints SET forgotten_turns = forgotten_turns + 1,
          tokens_used = CASE WHEN tokens_used > ${tokens} THEN tokens_used - ${tokens} ELSE 0 END
        WHERE tenant_id = ${TENANT} AND ${ofScopes} AND box_id IN ${shown}`,
  );
  await tx.send(sql`UPDATE scope_checkpoints SET context_state = NULL WHERE tenant_id = ${TENANT} AND ${ofScopes}`);
}

export const turnForgetter: Forgetter = {
  find: (query, ids) =>
    selectIds(
      query,
      sql`SELECT c.card_id AS id FROM cards c
          WHERE c.tenant_id = ${TENANT} AND c.card_id = ANY(${ids}) AND SUBSTR(c.held_by, 1, 6) = 'scope:'
            AND EXISTS (SELECT 1 FROM box_entries e WHERE e.tenant_id = c.tenant_id AND e.card_id = c.card_id
              AND e.box_id = (SELECT s.box_id FROM scopes s
                WHERE s.tenant_id = c.tenant_id AND s.scope_id = SUBSTR(c.held_by, 7)))`,
    ),
  erase: async ({ call, tx, now }, ids) => {
    await lockShowing(tx, ids);
    for (const turn of await tokensOf(tx, ids)) await uncount(tx, turn);
    return { contents: contentsOf(await forgetCards(tx, ids, call.meta.erasure_key, now)), done: true };
  },
};
