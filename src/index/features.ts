/**
 * What documents are ranked by, kept in memory: it never changes, and a question looks at hundreds of them. Whether one may
 * be seen is asked of the database each time.
 */
import { byDialect, type Query, type Sql, sql, TENANT } from '../driver/index.js';
import { frequencyIn } from './term-codes.js';

export interface Features {
  readonly doc_no: number;
  readonly scope_id: string | null;
  readonly position: number | null;
  readonly role: string | null;
  readonly speaker: string | null;
  readonly occurred_at: number;
  readonly length: number;
  readonly flags: number;
  readonly terms: string;
}

/** Of one store, as long as it is not indexed anew. */
export interface StoreMark {
  readonly store: string;
  readonly generation: number;
}

/** Some 20 MB of short turns. */
const MAX_KEPT = 50_000;
/** A longer text is read again each time. */
const MAX_KEPT_LENGTH = 4000;

/** What was erased since is forgotten by then: nothing tells this thread of it. */
export const KEPT_MS = 600_000;

const kept = new Map<string, Map<number, Features>>();
let count = 0;
let forgetting: NodeJS.Timeout | undefined;

function keptOf({ store, generation }: StoreMark, tenant: string): Map<number, Features> {
  const name = `${store} ${generation} ${tenant}`;
  let mine = kept.get(name);
  if (!mine) kept.set(name, (mine = new Map()));
  return mine;
}

function forgetAll(): void {
  for (const one of kept.values()) one.clear();
  kept.clear();
  count = 0;
  clearTimeout(forgetting);
  forgetting = undefined;
}

/** The features of a document, in the order of FEATURE_COLUMNS. */
export type FeatureRow = [
  doc_no: number,
  scope_id: string | null,
  position: number | null,
  role: string | null,
  speaker: string | null,
  occurred_at: number,
  length: number,
  flags: number,
  terms: string,
];

export const FEATURE_COLUMNS: Sql = sql`d.doc_no, d.scope_id, d.position, d.role, d.speaker, d.occurred_at, d.length, d.flags, d.terms`;

/** As one text: hundreds of rows are read faster so than one by one. */
async function read(query: Query, doc_nos: readonly number[]): Promise<FeatureRow[]> {
  const row = await query.get<{ list: string | null }>(
    byDialect({
      sqlite: sql`SELECT json_group_array(json_array(${FEATURE_COLUMNS})) AS list
        FROM json_each(${JSON.stringify(doc_nos)}) i CROSS JOIN search_docs d
        WHERE d.tenant_id = ${TENANT} AND d.doc_no = i.value AND d.terms IS NOT NULL`,
      postgres: sql`SELECT json_agg(json_build_array(${FEATURE_COLUMNS}))::text AS list FROM search_docs d
        WHERE d.tenant_id = ${TENANT} AND d.doc_no = ANY(${doc_nos}) AND d.terms IS NOT NULL`,
    }),
  );
  return JSON.parse(row?.list ?? '[]') as FeatureRow[];
}

/** The features of these documents, in no order; of what is gone there are none. */
export async function featuresOf(query: Query, mark: StoreMark, doc_nos: readonly number[]): Promise<Features[]> {
  const mine = keptOf(mark, query.tenant);
  const found: Features[] = [];
  const missing: number[] = [];
  for (const doc_no of doc_nos) {
    const features = mine.get(doc_no);
    if (features) found.push(features);
    else missing.push(doc_no);
  }
  if (missing.length === 0) return found;
  if (count + missing.length > MAX_KEPT) forgetAll();
  const keep = keptOf(mark, query.tenant);
  forgetting ??= setTimeout(forgetAll, KEPT_MS).unref();
  for (const [doc_no, scope_id, position, role, speaker, occurred_at, length, flags, terms] of await read(
    query,
    missing,
  )) {
    const features = { doc_no, scope_id, position, role, speaker, occurred_at, length, flags, terms };
    found.push(features);
    if (terms.length > MAX_KEPT_LENGTH || keep.has(doc_no)) continue;
    keep.set(doc_no, features);
    count++;
  }
  return found;
}

/** How often a document has each of these terms; it is looked only for those that it may have, where that is known. */
export function frequencies(
  { terms }: Features,
  codes: readonly string[],
  mayHave: readonly number[] | undefined,
  none: readonly number[],
): readonly number[] {
  if (mayHave === undefined) return codes.map((code) => frequencyIn(terms, code));
  if (mayHave.length === 0) return none;
  const found = none.slice();
  for (const at of mayHave) found[at] = frequencyIn(terms, codes[at]!);
  return found;
}
