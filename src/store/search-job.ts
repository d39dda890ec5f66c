/**
 * A search, from the question to what is shown. It runs beside the event loop where the database would block it
 * (`driver.away`): so it gets and gives plain values.
 */

import { type Question, readQuestion } from '../domain/question.js';
import { type Candidate, rank } from '../domain/ranking.js';
import type { Boost } from '../domain/ranking-boosts.js';
import { type Snippet, snippetOf } from '../domain/snippets.js';
import { frequencyIn, termCode } from '../domain/term-codes.js';
import type { Query } from '../driver/driver.js';
import { type Asked, findCandidates, newest } from './search-candidates.js';
import { textsOf } from './search-contents.js';
import { type Features, frequencies } from './search-features.js';
import { storedIndex } from './search-index.js';
import { extentOf, type Range, rangeOf } from './search-postings.js';
import { type RelatedEntity, relatedTo } from './search-related.js';
import { type DocRow, readDocs } from './search-rows.js';
import { type Extent, smallIndex } from './search-small.js';
import { supersededAmong } from './search-superseded.js';

export interface SearchRequest extends Asked {
  /** Tells stores in one process apart. */
  readonly store: string;
  /** Whether documents are committed in the order of their numbers. */
  readonly in_order: boolean;
  readonly query: string;
  readonly min_score: number;
  readonly limit: number;
  /** How far a page before had come in the ranking, and the newest document then. */
  readonly after: number;
  readonly up_to: number | undefined;
  /** Whether the whole text is wanted, and not a part. */
  readonly whole: boolean;
}

export interface SearchHit extends DocRow, Snippet {
  readonly score: number;
  readonly matched: readonly string[];
  readonly nearby: readonly string[];
  readonly boosts: readonly Boost[];
  readonly related: readonly RelatedEntity[];
  /** Only where it was wanted. */
  readonly text: string | undefined;
}

export interface SearchAnswer {
  readonly hits: SearchHit[];
  /** Where the next page begins; null at the end. */
  readonly next: number | null;
  readonly up_to: number;
  readonly total: number | null;
}

/** So many are ranked, with the turns around them; a page further behind needs more of them. */
const ENOUGH = 300;
/** So many at least are looked up for a page: some of them may be superseded. */
const LOOKED_UP = 20;

interface Result {
  readonly doc_no: number;
  readonly score: number;
  readonly matched: readonly string[];
  readonly nearby: readonly string[];
  readonly boosts: readonly Boost[];
}

interface Ranking {
  readonly results: readonly Result[];
  /** Whether nothing else matches. */
  readonly complete: boolean;
}

const NOTHING: Ranking = { results: [], complete: true };

export async function run(query: Query, input: unknown): Promise<SearchAnswer> {
  const request = input as SearchRequest;
  const { tenant, trajectory_id, after } = request;
  const extent = await extentOf(query, tenant);
  const { last } = extent;
  const up_to = Math.min(last, request.up_to ?? last);
  const question = readQuestion(request.query, request.now);
  const isEmpty = request.query.trim() === '';
  const range =
    trajectory_id === undefined || isEmpty
      ? { from: 0, to: up_to }
      : await rangeOf(query, tenant, trajectory_id, up_to);
  const ranking = isEmpty
    ? await newestFirst(query, request, up_to)
    : range
      ? await bestFirst(query, request, question, range, extent)
      : NOTHING;
  const { page, next, total } = await pageOf(query, request, ranking.results);
  return {
    hits: await show(query, request, page, new Set(question.terms)),
    next,
    up_to,
    total: after === 0 && ranking.complete ? total : null,
  };
}

/** A page's worth, without what something supersedes, and each thing once. */
async function pageOf(
  query: Query,
  request: SearchRequest,
  results: readonly Result[],
): Promise<{ page: Shown[]; next: number | null; total: number }> {
  const { after, limit } = request;
  const shown: Shown[] = [];
  const seen = new Set<string>();
  let at = after;
  let hidden = 0;
  for (
    const size = Math.max(limit + 5, LOOKED_UP);
    at < results.length && shown.length <= limit;
    at += size
  ) {
    const some = results.slice(at, at + size);
    const doc_nos = some.map(({ doc_no }) => doc_no);
    const rows = await readDocs(query, request, doc_nos);
    const superseded = await supersededAmong(query, request, [...rows.values()]);
    for (const [i, result] of some.entries()) {
      const row = rows.get(result.doc_no);
      const name = row && `${row.entity_type} ${row.entity_id}`;
      if (!row || superseded.has(row.doc_no) || seen.has(name!)) hidden++;
      else {
        seen.add(name!);
        shown.push({ row, result, place: at + i });
      }
    }
  }
  return {
    page: shown.slice(0, limit),
    next: shown[limit]?.place ?? null,
    total: results.length - hidden,
  };
}

