/**
 * The documents of a tenant that has few, kept in memory: read once, then only what came since. They are added and emptied,
 * and never change; whether what is kept is all there is, is asked of the database each time.
 */
import { byDialect, type Query, type Sql, sql, TENANT } from '../driver/index.js';
import { givingWay } from '../kernel/index.js';
import { FEATURE_COLUMNS, type FeatureRow, type Features, KEPT_MS } from './features.js';

/** A tenant with more is asked of the database. */
const MAX_DOCS = 1900;
/** The same for one whose documents are long: characters of terms, all together. */
const MAX_CHARACTERS = 2_000_000;
const MAX_TENANTS = 16;
const CODE_LENGTH = 7;
/** So many documents of all tenants are gone through for new ones; else the tenant's own are. */
const FEW_NEW = 500;
/** So many are read at once, and so many new ones are added to what is kept; with more all is read anew. */
const AT_A_TIME = 500;
/** Of so many it is looked whether others are to have their turn. */
const MANY = 64;

export interface KeptDoc extends Features {
  readonly entity_type: string;
  readonly expires_at: number | null;
  readonly held_by: string | null;
}

export interface Kept {
  readonly generation: number;
  last: number;
  docs: number;
  /** Tells which there are, where they are not committed in order. */
  mark: string;
  characters: number;
  readonly byNumber: Map<number, KeptDoc>;
  /** Of each term, the documents that have it, the oldest first. */
  readonly byTerm: Map<string, number[]>;
  readonly byScope: Map<string, Map<number, KeptDoc>>;
}

export interface Extent {
  readonly last: number;
  readonly docs: number;
  readonly generation: number;
}

/** Whose documents, and whether they are committed in the order of their numbers. */
export interface KeptTenant {
  readonly tenant: string;
  readonly store: string;
  readonly in_order: boolean;
}

const known = new Map<string, Kept>();
let forgetting: NodeJS.Timeout | undefined;

function forgetAll(): void {
  known.clear();
  forgetting = undefined;
}

const nameOf = ({ store, tenant }: KeptTenant): string => `${store} ${tenant}`;

/** What tells whether all is kept still, where that takes a question: it can be asked ahead. */
export interface Marks {
  readonly last: number;
  readonly all: string;
  readonly up_to: string;
}

export async function marksAhead(query: Query, whose: KeptTenant): Promise<Marks | undefined> {
  const kept = whose.in_order ? undefined : known.get(nameOf(whose));
  return kept && !isTooMuch(kept) ? marksOf(query, kept.last) : undefined;
}

/** Of such a tenant it is only remembered that it is one, until it has fewer documents. */
const isTooMuch = ({ characters }: Kept): boolean => characters > MAX_CHARACTERS;

/** All that a tenant has at this moment; undefined where that is too much. */
export async function keptDocs(
  query: Query,
  whose: KeptTenant,
  extent: Extent,
  marks: Marks | undefined,
): Promise<Kept | undefined> {
  if (extent.docs > MAX_DOCS) return undefined;
  const name = nameOf(whose);
  const before = known.get(name);
  const isKept = before && (await broughtUp(query, whose, before, extent, marks));
  const kept = isKept ? before : await load(query, whose, extent);
  known.delete(name);
  known.set(name, kept);
  if (!forgetting) forgetting = setTimeout(forgetAll, KEPT_MS).unref();
  if (known.size > MAX_TENANTS) known.delete(known.keys().next().value!);
  return isTooMuch(kept) ? undefined : kept;
}

type Row = [...FeatureRow, entity_type: string, expires_at: number | null, held_by: string | null];

const COLUMNS: Sql = sql`${FEATURE_COLUMNS}, d.entity_type, d.expires_at, d.held_by`;

