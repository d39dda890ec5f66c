/**
 * What can be forgotten, by kind, and what is derived from it. Each module registers its own. Forgetting erases content
 * in every version and copy, whatever pins it; a receipt lists what was erased (maintenance/erasures).
 */
import type { Query } from '../../driver/index.js';
import type { Call, Work } from '../calls/call.js';
import { SlotRegistry } from '../registry.js';

/** In the order in which ids are looked up, and containers before what they contain. */
const KINDS = ['trajectory', 'scope', 'execution', 'message', 'artifact', 'note', 'turn', 'card', 'packet'] as const;

export type ForgettableKind = (typeof KINDS)[number];

export interface Forgettable {
  readonly kind: ForgettableKind;
  readonly id: string;
}

export interface ErasedContent {
  /** The entity that it was of. */
  readonly of: string;
  /** A card, or the entity itself. */
  readonly content_id: string;
  /** As they were stored, for looking for them in the file afterwards. */
  readonly texts: readonly (string | null)[];
}

/** A batch of one transaction. */
export interface Erased {
  readonly contents: readonly ErasedContent[];
  /** False if some content is left for the next transaction. */
  readonly done: boolean;
  /** Holders that ended with it; their erasure follows. */
  readonly holders?: readonly string[];
}

export interface Forgetter {
  /** Those of these ids that exist, also if deleted or erased. */
  readonly find: (query: Query, ids: readonly string[]) => Promise<string[]>;
  /** Erases up to about `limit` contents. May be repeated after a crash. */
  readonly erase: (work: Work, ids: readonly string[], limit: number) => Promise<Erased>;
  /** What it contains, in pages: forgotten with it. Read after `erase` is done, so that nothing is added to it. */
  readonly contents?: (call: Call, id: string) => AsyncIterable<readonly Forgettable[]>;
}

export const forgetters = new SlotRegistry<ForgettableKind, Forgetter>('forgetter', KINDS);

/** What was derived from these entities; `ids` includes the cards of their versions. */
export const derivations = new SlotRegistry<
  'sources' | 'edges' | 'jobs' | 'prompts',
  (query: Query, ids: readonly string[]) => Promise<readonly Forgettable[]>
>('derivations', ['sources', 'edges', 'jobs', 'prompts']);

export async function derivedFrom(query: Query, ids: readonly string[]): Promise<Forgettable[]> {
  const derived: Forgettable[] = [];
  if (ids.length > 0) for (const [, find] of derivations) derived.push(...(await find(query, ids)));
  return derived;
}
