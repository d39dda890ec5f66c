/**
 * The index of a tenant that has few documents, kept in memory. Documents are added and emptied, and never change; from how
 * many there are, and which is the newest, it follows whether what is kept is all there is. On SQLite alone: elsewhere
 * numbers are not committed in their order. What is shown of it in the end is asked of the database again.
 */
import type { Query } from '../driver/driver.js';
import { type Sql, sql } from '../driver/sql.js';
import {
  type Asked,
  gapsAround,
  type Neighbours,
  neighboursOf,
  type Placed,
  wantedAmong,
} from './search-candidates.js';
import {
  FEATURE_COLUMNS,
  type FeatureRow,
  type Features,
  KEPT_MS,
  type StoreMark,
} from './search-features.js';
import type { SearchedIndex } from './search-index.js';
import type { Range } from './search-postings.js';

/** A tenant with more is asked of the database. */
const MAX_DOCS = 1900;
/** The same for one whose documents are long: characters of terms, all together. */
const MAX_CHARACTERS = 2_000_000;
const MAX_TENANTS = 16;
const CODE_LENGTH = 7;
/** So many documents of all tenants are gone through for new ones; else the tenant's own are. */
const FEW_NEW = 500;

interface KeptDoc extends Features {
  readonly entity_type: string;
  readonly expires_at: number | null;
  readonly held_by: string | null;
}

interface Kept {
  readonly generation: number;
  last: number;
  docs: number;
  characters: number;
  readonly byNumber: Map<number, KeptDoc>;
  /** Of each term, the documents that have it, the oldest first. */
  readonly byTerm: Map<string, number[]>;
  readonly byScope: Map<string, Map<number, KeptDoc>>;
}

type Row = [...FeatureRow, entity_type: string, expires_at: number | null, held_by: string | null];

const COLUMNS: Sql = sql`${FEATURE_COLUMNS}, d.entity_type, d.expires_at, d.held_by`;

async function read(query: Query, tenant: string, after: number, last: number): Promise<Row[]> {
  const table =
    last - after < FEW_NEW
      ? sql`search_docs d NOT INDEXED`
      : sql`search_docs d INDEXED BY search_docs_by_content`;
  const row = await query.get<{ list: string }>(
    sql`SELECT json_group_array(json_array(${COLUMNS})) AS list FROM (SELECT * FROM ${table}
        WHERE d.tenant_id = ${tenant} AND d.doc_no > ${after} AND d.terms IS NOT NULL ORDER BY d.doc_no) d`,
  );
  return JSON.parse(row!.list) as Row[];
}

const known = new Map<string, Kept>();
let forgetting: NodeJS.Timeout | undefined;

function forgetAll(): void {
  known.clear();
  forgetting = undefined;
}

export interface Extent {
  readonly last: number;
  readonly docs: number;
  readonly generation: number;
}

/** The index of a tenant as it is at this moment; undefined where it is not kept in memory. */
export async function smallIndex(
  query: Query,
  asked: Asked,
  { store }: StoreMark,
  extent: Extent,
): Promise<SearchedIndex | undefined> {
  const { tenant, viewer, filters } = asked;
  if (extent.docs > MAX_DOCS || viewer !== null || filters !== undefined) return undefined;
  const name = `${store} ${tenant}`;
  const before = known.get(name);
  const kept =
    before && (await broughtUp(query, tenant, before, extent)) ? before : await load(query, tenant, extent);
  known.delete(name);
  known.set(name, kept);
  if (!forgetting) forgetting = setTimeout(forgetAll, KEPT_MS).unref();
  if (known.size > MAX_TENANTS) known.delete(known.keys().next().value!);
  return kept.characters > MAX_CHARACTERS ? undefined : indexOn(query, asked, kept);
}

async function load(query: Query, tenant: string, extent: Extent): Promise<Kept> {
  const kept: Kept = {
    ...extent,
    characters: 0,
    byNumber: new Map(),
    byTerm: new Map(),
    byScope: new Map(),
  };
  for (const row of await read(query, tenant, 0, Number.MAX_SAFE_INTEGER)) add(kept, row);
  return kept;
}

