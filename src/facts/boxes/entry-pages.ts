/** Pages of the entries of a box, from its start or its end. */
import type { Query } from '../../driver/index.js';
import { type Call, listPage, type Page, type PageInput } from '../../engine/index.js';
import type { Json } from '../../kernel/contract.js';
import { type Entry, entriesAfter, type Segment, tailOf } from './entries.js';

interface EntryList {
  readonly segments: readonly Segment[];
  /** `tail`: only that many of the last entries, instead of pages. */
  readonly input: PageInput & { readonly tail?: number | undefined };
  readonly filters: Json;
  readonly total: number;
}

export async function entryPage(
  call: Call,
  query: Query,
  { segments, input, filters, total }: EntryList,
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
  // Keyed by ordinals, which have no gaps: finds the page before an entry without scanning the box.
  return listPage<Entry & { readonly ordinal: number }, number>(call, {
    ...shared,
    keyOf: ({ ordinal }) => ordinal,
    read: async ({ after = total + 1, limit, offset }) => {
      // A save may have shortened the box since the previous page.
      const until = Math.max(0, Math.min(total, after - 1) - offset);
      const from = Math.max(0, until - limit);
      if (until === from) return [];
      const rows = await entriesAfter(query, segments, { after: 0, offset: from, limit: until - from });
      return rows.map((row, i) => ({ ...row, ordinal: from + i + 1 })).reverse();
    },
  });
}
