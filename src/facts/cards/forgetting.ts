/** Forgetting cards that are no turn and no version, and what was derived from cards. */
import { type Query, type Sql, sql, TENANT } from '../../driver/index.js';
import type { ErasedContent, Forgetter } from '../../engine/index.js';
import { forgetCards } from './lifetime.js';

export interface PlacedCard {
  readonly card_id: string;
  readonly held_by: string | null;
}

const idsIn = async (query: Query, statement: Sql): Promise<string[]> =>
  (await query.all<{ card_id: string }>(statement)).map(({ card_id }) => card_id);

export const cardForgetter: Forgetter = {
  // A turn is a card of a scope; a version's card has the holder of its artifact or note.
  find: (query, ids) =>
    idsIn(
      query,
      sql`SELECT c.card_id FROM cards c WHERE c.tenant_id = ${TENANT} AND c.card_id = ANY(${ids})
            AND (c.held_by IS NULL OR SUBSTR(c.held_by, 1, 11) = 'agent_turn:')`,
    ),
  erase: async ({ call, tx, now }, ids) => ({
    contents: contentsOf(await forgetCards(tx, ids, call.meta.erasure_key, now)),
    done: true,
  }),
};

/** Of cards that are entities themselves. */
export const contentsOf = (cards: Awaited<ReturnType<typeof forgetCards>>): ErasedContent[] =>
  cards.map(({ card_id, content, tool_calls }) => ({ of: card_id, content_id: card_id, texts: [content, tool_calls] }));

/** The cards that name one of these as a source in derived_from. */
export const cardsFrom = (query: Query, ids: readonly string[]): Promise<PlacedCard[]> =>
  query.all<PlacedCard>(
    sql`SELECT c.card_id, c.held_by FROM card_sources s
          JOIN cards c ON c.tenant_id = s.tenant_id AND c.card_id = s.card_id
        WHERE s.tenant_id = ${TENANT} AND s.source_id = ANY(${ids})`,
  );

/** The cards about a subject, in pages by id. */
export const cardsAbout = (query: Query, subject_id: string, after: string, limit: number): Promise<AboutCard[]> =>
  query.all<AboutCard>(
    sql`SELECT c.card_id, c.held_by, c.subject_ids FROM card_subjects s
          JOIN cards c ON c.tenant_id = s.tenant_id AND c.card_id = s.card_id
        WHERE s.tenant_id = ${TENANT} AND s.subject_id = ${subject_id} AND s.card_id > ${after}
        ORDER BY s.card_id LIMIT ${limit}`,
  );

interface AboutCard extends PlacedCard {
  readonly subject_ids: string | null;
}
