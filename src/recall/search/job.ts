/** A search from question to hits. It may run in a thread (`driver.away`), so it takes and returns plain values. */
import { type Query, queryBy } from '../../driver/index.js';
import { type Features, generationOf, indexState, openTermIndex, type StoreMark, termCode } from '../../index/sql.js';
import { cooperativeYield } from '../../kernel/index.js';
import { measureDocs } from '../folding/contents.js';
import { standardOf } from '../ranking/confidence.js';
import { type Question, readQuestion } from '../ranking/question.js';
import { type Candidate, rank } from '../ranking/ranking.js';
import { withReplies } from '../ranking/replies.js';
import { type Snippet, snippetAmong } from '../ranking/snippets.js';
import { newerFirst } from '../updating/newer-first.js';
import { nearestDocs, type QuestionVector, withNearest } from '../vectors/nearest.js';
import { type BatchEnd, findCandidates } from './candidates.js';
import { confidenceOf, type JudgedResult, type Judgement, LONG_TEXTS, oddsOfLongTexts } from './confidences.js';
import { contentKey, contentTexts } from './contents.js';
import { LikenessRanking } from './likeness.js';
import { mayHaveAny, rangeOf } from './narrow-search.js';
import {
  type PagePosition,
  type PageRequest,
  pageOf,
  type RankedBatch,
  type Result,
  type ShownResult,
} from './pages.js';
import { MAX_RELATED, type RelatedEntity, relatedTo } from './related.js';
import { type DocRow, readDocs } from './rows.js';
import { inOpenScopes, scopeRanges } from './scopes.js';
import { type SearchedIndex, storedIndex } from './searched-index.js';
import { smallIndex } from './small-index.js';

/** The content of a hit besides its document: nothing, a snippet and related entities, or also the whole text. */
export type HitDetail = 'nothing' | 'snippet' | 'text';

export interface SearchRequest extends PageRequest {
  /** Key of the tenant's term codes. */
  readonly index_key: string;
  /** Distinguishes stores in one process. */
  readonly store: string;
  readonly query: string;
  readonly min_score: number;
  readonly min_confidence?: number | undefined;
  readonly scope_id?: string | undefined;
  readonly detail: HitDetail;
  /** Adds what comes nearest in meaning, so that there is an answer wherever there is anything. */
  readonly with_guesses: boolean;
  /** Present if there is an embedder. */
  readonly vector?: QuestionVector | undefined;
}

export interface SearchHit extends Snippet {
  readonly doc: DocRow;
  readonly why: ShownResult;
  /** Ids of repetitions. */
  readonly same_as: readonly string[];
  readonly related: readonly RelatedEntity[];
  /** Only with the detail `text`. */
  readonly text: string | undefined;
}

export interface SearchAnswer {
  readonly hits: SearchHit[];
  /** Null at the end. */
  readonly next: PagePosition | null;
  readonly total: number | null;
}

/** Documents per ranked batch, besides the turns around them. */
const BATCH = 300;
/** Candidates built between two cooperative yields. */
const CANDIDATES_PER_YIELD = 64;

/** A query that yields after each read: processing the rows takes a while, and several reads may return at once. */
function yieldingQuery(query: Query): Query {
  const maybeYield = cooperativeYield();
  return queryBy(query.tenant, async (one) => {
    const rows = await query.all(one);
    await maybeYield();
    return rows;
  });
}

export async function run(reader: Query, input: unknown): Promise<SearchAnswer> {
  const query = yieldingQuery(reader);
  const { scope_id, ...given } = input as SearchRequest;
  const { after } = given;
  const [state, generation] = await Promise.all([indexState(query), generationOf(query)]);
  const scopes = scope_id === undefined ? undefined : await scopeRanges(query, scope_id);
  const request: SearchRequest = { ...given, scopes };
  const terms = await openTermIndex(query, `${request.store} ${generation}`, state, measureDocs);
  const question = readQuestion(request.query, request.now);
  const mark = { store: request.store, generation };
  const search: Search = {
    query,
    request,
    question,
    index: smallIndex(query, request, terms) ?? storedIndex(query, request, mark, terms),
    mark,
    up_to: Math.min(state.last, after?.up_to ?? state.last),
    docs: after?.docs ?? terms.docs,
  };
  const ranking = request.query.trim() === '' ? newestFirst(search) : bestFirst(search);
  const { page, next, total } = await pageOf(query, request, ranking);
  return {
    hits: await hitsOf(query, request, page, new Set(question.terms)),
    next: next && { ...next, up_to: search.up_to, docs: search.docs },
    total: after === undefined ? total : null,
  };
}

/** Constant during one search. */
interface Search {
  readonly query: Query;
  readonly request: SearchRequest;
  readonly question: Question;
  readonly index: SearchedIndex;
  readonly mark: StoreMark;
  /** The newest document that counts. */
  readonly up_to: number;
  /** The number of documents of the tenant. */
  readonly docs: number;
}

