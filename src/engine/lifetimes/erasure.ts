/**
 * Erases what has ended: the turns of closed scopes, what replaced checkpoints kept, the artifacts of removed
 * trajectories. In small batches beside live traffic; how far it came is stored, so that it goes on after a crash.
 */
import type { Call } from '../calls/call.js';
import { event } from '../writes/change.js';
import { type EndingRow, endingsUnderWay, findEnding, noteDone } from './endings.js';
import { contentErasers, type Eraser, type HolderEraser, holderErasers } from './erasers.js';

/** Starts erasing what these holders held, and leaves what fails to the next sweep. */
export function startErasure(call: Call, holders: readonly string[]): void {
  call.erasures.start(() => eraseHolders(call, holders));
}

/**
 * Waits for the erasure of what these holders held. If it fails or the store is about to close, it is stored as
 * unfinished: what ended has ended all the same.
 */
export const waitForErasure = (call: Call, holders: readonly string[]): Promise<void> =>
  eraseHolders(call, holders).catch(() => undefined);

async function eraseHolders(call: Call, holders: readonly string[]): Promise<void> {
  for (const holder of holders) await call.erasures.once(`${call.tenant} ${holder}`, () => eraseOne(call, holder));
}

/** How many endings are gone on with at a time; the next sweep finds the rest. */
const ENDINGS = 1000;

/** Goes on with whatever was left, by this process or another. */
export async function eraseAll(call: Call): Promise<void> {
  const under_way = await endingsUnderWay(call.driver.at(call.tenant), ENDINGS);
  for (const { holder } of under_way) {
    if (call.erasures.stopping) return;
    await eraseHolders(call, [holder]);
  }
}

/** What ended once more while it was erased is erased once more. */
async function eraseOne(call: Call, holder: string): Promise<void> {
  const { driver, tenant } = call;
  for (;;) {
    const ending = await findEnding(driver.at(tenant), holder);
    if (!ending || ending.done_at !== null || !(await eraseEnding(call, ending))) return;
  }
}

/** Erases what a holder held that has no way of its own: undefined when the store is about to close. */
const eraseContent: Eraser = async (call, ending) => {
  let reached: number | undefined;
  for (const [, erase] of contentErasers) {
    const done = await erase(call, ending);
    if (!done) return undefined;
    reached ??= done.reached;
  }
  return reached === undefined ? {} : { reached };
};

const anyHolder: HolderEraser = {
  kinds: [],
  erase: eraseContent,
  facts: ({ erased, kept, versions }) => ({ cards_erased: erased, cards_kept: kept, versions_erased: versions }),
};

/** False when it could not go on to the end. */
async function eraseEnding(call: Call, ending: EndingRow): Promise<boolean> {
  const { driver, tenant } = call;
  const { holder } = ending;
  const [kind, id] = [holder.slice(0, holder.indexOf(':')), holder.slice(holder.indexOf(':') + 1)];
  const eraser = [...holderErasers].find(({ kinds }) => kinds.includes(kind)) ?? anyHolder;
  const done = await eraser.erase(call, ending);
  if (!done) return false;
  const after = (await findEnding(driver.at(tenant), holder))!;
  const any = after.erased + after.versions > 0;
  // Only now is it gone: from the file by the overwriting, and from its log by this. Closing and deleting overwrite more
  // than cards, such as the state of a checkpoint; a session that held nothing leaves nothing.
  if ((any || kind !== 'session') && !(await driver.scrub())) return false;
  await driver.write(tenant, async (tx) => {
    const now = driver.now();
    // What kept some of it may have let go meanwhile, and have it begin anew: then it is not done.
    if (!(await noteDone(tx, holder, now, done.reached))) return;
    // That something ended was told when it did; here is told what was erased of it, if anything was.
    if (any)
      tx.journal(
        event({ call, now }, 'cairn.lifetime.erased', { type: kind, id: id }, eraser.facts(after), after.thread_id),
      );
  });
  return true;
}
