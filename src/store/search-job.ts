/**
 * A search, from the question to what is shown. It runs beside the event loop where the database would block it
 * (`driver.away`): so it gets and gives plain values.
 */
import { readQuestion } from '../domain/question.js';
import { type Boost, type Ranked, rank } from '../domain/ranking.js';
import { type Snippet, snippetOf } from '../domain/snippets.js';
import { termCode } from '../domain/term-codes.js';
import type { Query } from '../driver/driver.js';
import {
  type Asked,
  asCandidates,
  type DocRow,
  findCandidates,
  neighboursOf,
  newest,
} from './search-candidates.js';
import { textsOf } from './search-contents.js';
import { extentOf, rangeOf } from './search-postings.js';
import { type RelatedEntity, relatedTo } from './search-related.js';
import { supersededAmong } from './search-superseded.js';

export interface SearchRequest extends Asked {
  readonly query: string;
  readonly min_score: number;
  readonly limit: number;
  /** How far a page before had come in the ranking, and the newest document then. */
  readonly after: number;
  readonly up_to: number | undefined;
  /** Whether the whole text is wanted, and not a part. */
  readonly whole: boolean;
}

export interface SearchHit extends Omit<DocRow, 'terms' | 'wanted' | 'length' | 'flags'>, Snippet {
  readonly score: number;
  readonly matched: readonly string[];
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

/** So many are ranked; a page further behind needs more of them. */
const ENOUGH = 200;

type Result = Pick<Ranked<DocRow>, 'candidate' | 'score' | 'matched' | 'boosts'>;

interface Ranking {
  readonly results: readonly Result[];
  readonly complete: boolean;
  readonly terms: ReadonlySet<string>;
}

export async function run(query: Query, input: unknown): Promise<SearchAnswer> {
  const request = input as SearchRequest;
  const { last, docs } = await extentOf(query, request.tenant);
  const up_to = Math.min(last, request.up_to ?? last);
  const { results, complete, terms } = await ranked(query, request, up_to, docs);
  const page = results.slice(request.after, request.after + request.limit);
  const next = results.length > request.after + request.limit ? request.after + request.limit : null;
  return {
    hits: await show(query, request, page, terms),
    next,
    up_to,
    total: request.after === 0 && complete ? results.length : null,
  };
}

async function ranked(query: Query, request: SearchRequest, up_to: number, docs: number): Promise<Ranking> {
  const { tenant, trajectory_id, min_score } = request;
  const question = readQuestion(request.query);
  const terms = new Set(question.terms);
  const nothing: Ranking = { results: [], complete: true, terms };
  if (request.query.trim() === '') return newestOf(query, request, up_to);
  const range =
    trajectory_id === undefined ? { from: 0, to: up_to } : await rangeOf(query, tenant, trajectory_id, up_to);
  if (!range || terms.size === 0) return nothing;
  const codes = question.terms.map((term) => termCode(tenant, term));
  const enough = Math.max(ENOUGH, 2 * (request.after + request.limit));
  const { rows, df, complete } = await findCandidates(query, request, codes, range, enough);
  const around = await neighboursOf(query, request, rows);
  const candidates = asCandidates([...rows, ...around.filter(({ doc_no }) => doc_no <= up_to)], codes);
  const results = rank(question, candidates, { docs, df }).filter(({ score }) => score >= min_score);
  return { results: await current(query, request, results), complete, terms };
}

/** Without what something else supersedes, and each thing once: a thought comes with every checkpoint that changed it. */
async function current(query: Query, request: SearchRequest, results: readonly Result[]): Promise<Result[]> {
  const superseded = await supersededAmong(
    query,
    request,
    results.map(({ candidate }) => candidate),
  );
  const seen = new Set<string>();
  return results.filter(({ candidate: { doc_no, entity_type, entity_id } }) => {
    if (superseded.has(doc_no)) return false;
    const name = `${entity_type} ${entity_id}`;
    if (seen.has(name)) return false;
    seen.add(name);
    return true;
  });
}

async function newestOf(query: Query, request: SearchRequest, up_to: number): Promise<Ranking> {
  const wanted = request.after + request.limit + 1;
  const rows = await newest(query, request, up_to + 1, Math.max(wanted, ENOUGH));
  const results = rows.map((candidate) => ({ candidate, score: 0, matched: [], boosts: [] }));
  const complete = rows.length < Math.max(wanted, ENOUGH);
  return { results: await current(query, request, results), complete, terms: new Set() };
}

async function show(
  query: Query,
  request: SearchRequest,
  page: readonly Result[],
  terms: ReadonlySet<string>,
): Promise<SearchHit[]> {
  const rows = page.map(({ candidate }) => candidate);
  const texts = await textsOf(query, request.tenant, rows);
  const related = await relatedTo(query, request, rows);
  return page.flatMap(({ candidate, score, matched, boosts }) => {
    const text = texts.get(candidate.content_id);
    if (text === undefined) return [];
    const { terms: _, wanted: __, length: ___, flags: ____, ...row } = candidate as DocRow & { tf?: unknown };
    const { tf: _____, context_only: ______, ...shown } = row as typeof row & { context_only?: boolean };
    return [
      {
        ...shown,
        ...snippetOf(text, terms),
        score,
        matched,
        boosts,
        related: related.get(candidate.doc_no) ?? [],
        text: request.whole ? text : undefined,
      },
    ];
  });
}
