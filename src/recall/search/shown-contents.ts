/** The beginning and the date of contents by their ids, as far as the caller may read them. */
import type { Call } from '../../engine/index.js';
import { beginningOf } from '../ranking/snippets.js';
import { contentKey, contentsOf, textsOf } from './contents.js';
import { docsOf } from './rows.js';
import { viewerOf } from './service.js';

interface ShownContent {
  readonly entity_type: string;
  readonly entity_id: string;
  readonly snippet: string;
  /** In ms. */
  readonly occurred_at: number;
}

/** Without what has ended, was deleted or is beyond the reach of the caller. */
export async function shownContents(call: Call, ids: readonly string[]): Promise<ShownContent[]> {
  if (ids.length === 0) return [];
  const query = call.driver.at(call.tenant);
  const request = { tenant: call.tenant, now: call.driver.now(), viewer: viewerOf(call) };
  const docs = await docsOf(query, request, await contentsOf(query, ids));
  const texts = await textsOf(query, docs);
  return docs.flatMap((doc) => {
    const text = texts.get(contentKey(doc));
    const { entity_type, entity_id, occurred_at } = doc;
    return text === undefined ? [] : [{ entity_type, entity_id, snippet: beginningOf(text), occurred_at }];
  });
}
