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

/** Content of a holder that is erased, but still in the index and in the log of the database. */
interface Emptied {
  readonly ending: EndingRow;
  readonly eraser: HolderEraser;
  readonly reached: number | undefined;
}

/**
 * Erases the content of all holders, then what the index and the log still hold of it, at once for all. Repeats for those
 * that ended again meanwhile.
 */
const eraseHolders = (call: Call, holders: readonly string[]): Promise<void> =>
  call.erasures.track(async () => {
    for (let left = [...new Set(holders)]; left.length > 0; ) {
      const emptied: Emptied[] = [];
      try {
        for (const holder of left) {
          if (call.erasures.stopping) break;
          const done = await call.erasures.once(`${call.tenant} ${holder}`, () => emptyHolder(call, holder));
          if (done) emptied.push(done);
        }
      } finally {
        // Of those before a failure, too.
        left = await finish(call, emptied);
      }
    }
  });

/** Maximum number of endings per sweep. */
const SWEPT_ENDINGS = 1000;

/** Continues all unfinished erasures, of this process or another. */
export async function eraseAll(call: Call): Promise<void> {
  const under_way = await endingsUnderWay(call.driver.at(call.tenant), SWEPT_ENDINGS);
  await eraseHolders(
    call,
    under_way.map(({ holder }) => holder),
  );
}

/** Removes terms of erased content from the search index. */
export const indexPurges = new SlotRegistry<'documents', (call: Call) => Promise<void>>('index purge', ['documents']);

/**
 * Removes erased content from the index and from the log of the database; false if a reader prevented it. Erasures that end
 * while this runs for another share the next run.
 */
export const scrub = (call: Call): Promise<boolean> =>
  call.erasures.shared(`scrub ${call.tenant}`, async () => {
    await indexPurges.get('documents')(call);
    return call.driver.scrub();
  });

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

const kindOf = (holder: string): string => holder.slice(0, holder.indexOf(':'));

/** Undefined if the holder has not ended, is done, or could not be finished. */
async function emptyHolder(call: Call, holder: string): Promise<Emptied | undefined> {
  const query = call.driver.at(call.tenant);
  const ending = await findEnding(query, holder);
  if (!ending || ending.done_at !== null) return undefined;
  const eraser = [...holderErasers].find(({ kinds }) => kinds.includes(kindOf(holder))) ?? anyHolder;
  const done = await eraser.erase(call, ending);
  return done && { ending: (await findEnding(query, holder))!, eraser, reached: done.reached };
}

const isErased = ({ ending }: Emptied): boolean => ending.erased + ending.versions > 0;

/** Returns the holders that ended again. */
async function finish(call: Call, emptied: readonly Emptied[]): Promise<string[]> {
  // Removes the overwritten content from the database's log too. Except for an empty session: other endings overwrite
  // more than cards and versions, such as the state of a checkpoint.
  const isScrubbed = emptied.some((one) => isErased(one) || kindOf(one.ending.holder) !== 'session');
  if (isScrubbed && !(await scrub(call))) return [];
  const again = await Promise.all(emptied.map((one) => noteErased(call, one)));
  return again.flatMap((holder) => holder ?? []);
}

async function noteErased(call: Call, one: Emptied): Promise<string | undefined> {
  const { driver, tenant } = call;
  const { holder, thread_id } = one.ending;
  const isDone = await driver.write(tenant, async (tx) => {
    const now = driver.now();
    // A pin may have been released meanwhile, which restarts the erasure.
    if (!(await noteDone(tx, holder, now, one.reached))) return false;
    const entity = { type: kindOf(holder), id: holder.slice(holder.indexOf(':') + 1) };
    if (isErased(one))
      tx.journal(event({ call, now }, 'cairn.lifetime.erased', entity, one.eraser.facts(one.ending), thread_id));
    return true;
  });
  if (isDone || (await findEnding(driver.at(tenant), holder))?.done_at !== null) return undefined;
  return holder;
}
