/** The search document of a card, for writing and for reindexing. */
import { type Doc, describe, type Measured, measure, PLAIN_DOC } from '../../index/sql.js';
import type { Json, JsonObject } from '../../kernel/contract.js';

/** Profiles, prompts, tools, pointers and the texts of context requests are not memory. */
export const isSearched = (type: Json | undefined): boolean =>
  typeof type !== 'string' || !/^((sys|meta)\.|context\.(user_input|instructions|query)$)/.test(type);

/** A card that expires or has a holder is working memory. */
export function cardDoc(card_id: string, metadata: JsonObject, ends: boolean): Doc {
  const { type, role } = metadata;
  return {
    ...PLAIN_DOC,
    entity_type: 'card',
    entity_id: card_id,
    type: typeof type === 'string' ? type : null,
    role: typeof role === 'string' ? role.toLowerCase() : null,
    category: ends ? 'working' : 'episodic',
    described: describe(metadata),
  };
}

export const measureCard = (key: string, content: Json, tool_calls: Json | undefined, metadata: JsonObject): Measured =>
  measure(key, { content, more: [tool_calls], metadata });
