/** Meanings of documents, read from their contents and cached: vectors of words are derived and not stored. */
import { type Query, sql, TENANT } from '../../driver/index.js';
import type { StoreMark, TermIndex } from '../../index/sql.js';
import { cooperativeYield } from '../../kernel/index.js';
import { type Meaning, meaningOf } from '../../text/index.js';
import { centerOf } from '../ranking/meaning.js';
import { contentKey, contentTexts } from './contents.js';

/** About 20 MB. */
const MAX_CACHED = 25_000;
/** What was erased leaves the cache after this time, though nothing searches. */
const CACHE_MS = 600_000;
/** Contents read at once. */
const PAGE = 256;

/** The meanings of a list of documents, without those that have none. */
export interface Meanings {
  readonly doc_nos: readonly number[];
  readonly texts: readonly Meaning[];
  readonly center: Meaning;
}

interface Cached {
  readonly byNumber: Map<number, Meaning>;
  /** Of the last list, which is mostly also the next: the newest documents. */
  last?: { readonly asked: readonly number[]; readonly meanings: Meanings };
}

const cache = new Map<string, Cached>();
let count = 0;
let clearing: NodeJS.Timeout | undefined;

function clearCache(): void {
  cache.clear();
  count = 0;
  clearTimeout(clearing);
  clearing = undefined;
}

interface ContentRef {
  readonly doc_no: number;
  readonly entity_type: string;
  readonly content_id: string;
}

async function refsOf(query: Query, { tail }: TermIndex, doc_nos: readonly number[]): Promise<ContentRef[]> {
  const refs: ContentRef[] = [];
  const others: number[] = [];
  for (const doc_no of doc_nos) {
    const doc = tail.get(doc_no);
    if (doc) refs.push(doc);
    else others.push(doc_no);
  }
  if (others.length === 0) return refs;
  const rows = await query.all<ContentRef>(
    sql`SELECT d.doc_no, d.entity_type, d.content_id FROM search_docs d
        WHERE d.tenant_id = ${TENANT} AND d.doc_no = ANY(${others}) AND d.gone IS NULL`,
  );
  return refs.concat(rows.map((row) => ({ ...row, doc_no: Number(row.doc_no) })));
}

const nameOf = ({ store, generation }: StoreMark, { tenant }: Query): string => `${store} ${generation} ${tenant}`;

const isSame = (a: readonly number[], b: readonly number[]): boolean =>
  a.length === b.length && a.every((one, at) => one === b[at]);

export async function allMeanings(
  query: Query,
  mark: StoreMark,
  index: TermIndex,
  asked: readonly number[],
): Promise<Meanings> {
  const name = nameOf(mark, query);
  const last = cache.get(name)?.last;
  if (last && isSame(last.asked, asked)) return last.meanings;
  const found = await meaningsOf(query, mark, index, asked);
  const doc_nos = asked.filter((doc_no) => found.has(doc_no));
  const texts = doc_nos.map((doc_no) => found.get(doc_no)!);
  const meanings = { doc_nos, texts, center: centerOf(texts) };
  const cached = cache.get(name);
  if (cached) cached.last = { asked, meanings };
  return meanings;
}

/** By number; without thoughts, which are ranked by terms alone, and documents whose content is gone. */
export async function meaningsOf(
  query: Query,
  mark: StoreMark,
  index: TermIndex,
  doc_nos: readonly number[],
): Promise<Map<number, Meaning>> {
  const name = nameOf(mark, query);
  const found = new Map<number, Meaning>();
  const missing: number[] = [];
  const known = cache.get(name)?.byNumber;
  for (const doc_no of doc_nos) {
    const meaning = known?.get(doc_no);
    if (meaning) found.set(doc_no, meaning);
    else missing.push(doc_no);
  }
  if (missing.length === 0) return found;
  if (count + missing.length > MAX_CACHED) clearCache();
  clearing ??= setTimeout(clearCache, CACHE_MS).unref();
  const maybeYield = cooperativeYield();
  for (let at = 0; at < missing.length; at += PAGE) {
    const all = await refsOf(query, index, missing.slice(at, at + PAGE));
    const refs = all.filter(({ entity_type }) => entity_type !== 'thought');
    const texts = await contentTexts(query, refs);
    for (const ref of refs) {
      const content = texts.get(contentKey(ref));
      if (!content) continue;
      const meaning = meaningOf(`${content.text}\n${content.caption}`);
      found.set(ref.doc_no, meaning);
      remember(name, ref.doc_no, meaning);
      await maybeYield();
    }
  }
  return found;
}

function remember(name: string, doc_no: number, meaning: Meaning): void {
  let cached = cache.get(name);
  if (!cached) cache.set(name, (cached = { byNumber: new Map() }));
  if (!cached.byNumber.has(doc_no)) count++;
  cached.byNumber.set(doc_no, meaning);
}
