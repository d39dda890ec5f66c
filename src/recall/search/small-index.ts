/** The in-memory index of a tenant with few documents. The rows of results are read from the database. */
import { type Query, sql } from '../../driver/index.js';
import {
  type CachedDoc,
  type CacheKey,
  type CacheMarks,
  cachedDocs,
  type Extent,
  type Range,
  type TenantCache,
} from '../../index/sql.js';
import type { DocQuery } from './conditions.js';
import { gapsAround, matchingAmong, neighboursOf, type TurnPosition } from './matching-docs.js';
import type { SearchedIndex } from './searched-index.js';

/** Restricted viewers and filters need the database. */
export const mayBeSmall = ({ viewer, filters }: DocQuery): boolean => viewer === null && filters === undefined;

/** Undefined if the tenant is not kept in memory. */
export async function smallIndex(
  query: Query,
  request: DocQuery,
  owner: Omit<CacheKey, 'tenant'>,
  extent: Extent,
  marks: CacheMarks | undefined,
): Promise<SearchedIndex | undefined> {
  if (!mayBeSmall(request)) return undefined;
  const kept = await cachedDocs(query, { ...owner, tenant: request.tenant }, extent, marks);
  return kept && indexOn(query, request, kept);
}

const NONE: readonly number[] = [];

function indexOn(query: Query, request: DocQuery, kept: TenantCache): SearchedIndex {
  // The database decides what belongs to a trajectory or scope, which also depends on edges and boxes.
  const isAnywhere = request.trajectory_id === undefined && request.scopes === undefined;
  const readableAmong = readableDocs(query, request);
  const of = (code: string) => kept.byTerm.get(code) ?? NONE;
  const docsOf = (doc_nos: readonly number[]): CachedDoc[] => {
    const docs: CachedDoc[] = [];
    for (const doc_no of doc_nos) {
      const doc = kept.byNumber.get(doc_no);
      if (doc) docs.push(doc);
    }
    return docs;
  };
  return {
    postings: async (code, range, limit) => newestWithin(of(code), range, limit),
    count: async (code, limit) => Math.min(of(code).length, limit),
    // Posting lists are short here.
    ownWithTerms: async () => undefined,
    features: async (doc_nos) => docsOf(doc_nos),
    matchingAmong: (doc_nos) =>
      isAnywhere
        ? readableAmong(docsOf(doc_nos).filter((doc) => hasType(request, doc)))
        : matchingAmong(query, request, doc_nos),
    neighbours: async (found) => {
      if (!isAnywhere) return neighboursOf(query, request, found);
      const around = docsAround(kept, found);
      const readable = new Set(await readableAmong(around));
      const numbersWhere = (isMatching: boolean) =>
        around
          .filter((doc) => readable.has(doc.doc_no) && hasType(request, doc) === isMatching)
          .map(({ doc_no }) => doc_no);
      return { matching: numbersWhere(true), context: numbersWhere(false) };
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

const hasType = ({ entity_types }: DocQuery, { entity_type }: CachedDoc): boolean =>
  entity_types === undefined || entity_types.includes(entity_type);

/**
 * The documents that have not expired and whose holder has not ended; of an ended holder the database knows whether
 * they still show. Each holder is looked up once per search: turns around a turn mostly have the same.
 */
function readableDocs(query: Query, { tenant, now }: DocQuery): (docs: readonly CachedDoc[]) => Promise<number[]> {
  const known = new Map<string, boolean>();
  const isEnded = ({ held_by }: CachedDoc) => held_by !== null && known.get(held_by)!;
  const lookUp = async (docs: readonly CachedDoc[]): Promise<void> => {
    const holders = new Set<string>();
    for (const { held_by } of docs) if (held_by !== null && !known.has(held_by)) holders.add(held_by);
    if (holders.size === 0) return;
    const rows = await query.all<{ holder: string }>(
      sql`SELECT holder FROM endings WHERE tenant_id = ${tenant} AND holder = ANY(${[...holders]})`,
    );
    const ended = new Set(rows.map(({ holder }) => holder));
    for (const holder of holders) known.set(holder, ended.has(holder));
  };
  return async (docs) => {
    const current = docs.filter(({ expires_at }) => expires_at === null || expires_at > now);
    await lookUp(current);
    const doubtful = current.filter(isEnded).map(({ doc_no }) => doc_no);
    if (doubtful.length === 0) return current.map(({ doc_no }) => doc_no);
    const shown = new Set(await matchingAmong(query, { tenant, now, viewer: null }, doubtful));
    return current.filter((doc) => !isEnded(doc) || shown.has(doc.doc_no)).map(({ doc_no }) => doc_no);
  };
}

/** The turns around the given ones, without these. */
function docsAround(kept: TenantCache, found: readonly TurnPosition[]): CachedDoc[] {
  const scopes = new Map<string, number[]>();
  for (const { scope_id, position } of found) {
    if (scope_id === null || position === null) continue;
    const list = scopes.get(scope_id);
    if (list) list.push(position);
    else scopes.set(scope_id, [position]);
  }
  const docs: CachedDoc[] = [];
  for (const [scope_id, positions] of scopes) {
    const scope = kept.byScope.get(scope_id)!;
    for (const [from, to] of gapsAround(positions.sort((a, b) => a - b)))
      for (let position = from; position <= to; position++) {
        const doc = scope.get(position);
        if (doc) docs.push(doc);
      }
  }
  return docs;
}
