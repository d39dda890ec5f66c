/**
 * Erases what an erasure names, what it contains and what was derived from it: one transaction per batch, each with its
 * progress, so that an erasure that was killed continues where it was.
 */

import { longQuery, type Tx } from '../../driver/index.js';
import {
  type Call,
  derivedFrom,
  type Erased,
  type Forgettable,
  forgetters,
  inBatches,
  waitForErasure,
} from '../../engine/index.js';
import { countErasedVersions, type EndingRow } from '../../engine/sql.js';
import { keyedHash } from '../../facts/sql.js';
import { deleteEdgesOf, journalEdges, placesOf } from '../../memory/index.js';
import { marksIn } from './marks.js';
import { type Selection, selectPage } from './selection.js';
import {
  addItems,
  addMarks,
  addVersions,
  type ErasureRow,
  erasedHashes,
  erasureHolder,
  findErasure,
  itemsToDo,
  liveCards,
  type NewItem,
  noteErased,
  noteItem,
  STATE,
  storeSelection,
} from './store.js';
import { eraseTenant } from './tenants.js';

/** Undefined if the store closes before it is done. */
export async function eraseForgotten(call: Call, { holder }: EndingRow): Promise<object | undefined> {
  const { driver, tenant, erasures } = call;
  const erasure_id = holder.slice(erasureHolder('').length);
  const erasure = (await findErasure(driver.at(tenant), erasure_id))!;
  if (erasure.selected_by === 'tenant') return (await eraseTenant(call, erasure_id)) ? {} : undefined;
  if (!(await select(call, erasure))) return undefined;
  do {
    if (!(await eraseItems(call, erasure_id))) return undefined;
  } while (await addCopies(call, erasure));
  if (erasures.stopping) return undefined;
  await driver.write(tenant, (tx) => noteErased(tx, erasure_id, driver.now()));
  return {};
}

async function select(call: Call, { erasure_id, selection, shared }: ErasureRow): Promise<boolean> {
  const { driver, tenant } = call;
  let left = selection === null ? null : (JSON.parse(selection) as Selection);
  while (left !== null) {
    if (call.erasures.stopping) return false;
    const { items, next } = await selectPage(longQuery(driver, tenant), left);
    const found = items.map(({ kind, id, shared: among }): NewItem => {
      const state = among && shared === 0 ? STATE.shared : STATE.todo;
      return { kind, id, origin: 'named', state };
    });
    await driver.write(tenant, async (tx) => {
      await addItems(tx, erasure_id, found);
      await storeSelection(tx, erasure_id, next && JSON.stringify(next));
    });
    left = next;
  }
  return true;
}

/** Erases all items, and those that are added meanwhile. False if the store is closing. */
async function eraseItems(call: Call, erasure_id: string): Promise<boolean> {
  const { driver, tenant } = call;
  const holders = new Set<string>();
  const isDone = await inBatches(call, async (limit) => {
    const todo = await itemsToDo(driver.at(tenant), erasure_id, limit);
    if (todo.length === 0) return 0;
    const { kind } = todo[0]!;
    const { contents } = forgetters.get(kind);
    const batch = contents ? todo.slice(0, 1) : todo.filter((item) => item.kind === kind);
    const erased = await driver.write(tenant, (tx) => eraseBatch(call, tx, erasure_id, batch, limit));
    for (const ended of erased.holders ?? []) holders.add(ended);
    if (contents) await addContents(call, erasure_id, batch[0]!);
    // Full, so that it goes on.
    return limit;
  });
  if (isDone) await waitForErasure(call, [...holders]);
  return isDone;
}

async function eraseBatch(
  call: Call,
  tx: Tx,
  erasure_id: string,
  batch: readonly Forgettable[],
  limit: number,
): Promise<Erased> {
  const now = call.driver.now();
  const { kind } = batch[0]!;
  const forgetter = forgetters.get(kind);
  const ids = batch.map(({ id }) => id);
  const erased = await forgetter.erase({ call, tx, now }, ids, limit);
  const content_ids = erased.contents.map(({ content_id }) => content_id);
  const named = [...new Set([...ids, ...content_ids])];
  // Read after the contents are locked: whoever derives from them later finds them erased.
  const derived = await derivedFrom(tx, named);
  await addItems(
    tx,
    erasure_id,
    derived.map((item): NewItem => ({ ...item, origin: 'derived', state: STATE.todo })),
  );
  const edge_ids = await deleteEdgesOf(tx, named);
  if (edge_ids.length > 0) journalEdges(tx, { call, now }, 'deleted', edge_ids, null);
  await addVersions(
    tx,
    erasure_id,
    content_ids.filter((id) => !ids.includes(id)),
  );
  const { erasure_key } = call.meta;
  const marks = erased.contents.flatMap(({ texts }) => texts.flatMap((text) => marksIn(erasure_key, text)));
  await addMarks(tx, erasure_id, marks);
  for (const item of batch) {
    const contents = erased.contents.filter(({ of }) => of === item.id).length;
    await noteItem(tx, erasure_id, item, contents, erased.done && !forgetter.contents);
  }
  if (content_ids.length > 0) await countErasedVersions(tx, erasureHolder(erasure_id), content_ids.length);
  return erased;
}

/** The contents of a scope or trajectory that has ended; then it is done. */
async function addContents(call: Call, erasure_id: string, container: Forgettable): Promise<void> {
  const { driver, tenant } = call;
  for await (const page of forgetters.get(container.kind).contents!(call, container.id))
    await driver.write(tenant, (tx) =>
      addItems(
        tx,
        erasure_id,
        page.map((item): NewItem => ({ ...item, origin: 'contained', state: STATE.todo })),
      ),
    );
  await driver.write(tenant, (tx) => noteItem(tx, erasure_id, container, 0, true));
}

const PAGE = 2000;
/** A shorter text is no copy: "ok" is everybody's. As canonical JSON, with its quotes. */
const LEAST_COPY = 22;

/** Adds independent copies of what was erased, by their hashes. True if some are to be erased. */
async function addCopies(call: Call, { erasure_id, copies }: ErasureRow): Promise<boolean> {
  const { driver, tenant, meta } = call;
  const query = longQuery(driver, tenant);
  const hashes = await erasedHashes(query, erasure_id);
  if (hashes.size === 0) return false;
  let isAny = false;
  for (let after = ''; !call.erasures.stopping; ) {
    const cards = await liveCards(query, after, LEAST_COPY, PAGE);
    const same = cards.filter(({ content_hash }) => hashes.has(keyedHash(meta.erasure_key, content_hash)));
    if (same.length > 0) {
      const state = copies === 1 ? STATE.todo : STATE.copy;
      const items = (await placesOf(query, same)).map((item): NewItem => ({ ...item, origin: 'copy', state }));
      await driver.write(tenant, (tx) => addItems(tx, erasure_id, items));
      isAny ||= copies === 1;
    }
    if (cards.length < PAGE) return isAny;
    after = cards.at(-1)!.card_id;
  }
  return false;
}
