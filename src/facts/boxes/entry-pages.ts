/** Pages of the entries of a box: from its beginning, or from its end. */
import type { Query } from '../../driver/index.js';
import { type Call, listPage, type Page, type PageInput } from '../../engine/index.js';
import type { Json } from '../../kernel/contract.js';
import { type Entry, entriesAfter, type Segment, tailOf } from './entries.js';

export interface EntryPageInput extends PageInput {
  /** Only so many of the last entries, instead of pages. */
  readonly tail?: number | undefined;
}

export interface EntriesOf {
  readonly segments: readonly Segment[];
  readonly input: EntryPageInput;
  readonly filters: Json;
  readonly total: number;
}

interface Placed extends Entry {
  readonly ordinal: number;
}

export async function entryPage(
  call: Call,
  query: Query,
  { segments, input, filters, total }: EntriesOf,
): Promise<Page<Entry>> {
  const descending = input.order === 'desc';
  if (input.tail !== undefined) {
    const last = await tailOf(query, segments, input.tail);
    return { rows: descending ? last.reverse() : last, next_cursor: null, total };
  }
  const shared = { input, filters, key: 'number', count: async () => total } as const;
  if (!descending) {
    return listPage<Entry, number>(call, {
      ...shared,
      keyOf: ({ position }) => position,
      read: ({ after = 0, ...request }) => entriesAfter(query, segments, { after, ...request }),
    });
  }
  // By ordinals, which have no gap: so the page before an entry is found without walking over the rest of the box.
  return listPage<Placed, number>(call, {
    ...shared,
    keyOf: ({ ordinal }) => ordinal,
    read: async ({ after = total + 1, limit, offset }) => {
      // A save may have shortened the box since the page before.
      const until = Math.max(0, Math.min(total, after - 1) - offset);
      const from = Math.max(0, until - limit);
      if (until === from) return [];
      const rows = await entriesAfter(query, segments, { after: 0, offset: from, limit: until - from });
      return rows.map((row, i) => ({ ...row, ordinal: from + i + 1 })).reverse();
    },
  });
}
