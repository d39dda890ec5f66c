/** Meanings of documents and names in them, read from their contents and cached: they are derived and not stored. */
import { type Query, sql, TENANT } from '../../driver/index.js';
import { type StoreMark, type TermIndex, termCode } from '../../index/sql.js';
import { cooperativeYield } from '../../kernel/index.js';
import { contentWords, type Meaning, meaningOf, stem } from '../../text/index.js';
import { centerOf } from '../ranking/meaning.js';
import { namesIn } from '../ranking/names.js';
import type { NameCodes } from '../ranking/second-hop.js';
import { contentKey, contentTexts } from './contents.js';

/** About 25 MB. */
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

export interface ReadText {
  readonly meaning: Meaning;
  readonly names: NameCodes;
}

/** What meanings are read from. */
interface Source {
  readonly query: Query;
  readonly mark: StoreMark;
  readonly index: TermIndex;
  /** Key of the tenant's term codes. */
  readonly index_key: string;
}

interface Cached {
  readonly byNumber: Map<number, ReadText>;
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

export async function allMeanings(source: Source, asked: readonly number[]): Promise<Meanings> {
  const name = nameOf(source.mark, source.query);
  const last = cache.get(name)?.last;
  if (last && isSame(last.asked, asked)) return last.meanings;
  const found = await meaningsOf(source, asked);
  const doc_nos = asked.filter((doc_no) => found.has(doc_no));
  const texts = doc_nos.map((doc_no) => found.get(doc_no)!.meaning);
  const meanings = { doc_nos, texts, center: centerOf(texts) };
  const cached = cache.get(name);
  if (cached) cached.last = { asked, meanings };
  return meanings;
}

/** By number; without thoughts, which are ranked by terms alone, and documents whose content is gone. */
export async function meaningsOf(
  { query, mark, index, index_key }: Source,
  doc_nos: readonly number[],
): Promise<Map<number, ReadText>> {
  const name = nameOf(mark, query);
  const found = new Map<number, ReadText>();
  const missing: number[] = [];
  const known = cache.get(name)?.byNumber;
  for (const doc_no of doc_nos) {
    const text = known?.get(doc_no);
    if (text) found.set(doc_no, text);
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
      const whole = `${content.text}\n${content.caption}`;
      const text = { meaning: meaningOf(whole), names: namesOf(whole, index_key) };
      found.set(ref.doc_no, text);
      remember(name, ref.doc_no, text);
      await maybeYield();
    }
  }
  return found;
}

/** The rest of a longer text is not looked through for names, and further names are ignored. */
const MAX_NAMED = 4000;
const MAX_NAMES = 40;

function namesOf(text: string, index_key: string): NameCodes {
  const { within, all } = namesIn(text.slice(0, MAX_NAMED));
  const codesOf = (words: ReadonlySet<string>) =>
    new Set(contentWords([...words]).map((word) => termCode(index_key, stem(word))));
  const first = codesOf(within);
  const codes = [...new Set([...first, ...codesOf(all)])].slice(0, MAX_NAMES);
  return { codes: Float64Array.from(codes), within: Math.min(first.size, codes.length) };
}

function remember(name: string, doc_no: number, text: ReadText): void {
  let cached = cache.get(name);
  if (!cached) cache.set(name, (cached = { byNumber: new Map() }));
  if (!cached.byNumber.has(doc_no)) count++;
  cached.byNumber.set(doc_no, text);
}
