/** The index of a tenant whose documents are all in the tail: what is in memory, with what the database says of holders. */
import { type Query, sql } from '../../driver/index.js';
import type { TailDoc, TermIndex } from '../../index/sql.js';
import type { DocQuery } from './conditions.js';
import { gapsAround, matchingAmong, type TurnPosition } from './matching-docs.js';
import type { SearchedIndex } from './searched-index.js';

/**
 * Undefined if some documents are in segments, or if the database has to decide: on restricted viewers and filters, and on
 * what belongs to a trajectory or scope, which also depends on edges and boxes.
 */
export function smallIndex(query: Query, request: DocQuery, terms: TermIndex): SearchedIndex | undefined {
  const { viewer, filters, trajectory_id, scopes } = request;
  const isAnywhere = trajectory_id === undefined && scopes === undefined;
  if (viewer !== null || filters !== undefined || !isAnywhere || !terms.folded.isEmpty) return undefined;
  const readableAmong = readableDocs(query, request);
  const docsOf = (doc_nos: readonly number[]) => doc_nos.flatMap((doc_no) => terms.tail.get(doc_no) ?? []);
  return {
    terms,
    // Posting lists are short here.
    ownWithTerms: async () => undefined,
    features: async (doc_nos) => docsOf(doc_nos),
    matchingAmong: (doc_nos) => readableAmong(docsOf(doc_nos).filter((doc) => hasType(request, doc))),
    newest: async (up_to, limit) => {
      const found: number[] = [];
      for (let to = up_to, isOver = false; !isOver && found.length < limit; ) {
        const docs = terms.tail.newest(to, limit);
        found.push(...(await readableAmong(docs.filter((doc) => hasType(request, doc)))));
        isOver = docs.length < limit;
        to = (docs.at(-1)?.doc_no ?? 0) - 1;
      }
      return found.slice(0, limit);
    },
    neighbours: async (found) => {
      const around = docsAround(terms, found);
      const readable = new Set(await readableAmong(around));
      const numbersWhere = (isMatching: boolean) =>
        around
          .filter((doc) => readable.has(doc.doc_no) && hasType(request, doc) === isMatching)
          .map(({ doc_no }) => doc_no);
      return { matching: numbersWhere(true), context: numbersWhere(false) };
    },
  };
}

const hasType = ({ entity_types }: DocQuery, { entity_type }: TailDoc): boolean =>
  entity_types === undefined || entity_types.includes(entity_type);

/** Of more holders than this, all endings of the tenant are read if they are fewer: every note is a holder. */
const FEW_HOLDERS = 50;

/**
 * The documents that have not expired and whose holder has not ended; of an ended holder the database knows whether
 * they still show. Each holder is looked up once per search: turns around a turn mostly have the same.
 */
function readableDocs(query: Query, { tenant, now }: DocQuery): (docs: readonly TailDoc[]) => Promise<number[]> {
  const known = new Map<string, boolean>();
  let all: ReadonlySet<string> | undefined;
  let isMany = false;
  const isEnded = ({ held_by }: TailDoc) => held_by !== null && (all ? all.has(held_by) : known.get(held_by)!);
  const readAll = async (limit: number): Promise<void> => {
    const rows = await query.all<{ holder: string }>(
      sql`SELECT holder FROM endings WHERE tenant_id = ${tenant} LIMIT ${limit}`,
    );
    isMany = rows.length === limit;
    if (!isMany) all = new Set(rows.map(({ holder }) => holder));
  };
  const lookUp = async (docs: readonly TailDoc[]): Promise<void> => {
    if (all) return;
    const holders = new Set<string>();
    for (const { held_by } of docs) {
      if (held_by !== null && !known.has(held_by)) holders.add(held_by);
      if (isMany || holders.size <= FEW_HOLDERS) continue;
      await readAll(docs.length);
      break;
    }
    if (all || holders.size === 0) return;
    for (const { held_by } of docs) if (held_by !== null && !known.has(held_by)) holders.add(held_by);
    const rows = await query.all<{ holder: string }>(
      sql`SELECT holder FROM endings WHERE tenant_id = ${tenant} AND holder = ANY(${[...holders]})`,
    );
    const ended = new Set(rows.map(({ holder }) => holder));
    for (const holder of holders) known.set(holder, ended.has(holder));
  };
  return async (docs) => {
    const current = docs.filter(({ expires_at }) => expires_at === null || expires_at > now);
    await lookUp(current);
    if (all?.size === 0) return current.map(({ doc_no }) => doc_no);
    const doubtful = current.filter(isEnded).map(({ doc_no }) => doc_no);
    if (doubtful.length === 0) return current.map(({ doc_no }) => doc_no);
    const shown = new Set(await matchingAmong(query, { tenant, now, viewer: null }, doubtful));
    return current.filter((doc) => !isEnded(doc) || shown.has(doc.doc_no)).map(({ doc_no }) => doc_no);
  };
}

/** The turns around the given ones, without these. */
function docsAround({ tail }: TermIndex, found: readonly TurnPosition[]): TailDoc[] {
  const scopes = new Map<string, number[]>();
  for (const { scope_id, position } of found) {
    if (scope_id === null || position === null) continue;
    const list = scopes.get(scope_id);
    if (list) list.push(position);
    else scopes.set(scope_id, [position]);
  }
  const docs: TailDoc[] = [];
  for (const [scope_id, positions] of scopes)
    for (const [from, to] of gapsAround(positions.sort((a, b) => a - b)))
      for (let position = from; position <= to; position++) {
        const doc = tail.at(scope_id, position);
        if (doc) docs.push(doc);
      }
  return docs;
}