async function* newestFirst({ request, index, up_to }: Search): AsyncGenerator<RankedBatch> {
  if (request.min_score > 0) return;
  for (let before = up_to + 1, over = false; !over; ) {
    const doc_nos = await index.newest(before - 1, BATCH);
    over = doc_nos.length < BATCH;
    before = doc_nos.at(-1) ?? 0;
    const results = doc_nos.map((doc_no) => ({ doc_no, score: 0, matched: [], nearby: [], boosts: [] }));
    yield {
      number: 0,
      results,
      confidenceOf: () => 0,
      ceiling: 0,
      df: [],
      read: [],
      ends: [],
      rest: over ? 'none' : 'more',
    };
  }
}

async function* bestFirst(search: Search): AsyncGenerator<RankedBatch> {
  const { query, request, question, index, up_to, docs } = search;
  const { trajectory_id, vector, after } = request;
  const range = trajectory_id === undefined ? { from: 0, to: up_to } : await rangeOf(query, trajectory_id, up_to);
  if (!range || !(await mayHaveAny(query, request))) return;
  const codes = question.terms.map((term) => termCode(request.index_key, term));
  const found = await findCandidates(index, codes, range, after);
  // A ranking whose first page went by terms alone continues that way.
  const isFused = vector !== undefined && (!after || after.measures !== undefined);
  let measures = after?.measures;
  let links = after?.links;
  const ends: BatchEnd[] = [];
  const listed = new Set<number>();
  const likeness = new LikenessRanking(search);
  const near = isFused ? await nearestDocs(query, { ...request, docs }, vector, range) : undefined;
  const guesses = request.with_guesses ? await likeness.guesses(range, near?.doc_nos) : [];
  let ceiling = Number.MAX_VALUE;
  let judgement: Judgement | undefined;
  for (let number = 0, rest: RankedBatch['rest'] = 'more'; rest === 'more'; number++) {
    const batch = await found.next(BATCH, after?.ends[number]);
    if (batch?.end) ends.push(batch.end);
    const doc_nos = [...new Set([...(batch?.doc_nos ?? []), ...(number === 0 ? guesses : [])])];
    const candidates = doc_nos.length > 0 ? await candidatesOf(search, codes, doc_nos, listed) : [];
    const withGuesses = number === 0 ? asGuesses(candidates, guesses) : candidates;
    for (const { doc_no, context_only } of candidates) if (!context_only) listed.add(doc_no);
    const byTerms = rank(question, withGuesses, { docs, df: found.df });
    const isCompared = number === 0 && !near;
    const compared = isCompared ? await likeness.rerank(byTerms) : byTerms;
    const replied = withReplies(question, compared);
    if (isCompared) links ??= likeness.links(replied);
    const ranked = isCompared && links ? likeness.follow(replied, links) : replied;
    let results: readonly Result[] = ranked;
    let complete = found.isComplete();
    if (near && number === 0) {
      const fused = await withNearest(query, vector!, near.doc_nos, { results, measures });
      measures = fused.measures;
      results = fused.results;
      for (const { doc_no } of results) listed.add(doc_no);
      complete &&= near.complete;
    }
    const byNumber = new Map(ranked.map((one) => [one.doc_no, one]));
    const evidenceOf = ({ doc_no, score }: Result): JudgedResult => {
      const { covered = 0, likeness: near, candidate, linked = 0 } = byNumber.get(doc_no) ?? {};
      return { doc_no, score: score - linked, covered, likeness: near, length: candidate?.length ?? 0 };
    };
    if (number === 0 && request.with_guesses) {
      const newer = await newerFirst(query, request.tenant, results);
      results = newer.results;
      const long_texts = await oddsOfLongTexts(query, request, question, results.slice(0, LONG_TEXTS).map(evidenceOf));
      judgement = { standard: standardOf(results, question), long_texts, replaced: newer.replaced };
    }
    judgement ??= { standard: standardOf(results, question), long_texts: new Map(), replaced: new Set() };
    const judged = judgement;
    const confidence = (result: Result) => confidenceOf(evidenceOf(result), judged);
    const { min_score, min_confidence = 0 } = request;
    const shown = results.filter(
      (one) => one.score >= min_score && (min_confidence === 0 || confidence(one) >= min_confidence),
    );
    rest = found.hasMore() ? 'more' : complete ? 'none' : 'unknown';
    const { df, read } = found;
    const state = { df, read, measures, links, ends: [...ends] };
    yield { ...state, number, results: shown, confidenceOf: confidence, ceiling, rest };
    ceiling = Math.min(ceiling, shown.at(-1)?.score ?? ceiling);
  }
}

