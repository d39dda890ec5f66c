/**
 * Erases ended content: turns of closed scopes, content of replaced checkpoints, artifacts of deleted trajectories. In
 * small batches beside live traffic; progress is stored, so that erasure continues after a crash.
 */
import type { JsonObject } from '../../kernel/contract.js';
import type { Call } from '../calls/call.js';
import { Registry, SlotRegistry } from '../registry.js';
import { event } from '../writes/own-events.js';
import { type EndingRow, endingsUnderWay, findEnding, noteDone } from './endings.js';

/** Returns the position reached in the holder's box, if it has one; undefined if the store is closing. */
type Eraser = (call: Call, ending: EndingRow) => Promise<{ readonly reached?: number } | undefined>;

/** A special eraser for some kinds of holders. */
interface HolderEraser {
  /** Prefixes of the holders, before the colon. */
  readonly kinds: readonly string[];
  readonly erase: Eraser;
  /** Facts for the event of the erasure. */
  readonly facts: (ending: EndingRow) => JsonObject;
}

export const holderErasers = new Registry<HolderEraser>();

/** Erasers for all other holders, in the order of erasure. */
export const contentErasers = new SlotRegistry<'box' | 'versions' | 'contexts' | 'edges', Eraser>('content eraser', [
  'box',
  'versions',
  'contexts',
  'edges',
]);

/** Starts erasing the content of these holders; the next sweep continues after a failure. */
export function startErasure(call: Call, holders: readonly string[]): void {
  call.erasures.start(() => eraseHolders(call, holders));
}

/** Waits for the erasure. After a failure it stays stored as unfinished: the content is unreadable all the same. */
export const waitForErasure = (call: Call, holders: readonly string[]): Promise<void> =>
  eraseHolders(call, holders).catch(() => undefined);

async function eraseHolders(call: Call, holders: readonly string[]): Promise<void> {
  for (const holder of holders) await call.erasures.once(`${call.tenant} ${holder}`, () => eraseOne(call, holder));
}

/** Maximum number of endings per sweep. */
const SWEPT_ENDINGS = 1000;

/** Continues all unfinished erasures, of this process or another. */
export async function eraseAll(call: Call): Promise<void> {
  const under_way = await endingsUnderWay(call.driver.at(call.tenant), SWEPT_ENDINGS);
  for (const { holder } of under_way) {
    if (call.erasures.stopping) return;
    await eraseHolders(call, [holder]);
  }
}

/** Removes terms of erased content from the search index. */
export const indexPurges = new SlotRegistry<'documents', (call: Call) => Promise<void>>('index purge', ['documents']);

/** Removes erased content from the index and from the log of the database; false if a reader prevented it. */
export async function scrub(call: Call): Promise<boolean> {
  await indexPurges.get('documents')(call);
  return call.driver.scrub();
}

/** Repeats if the holder ended again during its erasure. */
async function eraseOne(call: Call, holder: string): Promise<void> {
  const { driver, tenant } = call;
  for (;;) {
    const ending = await findEnding(driver.at(tenant), holder);
    if (!ending || ending.done_at !== null || !(await eraseEnding(call, ending))) return;
  }
}

/** The eraser for holders without a special one. */
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

/** False if it could not finish. */
async function eraseEnding(call: Call, ending: EndingRow): Promise<boolean> {
  const { driver, tenant } = call;
  const { holder } = ending;
  const [kind, id] = [holder.slice(0, holder.indexOf(':')), holder.slice(holder.indexOf(':') + 1)];
  const eraser = [...holderErasers].find(({ kinds }) => kinds.includes(kind)) ?? anyHolder;
  const done = await eraser.erase(call, ending);
  if (!done) return false;
  const after = (await findEnding(driver.at(tenant), holder))!;
  const any = after.erased + after.versions > 0;
  // Removes the overwritten content from the database's log too. Except for an empty session: other endings overwrite
  // more than cards and versions, such as the state of a checkpoint.
  if ((any || kind !== 'session') && !(await scrub(call))) return false;
  await driver.write(tenant, async (tx) => {
    const now = driver.now();
    // A pin may have been released meanwhile, which restarts the erasure.
    if (!(await noteDone(tx, holder, now, done.reached))) return;
    if (any)
      tx.journal(
        event({ call, now }, 'cairn.lifetime.erased', { type: kind, id }, eraser.facts(after), after.thread_id),
      );
  });
  return true;
}