interface Shown {
  readonly row: DocRow;
  readonly result: Result;
  readonly place: number;
}

async function newestFirst(query: Query, request: SearchRequest, up_to: number): Promise<Ranking> {
  const limit = Math.max(request.after + request.limit + 1, ENOUGH);
  const doc_nos = await newest(query, request, up_to, limit);
  return {
    results: doc_nos.map((doc_no) => ({ doc_no, score: 0, matched: [], nearby: [], boosts: [] })),
    complete: doc_nos.length < limit,
  };
}

async function bestFirst(
  query: Query,
  request: SearchRequest,
  question: Question,
  range: Range,
  extent: Extent,
): Promise<Ranking> {
  const { tenant, store } = request;
  const mark = { store, generation: extent.generation };
  const small = request.in_order ? await smallIndex(query, request, mark, extent) : undefined;
  const index = small ?? storedIndex(query, request, mark);
  const codes = question.terms.map((term) => termCode(tenant, term));
  const enough = Math.max(ENOUGH, 2 * (request.after + request.limit));
  const { doc_nos, df, complete, mayMatch } = await findCandidates(index, request, codes, range, enough);
  const found = await index.features(doc_nos);
  const { wanted, context } = await index.neighbours(found);
  const inRange = (doc_no: number) => doc_no <= range.to;
  const around = await index.features(wanted.filter(inRange));
  const beside = await index.features(context.filter(inRange));
  const hasKin = question.related.some((terms) => terms.length > 0);
  const none = codes.map(() => 0);
  const related = question.related.map((terms) => terms.map((term) => termCode(tenant, term)));
  const kinOf = (one: Features) =>
    hasKin ? related.map((kin) => kin.reduce((sum, code) => sum + frequencyIn(one.terms, code), 0)) : none;
  const tfOf = (one: Features) => (mayMatch(one.doc_no) ? frequencies(one, codes) : none);
  const candidates = [
    ...found.map((one) => candidateOf(one, tfOf(one), kinOf(one), false)),
    ...around.map((one) => candidateOf(one, tfOf(one), kinOf(one), false)),
    ...beside.map((one) => candidateOf(one, tfOf(one), kinOf(one), true)),
  ];
  const results = rank(question, candidates, { docs: extent.docs, df })
    .filter(({ score }) => score >= request.min_score)
    .map(({ candidate: { doc_no }, score, matched, nearby, boosts }) => ({
      doc_no,
      score,
      matched,
      nearby,
      boosts,
    }));
  return { results, complete };
}

/** Member by member: there are hundreds of them, and a copy by spreading takes ten times as long. */
const candidateOf = (
  one: Features,
  tf: readonly number[],
  related_tf: readonly number[],
  context_only: boolean,
): Candidate => ({
  doc_no: one.doc_no,
  scope_id: one.scope_id,
  position: one.position,
  role: one.role,
  speaker: one.speaker,
  occurred_at: one.occurred_at,
  length: one.length,
  flags: one.flags,
  tf,
  related_tf,
  context_only,
});

async function show(
  query: Query,
  request: SearchRequest,
  page: readonly Shown[],
  terms: ReadonlySet<string>,
): Promise<SearchHit[]> {
  const rows = page.map(({ row }) => row);
  const texts = await textsOf(query, request.tenant, rows);
  const related = await relatedTo(query, request, rows);
  return page.flatMap(({ row, result }) => {
    const text = texts.get(row.content_id);
    if (text === undefined) return [];
    const { snippet, highlights } = snippetOf(text, terms);
    return [
      {
        ...row,
        snippet,
        highlights,
        score: result.score,
        matched: result.matched,
        nearby: result.nearby,
        boosts: result.boosts,
        related: related.get(row.doc_no) ?? [],
        text: request.whole ? text : undefined,
      },
    ];
  });
}
