/** How content is erased once its holder has ended: each part by the module that owns it. */
import type { JsonObject } from '../../kernel/contract.js';
import type { Call } from '../calls/call.js';
import { Registry, SlotRegistry } from '../registry.js';
import type { EndingRow } from './endings.js';

/** How far it came in the holder's box, where that counts. Undefined when the store is about to close. */
export type Eraser = (call: Call, ending: EndingRow) => Promise<{ readonly reached?: number } | undefined>;

/** Holders whose content is erased in a way of its own. */
export interface HolderEraser {
  /** What their names begin with, before the colon. */
  readonly kinds: readonly string[];
  readonly erase: Eraser;
  /** What the event of the erasure says. */
  readonly facts: (ending: EndingRow) => JsonObject;
}

export const holderErasers = new Registry<HolderEraser>();

/** What any other holder may have held, in the order of erasure. */
export const contentErasers = new SlotRegistry<'box' | 'versions' | 'contexts' | 'edges', Eraser>('content eraser', [
  'box',
  'versions',
  'contexts',
  'edges',
]);
