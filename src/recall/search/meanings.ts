/** Meanings of documents, read from their contents and cached: vectors of words are derived and not stored. */
import { type Query, sql, TENANT } from '../../driver/index.js';
import type { StoreMark, TermIndex } from '../../index/sql.js';
import { cooperativeYield } from '../../kernel/index.js';
import { type Meaning, meaningOf } from '../../text/index.js';
import { contentKey, contentTexts } from './contents.js';

/** About 20 MB. */
const MAX_CACHED = 25_000;
/** What was erased leaves the cache after this time, though nothing searches. */
const CACHE_MS = 600_000;
/** Contents read at once. */
const PAGE = 256;

const cache = new Map<string, Map<number, Meaning>>();
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

/** By number; without thoughts, which are ranked by terms alone, and documents whose content is gone. */
export async function meaningsOf(
  query: Query,
  { store, generation }: StoreMark,
  index: TermIndex,
  doc_nos: readonly number[],
): Promise<Map<number, Meaning>> {
  const name = `${store} ${generation} ${query.tenant}`;
  const found = new Map<number, Meaning>();
  const missing: number[] = [];
  const known = cache.get(name);
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
  if (!cached) cache.set(name, (cached = new Map()));
  if (!cached.has(doc_no)) count++;
  cached.set(doc_no, meaning);
}