function asGuesses(candidates: readonly Candidate[], guesses: readonly number[]): readonly Candidate[] {
  if (guesses.length === 0) return candidates;
  const guessed = new Set(guesses);
  return candidates.map((one) => (guessed.has(one.doc_no) && !one.context_only ? { ...one, is_guess: true } : one));
}

/** The documents and the turns around them; those of earlier batches serve as context only. */
async function candidatesOf(
  { request, question, index, up_to }: Search,
  codes: readonly number[],
  doc_nos: readonly number[],
  listed: ReadonlySet<number>,
): Promise<Candidate[]> {
  const isNew = (doc_no: number) => !listed.has(doc_no);
  const found = await index.features(listed.size === 0 ? doc_nos : doc_nos.filter(isNew));
  const { matching, context } = await index.neighbours(found);
  const inRange = (doc_no: number) => doc_no <= up_to;
  const around = await index.features(matching.filter((one) => inRange(one) && isNew(one)));
  const known = matching.filter((one) => !isNew(one));
  const contextOnly = await index.features([...context.filter(inRange), ...known]);
  const hasRelated = question.related.some((terms) => terms.length > 0);
  const none = codes.map(() => 0);
  const related = question.related.map((terms) => terms.map((term) => termCode(request.index_key, term)));
  const all = [...found, ...around, ...contextOnly];
  const doc_numbers = all.map(({ doc_no }) => doc_no);
  const frequencies = await index.terms.frequencies(doc_numbers, codes);
  const relatedCodes = hasRelated ? related.flat() : [];
  const relatedFrequencies = await index.terms.frequencies(doc_numbers, relatedCodes);
  const relatedTf = (at: number) => {
    if (!hasRelated) return none;
    let next = 0;
    return related.map((others) => others.reduce((sum) => sum + relatedFrequencies[at]![next++]!, 0));
  };
  const maybeYield = cooperativeYield();
  const candidates: Candidate[] = [];
  for (const [at, one] of all.entries()) {
    candidates.push(candidateOf(one, frequencies[at]!, relatedTf(at), at >= found.length + around.length));
    if (candidates.length % CANDIDATES_PER_YIELD === 0) await maybeYield();
  }
  await maybeYield();
  return candidates;
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

async function hitsOf(
  query: Query,
  request: SearchRequest,
  page: readonly ShownResult[],
  terms: ReadonlySet<string>,
): Promise<SearchHit[]> {
  const doc_nos = page.flatMap(({ doc_no, repeats }) => [doc_no, ...repeats]);
  const found = await readDocs(query, request, doc_nos);
  const sameAs = ({ repeats }: ShownResult) => repeats.flatMap((doc_no) => found.get(doc_no)?.entity_id ?? []);
  if (request.detail === 'nothing') {
    const none = { snippet: '', highlights: [], related: [], text: undefined };
    return page.flatMap((why) => {
      const doc = found.get(why.doc_no);
      return doc ? [{ doc, why, same_as: sameAs(why), ...none }] : [];
    });
  }
  const docsOf = (some: readonly number[]) => some.flatMap((doc_no) => found.get(doc_no) ?? []);
  const docs = docsOf(page.map(({ doc_no }) => doc_no));
  const [rows, texts, related] = await Promise.all([
    inOpenScopes(query, docs),
    contentTexts(query, docs),
    relatedTo(query, request, docs.concat(docsOf(page.flatMap(repeatsWithEdges)))),
  ]);
  const byNumber = new Map(rows.map((row) => [row.doc_no, row]));
  const maybeYield = cooperativeYield();
  const hits: SearchHit[] = [];
  for (const why of page) {
    const doc = byNumber.get(why.doc_no);
    const content = doc && texts.get(contentKey(doc));
    if (!doc || !content) continue;
    // Words of the question may occur only in calls or in the name.
    const { snippet, highlights } = await snippetAmong(
      [content.text, content.calls, doc.name ?? ''],
      terms,
      maybeYield,
    );
    const text = request.detail === 'text' ? content.text : undefined;
    const same_as = sameAs(why);
    const edges = [doc.doc_no, ...repeatsWithEdges(why)].flatMap((doc_no) => related.get(doc_no) ?? []);
    hits.push({ doc, why, same_as, snippet, highlights, related: distinct(edges, [doc.entity_id, ...same_as]), text });
    await maybeYield();
  }
  return hits;
}

/** The edges of repetitions count for the result; they are read for at most ten. */
const repeatsWithEdges = ({ repeats }: ShownResult): readonly number[] => repeats.slice(0, 10);

/** Without duplicates and without edges among repetitions. */
function distinct(edges: readonly RelatedEntity[], repetitions: readonly string[]): RelatedEntity[] {
  const once = new Map(edges.map((edge) => [`${edge.edge_type} ${edge.direction} ${edge.id}`, edge]));
  return [...once.values()].filter(({ id }) => !repetitions.includes(id)).slice(0, MAX_RELATED);
}
