/** Erasers of ended content: each module erases its own part. */
import type { JsonObject } from '../../kernel/contract.js';
import type { Call } from '../calls/call.js';
import { Registry, SlotRegistry } from '../registry.js';
import type { EndingRow } from './endings.js';

/** Returns the position reached in the holder's box, if it has one; undefined if the store is closing. */
export type Eraser = (call: Call, ending: EndingRow) => Promise<{ readonly reached?: number } | undefined>;

/** A special eraser for some kinds of holders. */
export interface HolderEraser {
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
