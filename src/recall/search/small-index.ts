/**
 * The index of a tenant that has few documents, made in memory of what is kept of them. What is shown of it in the end is
 * asked of the database again.
 */
import { type Query, sql } from '../../driver/index.js';
import {
  type Extent,
  type Kept,
  type KeptDoc,
  type KeptTenant,
  keptDocs,
  type Marks,
  type Range,
} from '../../index/sql.js';
import type { Asked } from './conditions.js';
import type { SearchedIndex } from './searched-index.js';
import { gapsAround, type Neighbours, neighboursOf, type Placed, wantedAmong } from './wanted-docs.js';

/** Who may see a part only, and filters, are for the database. */
export const mayBeSmall = ({ viewer, filters }: Asked): boolean => viewer === null && filters === undefined;

/** The index of a tenant as it is at this moment; undefined where it is not kept in memory. */
export async function smallIndex(
  query: Query,
  asked: Asked,
  whose: Omit<KeptTenant, 'tenant'>,
  extent: Extent,
  marks: Marks | undefined,
): Promise<SearchedIndex | undefined> {
  if (!mayBeSmall(asked)) return undefined;
  const kept = await keptDocs(query, { ...whose, tenant: asked.tenant }, extent, marks);
  return kept && indexOn(query, asked, kept);
}

const NONE: readonly number[] = [];

function indexOn(query: Query, asked: Asked, kept: Kept): SearchedIndex {
  // What belongs to a trajectory or a scope is for the database to say: that goes by edges and boxes as well.
  const isAnywhere = asked.trajectory_id === undefined && asked.scopes === undefined;
  const readable = new Readable(query, asked);
  const of = (code: string) => kept.byTerm.get(code) ?? NONE;
  const docsOf = (doc_nos: readonly number[]): KeptDoc[] => {
    const docs: KeptDoc[] = [];
    for (const doc_no of doc_nos) {
      const doc = kept.byNumber.get(doc_no);
      if (doc) docs.push(doc);
    }
    return docs;
  };
  return {
    postings: async (code, range, limit) => newestWithin(of(code), range, limit),
    count: async (code, limit) => Math.min(of(code).length, limit),
    // Its lists are short.
    ownHaving: async () => undefined,
    features: async (doc_nos) => docsOf(doc_nos),
    wantedAmong: (doc_nos) =>
      isAnywhere
        ? readable.among(docsOf(doc_nos).filter((doc) => isAskedFor(asked, doc)))
        : wantedAmong(query, asked, doc_nos),
    neighbours: async (found) => {
      if (!isAnywhere) return neighboursOf(query, asked, found);
      const around = besides(kept, found);
      const seen = new Set(await readable.among(around));
      const isThere = around.filter(({ doc_no }) => seen.has(doc_no));
      const numbers = (some: readonly KeptDoc[]) => some.map(({ doc_no }) => doc_no);
      return {
        wanted: numbers(isThere.filter((doc) => isAskedFor(asked, doc))),
        context: numbers(isThere.filter((doc) => !isAskedFor(asked, doc))),
      } satisfies Neighbours;
    },
  };
}

function newestWithin(list: readonly number[], { from, to }: Range, limit: number): number[] {
  const newest: number[] = [];
  for (let i = list.length - 1; i >= 0 && newest.length < limit; i--) {
    const doc_no = list[i]!;
    if (doc_no < from) break;
    if (doc_no <= to) newest.push(doc_no);
  }
  return newest;
}

const isAskedFor = ({ entity_types }: Asked, { entity_type }: KeptDoc): boolean =>
  entity_types === undefined || entity_types.includes(entity_type);

/**
 * What has not expired and is held by nothing that ended; of what is, the database knows whether it still shows. A holder is
 * asked about once in a search: what stands around a turn mostly has the same.
 */
class Readable {
  readonly #query: Query;
  readonly #asked: Asked;
  readonly #isEnded = new Map<string, boolean>();

  constructor(query: Query, asked: Asked) {
    this.#query = query;
    this.#asked = asked;
  }

  async among(docs: readonly KeptDoc[]): Promise<number[]> {
    const { tenant, now } = this.#asked;
    const there = docs.filter(({ expires_at }) => expires_at === null || expires_at > now);
    await this.#askAbout(there);
    const isEnded = ({ held_by }: KeptDoc) => held_by !== null && this.#isEnded.get(held_by)!;
    const inDoubt = there.filter(isEnded).map(({ doc_no }) => doc_no);
    if (inDoubt.length === 0) return there.map(({ doc_no }) => doc_no);
    const shown = new Set(await wantedAmong(this.#query, { tenant, now, viewer: null }, inDoubt));
    return there.filter((doc) => !isEnded(doc) || shown.has(doc.doc_no)).map(({ doc_no }) => doc_no);
  }

  async #askAbout(docs: readonly KeptDoc[]): Promise<void> {
    const holders = new Set<string>();
    for (const { held_by } of docs) if (held_by !== null && !this.#isEnded.has(held_by)) holders.add(held_by);
    if (holders.size === 0) return;
    const rows = await this.#query.all<{ holder: string }>(
      sql`SELECT holder FROM endings WHERE tenant_id = ${this.#asked.tenant} AND holder = ANY(${[...holders]})`,
    );
    const ended = new Set(rows.map(({ holder }) => holder));
    for (const holder of holders) this.#isEnded.set(holder, ended.has(holder));
  }
}

/** Those that stand around the ones found, and are not among them. */
function besides(kept: Kept, found: readonly Placed[]): KeptDoc[] {
  const places = new Map<string, number[]>();
  for (const { scope_id, position } of found) {
    if (scope_id === null || position === null) continue;
    const list = places.get(scope_id);
    if (list) list.push(position);
    else places.set(scope_id, [position]);
  }
  const docs: KeptDoc[] = [];
  for (const [scope_id, positions] of places) {
    const scope = kept.byScope.get(scope_id)!;
    for (const [from, to] of gapsAround(positions.sort((a, b) => a - b)))
      for (let position = from; position <= to; position++) {
        const doc = scope.get(position);
        if (doc) docs.push(doc);
      }
  }
  return docs;
}
