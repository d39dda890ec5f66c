/** What a person sees of a plan before confirming it: the first items, with the beginnings of their texts. */
import type { Call } from '../../engine/index.js';
import { toIso } from '../../kernel/index.js';
import { findTrajectory } from '../../memory/index.js';
import { findScope } from '../../memory/sql.js';
import { shownContents } from '../../recall/index.js';
import { type ErasureItem, MAX_SHOWN, type ShownItem } from './model.js';

interface Named {
  readonly name: string;
  readonly created_at: number;
}

/** Trajectories and scopes have names; who is restricted to some content is shown none of them. */
async function namedAs(call: Call, { entity_type, entity_id }: ErasureItem): Promise<Named | undefined> {
  if (call.acting || call.caller.user_id !== undefined) return undefined;
  const query = call.driver.at(call.tenant);
  if (entity_type === 'Trajectory') return findTrajectory(query, entity_id);
  return entity_type === 'Scope' ? findScope(query, entity_id) : undefined;
}

export async function shownItems(call: Call, items: readonly ErasureItem[]): Promise<ShownItem[]> {
  const first = items.filter(({ outcome }) => outcome === 'to_be_erased').slice(0, MAX_SHOWN);
  const contents = await shownContents(
    call,
    first.map(({ entity_id }) => entity_id),
  );
  const shown: ShownItem[] = [];
  for (const item of first) {
    const { entity_type, entity_id } = item;
    const content = contents.find(
      (one) => one.entity_id === entity_id && one.entity_type === entity_type.toLowerCase(),
    );
    const named = content ? undefined : await namedAs(call, item);
    const at = content?.occurred_at ?? named?.created_at;
    shown.push({
      entity_type,
      entity_id,
      snippet: content?.snippet ?? named?.name ?? null,
      occurred_at: at === undefined ? null : toIso(Number(at)),
    });
  }
  return shown;
}
