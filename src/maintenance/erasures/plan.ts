/** What an erasure would erase, without erasing it: for dry runs, and for the rights of agents. */
import { longQuery } from '../../driver/index.js';
import { type Call, derivedFrom, type Forgettable, forgetters } from '../../engine/index.js';
import { type Selection, selectPage } from './selection.js';
import { type ItemRow, STATE, versionCards } from './store.js';

export interface PlannedItem extends Forgettable, Pick<ItemRow, 'origin' | 'state'> {}

export interface Plan {
  readonly items: readonly PlannedItem[];
  /** Whether there is more. */
  readonly truncated: boolean;
}

const MOST = 10_000;
const PAGE = 200;

const keyOf = ({ kind, id }: Forgettable): string => `${kind} ${id}`;

/** The kinds of these ids; an id can have several. */
export async function kindsOf(call: Call, ids: readonly string[]): Promise<Forgettable[]> {
  const query = call.driver.at(call.tenant);
  const found: Forgettable[] = [];
  for (const [kind, { find }] of forgetters) for (const id of await find(query, ids)) found.push({ kind, id });
  return found;
}

export async function planOf(
  call: Call,
  roots: readonly Forgettable[],
  selection: Selection | null,
  shared: boolean,
): Promise<Plan> {
  const query = longQuery(call.driver, call.tenant);
  const items = new Map<string, PlannedItem>();
  const add = (found: readonly Forgettable[], origin: PlannedItem['origin'], state: number = STATE.todo): void => {
    for (const { kind, id } of found) {
      const item = { kind, id, origin, state };
      if (!items.has(keyOf(item))) items.set(keyOf(item), item);
    }
  };
  add(roots, 'named');
  for (let left = selection; left !== null && items.size < MOST; ) {
    const { items: found, next } = await selectPage(query, left);
    for (const item of found) add([item], 'named', item.shared && !shared ? STATE.shared : STATE.todo);
    left = next;
  }
  // The map grows while it is walked: what is added is walked, too.
  for (let walked = 0; walked < items.size && items.size < MOST; ) {
    const batch = [...items.values()].slice(walked, walked + PAGE);
    walked += batch.length;
    const erased = batch.filter(({ state }) => state === STATE.todo);
    for (const { kind, id } of erased) {
      const { contents } = forgetters.get(kind);
      if (contents) for await (const page of contents(call, id)) add(page, 'contained');
    }
    const ids = erased.map(({ id }) => id);
    add(await derivedFrom(query, [...ids, ...(await versionCards(query, ids))]), 'derived');
  }
  return { items: [...items.values()].slice(0, MOST), truncated: items.size >= MOST };
}