/** Adds what came since. False when some of it went: which, only the database knows. */
async function broughtUp(query: Query, tenant: string, kept: Kept, extent: Extent): Promise<boolean> {
  if (kept.generation !== extent.generation) return false;
  if (kept.last === extent.last) return kept.docs === extent.docs;
  if (kept.characters > MAX_CHARACTERS) return kept.docs <= extent.docs;
  const rows = await read(query, tenant, kept.last, extent.last);
  if (kept.docs + rows.length !== extent.docs) return false;
  for (const row of rows) add(kept, row);
  kept.last = extent.last;
  kept.docs = extent.docs;
  return true;
}

/** Member by member: what is made by spreading is read several times slower, and there are hundreds to a search. */
const docOf = (row: Row): KeptDoc => ({
  doc_no: row[0],
  scope_id: row[1],
  position: row[2],
  role: row[3],
  speaker: row[4],
  occurred_at: row[5],
  length: row[6],
  flags: row[7],
  terms: row[8],
  entity_type: row[9],
  expires_at: row[10],
  held_by: row[11],
});

function add(kept: Kept, row: Row): void {
  const doc = docOf(row);
  const { doc_no, scope_id, position, terms } = doc;
  kept.characters += terms.length;
  if (kept.characters > MAX_CHARACTERS) return;
  kept.byNumber.set(doc_no, doc);
  for (let at = 0; at < terms.length; at += CODE_LENGTH + 1) {
    const code = terms.slice(at, at + CODE_LENGTH);
    const list = kept.byTerm.get(code);
    if (list) list.push(doc_no);
    else kept.byTerm.set(code, [doc_no]);
  }
  if (scope_id === null || position === null) return;
  const scope = kept.byScope.get(scope_id);
  if (scope) scope.set(position, doc);
  else kept.byScope.set(scope_id, new Map([[position, doc]]));
}

const NONE: readonly number[] = [];

function indexOn(query: Query, asked: Asked, kept: Kept): SearchedIndex {
  // What belongs to a trajectory or a scope is for the database to say: that goes by edges and boxes as well.
  const isAnywhere = asked.trajectory_id === undefined && asked.scopes === undefined;
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
      isAnywhere ? wanted(query, asked, docsOf(doc_nos)) : wantedAmong(query, asked, doc_nos),
    neighbours: async (found) => {
      if (!isAnywhere) return neighboursOf(query, asked, found);
      const around = besides(kept, found);
      const readable = new Set(await readableAmong(query, asked, around));
      const isThere = around.filter(({ doc_no }) => readable.has(doc_no));
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

async function wanted(query: Query, asked: Asked, docs: readonly KeptDoc[]): Promise<number[]> {
  return readableAmong(
    query,
    asked,
    docs.filter((doc) => isAskedFor(asked, doc)),
  );
}

/** What has not expired and is held by nothing that ended; of what is, the database knows whether it still shows. */
async function readableAmong(query: Query, asked: Asked, docs: readonly KeptDoc[]): Promise<number[]> {
  const { tenant, now } = asked;
  const there = docs.filter(({ expires_at }) => expires_at === null || expires_at > now);
  const holders = new Set<string>();
  for (const { held_by } of there) if (held_by !== null) holders.add(held_by);
  if (holders.size === 0) return there.map(({ doc_no }) => doc_no);
  const rows = await query.all<{ holder: string }>(
    sql`SELECT holder FROM endings WHERE tenant_id = ${tenant} AND holder = ANY(${[...holders]})`,
  );
  if (rows.length === 0) return there.map(({ doc_no }) => doc_no);
  const ended = new Set(rows.map(({ holder }) => holder));
  const isEnded = ({ held_by }: KeptDoc) => held_by !== null && ended.has(held_by);
  const inDoubt = there.filter(isEnded).map(({ doc_no }) => doc_no);
  const shown = new Set(await wantedAmong(query, { tenant, now, viewer: null }, inDoubt));
  return there.filter((doc) => !isEnded(doc) || shown.has(doc.doc_no)).map(({ doc_no }) => doc_no);
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