/** Those behind a number, in order; on PostgreSQL so many at a time, since they are read on the event loop. */
async function read(query: Query, after: number, last: number): Promise<Row[]> {
  const table =
    last - after < FEW_NEW ? sql`search_docs d NOT INDEXED` : sql`search_docs d INDEXED BY search_docs_by_content`;
  const row = await query.get<{ list: string | null }>(
    byDialect({
      sqlite: sql`SELECT json_group_array(json_array(${COLUMNS})) AS list FROM (SELECT * FROM ${table}
        WHERE d.tenant_id = ${TENANT} AND d.doc_no > ${after} AND d.terms IS NOT NULL ORDER BY d.doc_no) d`,
      postgres: sql`SELECT json_agg(json_build_array(${COLUMNS}))::text AS list FROM (SELECT * FROM search_docs d
        WHERE d.tenant_id = ${TENANT} AND d.doc_no > ${after} AND d.terms IS NOT NULL
        ORDER BY d.doc_no LIMIT ${AT_A_TIME}) d`,
    }),
  );
  return JSON.parse(row?.list ?? '[]') as Row[];
}

async function load(query: Query, whose: KeptTenant, extent: Extent): Promise<Kept> {
  const kept: Kept = {
    ...extent,
    mark: whose.in_order ? '' : (await marksOf(query, 0)).all,
    characters: 0,
    byNumber: new Map(),
    byTerm: new Map(),
    byScope: new Map(),
  };
  const giveWay = givingWay();
  let count = 0;
  for (let after = 0; ; ) {
    const rows = await read(query, after, Number.MAX_SAFE_INTEGER);
    for (const row of rows) {
      add(kept, row);
      if (++count % MANY === 0) await giveWay();
    }
    after = rows.at(-1)?.[0] ?? after;
    if (isTooMuch(kept)) {
      for (const some of [kept.byNumber, kept.byTerm, kept.byScope]) some.clear();
      return kept;
    }
    if (whose.in_order || rows.length < AT_A_TIME) {
      if (!whose.in_order) kept.last = after;
      return kept;
    }
  }
}

/** Adds what came since. False when some of it went: which, only the database knows. */
async function broughtUp(
  query: Query,
  whose: KeptTenant,
  kept: Kept,
  extent: Extent,
  marks: Marks | undefined,
): Promise<boolean> {
  if (kept.generation !== extent.generation) return false;
  if (isTooMuch(kept)) return kept.docs <= extent.docs;
  if (!whose.in_order) return broughtUpAnywhere(query, kept, extent, marks);
  if (kept.last === extent.last) return kept.docs === extent.docs;
  const rows = await read(query, kept.last, extent.last);
  if (kept.docs + rows.length !== extent.docs) return false;
  for (const row of rows) add(kept, row);
  kept.last = extent.last;
  kept.docs = extent.docs;
  return true;
}

/** The same where numbers are not committed in their order: one may come between others while another goes. */
async function broughtUpAnywhere(query: Query, kept: Kept, extent: Extent, ahead: Marks | undefined): Promise<boolean> {
  const { last, mark } = kept;
  const marks = ahead?.last === last ? ahead : await marksOf(query, last);
  if (marks.up_to !== mark || kept.mark !== mark) return false;
  if (marks.all === mark) return true;
  const rows = await read(query, last, extent.last);
  // Another search may have added them meanwhile.
  if (rows.length === 0 || rows.length >= AT_A_TIME || kept.mark !== mark) return false;
  for (const row of rows) add(kept, row);
  kept.last = rows.at(-1)![0];
  kept.docs = extent.docs;
  kept.mark = marks.all;
  return true;
}

/** How many documents there are, up to one and in all, with sums that tell sets of as many apart. */
async function marksOf(query: Query, last: number): Promise<Marks> {
  const mark = sql`COUNT(*) || ' ' || COALESCE(SUM(doc_no), 0) || ' ' || COALESCE(SUM(hashint8(doc_no)), 0)`;
  const row = await query.get<{ all: string; up_to: string }>(
    sql`SELECT (SELECT ${mark} FROM search_index WHERE tenant_id = ${TENANT}) AS "all",
          (SELECT ${mark} FROM search_index WHERE tenant_id = ${TENANT} AND doc_no <= ${last}) AS up_to`,
  );
  return { last, ...row! };
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
  if (isTooMuch(kept)) return;
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
