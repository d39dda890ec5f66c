/** Erases the cards in the box of an ended holder, in order. */
import { type Call, inBatches } from '../../engine/index.js';
import { type EndingRow, findEnding, storeProgress } from '../../engine/sql.js';
import { eraseCards } from '../cards/lifetime.js';
import { entriesAfter, segmentsOf } from './entries.js';
import { findBox } from './store.js';

/** Returns the position that it reached; undefined when the store is closing. */
export async function eraseBox(call: Call, ending: EndingRow): Promise<{ readonly reached: number } | undefined> {
  const { driver, tenant } = call;
  const { holder } = ending;
  const box = ending.box_id === null ? undefined : await findBox(driver.at(tenant), ending.box_id);
  if (!box) return { reached: ending.position };
  const segments = await segmentsOf(driver.at(tenant), box);
  let after = ending.position;
  const isDone = await inBatches(call, async (limit, timed) => {
    const entries = await entriesAfter(driver.at(tenant), segments, { after, limit });
    if (entries.length === 0) return 0;
    const position = entries.at(-1)!.position;
    const ids = entries.map(({ card_id }) => card_id);
    const erase = timed(async (tx) => {
      const erased = await eraseCards(tx, ids, call.meta.erasure_key, driver.now());
      return storeProgress(tx, holder, { after, position, erased, kept: ids.length - erased });
    });
    const noted = await driver.write(tenant, erase);
    if (noted) {
      after = position;
      return entries.length;
    }
    // Another server erases the same box: continue from its position, which need not be the end.
    after = (await findEnding(driver.at(tenant), holder))!.position;
    return limit;
  });
  return isDone ? { reached: after } : undefined;
}
