/**
 * A search, from the question to what is shown. It runs beside the event loop where the database would block it
 * (`driver.away`): so it gets and gives plain values.
 */
import { type Query, queryBy } from '../../driver/index.js';
import { extentOf, type Features, frequencies, frequencyIn, marksAhead, termCode } from '../../index/sql.js';
import { givingWay } from '../../kernel/index.js';
import { type Question, readQuestion } from '../ranking/question.js';
import { type Candidate, rank } from '../ranking/ranking.js';
import { type Snippet, snippetAmong } from '../ranking/snippets.js';
import { type Likeness, withNearest } from '../vectors/nearest.js';
import { type Found as CandidatesFound, type End, findCandidates } from './candidates.js';
import { contentKey, saidOf } from './contents.js';
import { mayHaveAny } from './lead.js';
import { type AskedPage, type Place, pageOf, type Result, type Shown, type Stretch } from './pages.js';
import { MAX_RELATED, type RelatedEntity, relatedTo } from './related.js';
import { type DocRow, readDocs } from './rows.js';
import { inOpenScopes, scopesShown } from './scopes.js';
import { type SearchedIndex, storedIndex } from './searched-index.js';
import { mayBeSmall, smallIndex } from './small-index.js';
import { rangeOf } from './trajectory-range.js';
import { newest } from './wanted-docs.js';

/** What is told of a hit beside what it is: nothing, or a snippet and what is related to it, or also the whole text. */
export type Shows = 'nothing' | 'snippet' | 'text';

export interface SearchRequest extends AskedPage {
  /** What the codes of the tenant's words are made by. */
  readonly index_key: string;
  /** Tells stores in one process apart. */
  readonly store: string;
  /** Whether documents are committed in the order of their numbers. */
  readonly in_order: boolean;
  readonly query: string;
  readonly min_score: number;
  readonly scope_id?: string | undefined;
  readonly shows: Shows;
  /** The question's vector, where there is an embedder. */
  readonly likeness?: Likeness | undefined;
}

export interface SearchHit extends Snippet {
  readonly doc: DocRow;
  readonly why: Result;
  /** Ids of those that say the same. */
  readonly same_as: readonly string[];
  readonly related: readonly RelatedEntity[];
  /** Only where it was wanted. */
  readonly text: string | undefined;
}

export interface SearchAnswer {
  readonly hits: SearchHit[];
  /** Where the next page begins; null at the end. */
  readonly next: Place | null;
  readonly total: number | null;
}

/** So many are ranked at once, with the turns around them; a page further behind has the next ones. */
const ENOUGH = 300;
/** Of so many candidates it is looked whether others are to have their turn. */
const MANY = 64;

/** A query that yields after each read: processing the rows takes a while, and several reads may return at once. */
function yieldingQuery(query: Query): Query {
  const giveWay = givingWay();
  return queryBy(query.tenant, async (one) => {
    const rows = await query.all(one);
    await giveWay();
    return rows;
  });
}

export async function run(reader: Query, input: unknown): Promise<SearchAnswer> {
  const query = yieldingQuery(reader);
  const { scope_id, ...given } = input as SearchRequest;
  const { place } = given;
  const [extent, marks] = await Promise.all([
    extentOf(query),
    mayBeSmall(given) ? marksAhead(query, given) : undefined,
  ]);
  const scopes = scope_id === undefined ? undefined : await scopesShown(query, scope_id);
  const request: SearchRequest = { ...given, scopes };
  const mark = { store: request.store, generation: extent.generation };
  const small = await smallIndex(query, request, request, extent, marks);
  const question = readQuestion(request.query, request.now);
  const search: Search = {
    query,
    request,
    question,
    index: small ?? storedIndex(query, request, mark),
    up_to: Math.min(extent.last, place?.up_to ?? extent.last),
    docs: place?.docs ?? extent.docs,
  };
  const ranking = request.query.trim() === '' ? newestFirst(search) : bestFirst(search);
  const { page, next, total } = await pageOf(query, request, ranking);
  return {
    hits: await show(query, request, page, new Set(question.terms)),
    next: next && { ...next, up_to: search.up_to, docs: search.docs },
    total: place === undefined ? total : null,
  };
}

/** What does not change while one question is answered. */
interface Search {
  readonly query: Query;
  readonly request: SearchRequest;
  readonly question: Question;
  readonly index: SearchedIndex;
  /** The newest document that counts. */
  readonly up_to: number;
  /** How many the tenant has. */
  readonly docs: number;
}

async function* newestFirst({ query, request, up_to }: Search): AsyncGenerator<Stretch> {
  if (request.min_score > 0) return;
  for (let before = up_to + 1, over = false; !over; ) {
    const doc_nos = await newest(query, request, before - 1, ENOUGH);
    over = doc_nos.length < ENOUGH;
    before = doc_nos.at(-1) ?? 0;
    const results = doc_nos.map((doc_no) => ({ doc_no, score: 0, matched: [], nearby: [], boosts: [] }));
    yield { number: 0, results, ceiling: 0, df: [], read: [], ends: [], rest: over ? 'none' : 'more' };
  }
}

async function* bestFirst(search: Search): AsyncGenerator<Stretch> {
  const { query, request, question, index, up_to, docs } = search;
  const { trajectory_id } = request;
  const range = trajectory_id === undefined ? { from: 0, to: up_to } : await rangeOf(query, trajectory_id, up_to);
  if (!range || !(await mayHaveAny(query, request))) return;
  const codes = question.terms.map((term) => termCode(request.index_key, term));
  const found = await findCandidates(index, codes, range, request.place);
  const { likeness, place } = request;
  // A ranking that began by terms alone goes on so.
  const isFused = likeness !== undefined && (!place || place.measures !== undefined);
  let measures = place?.measures;
  const ends: End[] = [];
  const listed = new Set<number>();
  let ceiling = Number.MAX_VALUE;
  for (let number = 0, rest: Stretch['rest'] = 'more'; rest === 'more'; number++) {
    const next = await found.next(ENOUGH, place?.ends[number]);
    if (next?.end) ends.push(next.end);
    const candidates = next ? await candidatesOf(search, found, codes, next.doc_nos, listed) : [];
    for (const { doc_no, context_only } of candidates) if (!context_only) listed.add(doc_no);
    let results: Result[] = rank(question, candidates, { docs, df: found.df });
    let complete = found.isComplete();
    if (isFused && number === 0) {
      const fused = await withNearest(query, request, docs, likeness, range, results, measures);
      measures = fused.measures;
      results = fused.results;
      for (const { doc_no } of results) listed.add(doc_no);
      complete &&= fused.complete;
    }
    const shown = results.filter(({ score }) => score >= request.min_score);
    rest = found.mayGoOn() ? 'more' : complete ? 'none' : 'unknown';
    const { df, read } = found;
    yield { number, results: shown, ceiling, df, read, measures, ends: [...ends], rest };
    ceiling = Math.min(ceiling, shown.at(-1)?.score ?? ceiling);
  }
}

/** These and the turns around them; those that were ranked before are context alone. */
async function candidatesOf(
  { request, question, index, up_to }: Search,
  { mayHave }: CandidatesFound,
  codes: readonly string[],
  doc_nos: readonly number[],
  listed: ReadonlySet<number>,
): Promise<Candidate[]> {
  const isNew = (doc_no: number) => !listed.has(doc_no);
  const found = await index.features(listed.size === 0 ? doc_nos : doc_nos.filter(isNew));
  const { wanted, context } = await index.neighbours(found);
  const inRange = (doc_no: number) => doc_no <= up_to;
  const around = await index.features(wanted.filter((one) => inRange(one) && isNew(one)));
  const known = wanted.filter((one) => !isNew(one));
  const beside = await index.features([...context.filter(inRange), ...known]);
  const hasKin = question.related.some((terms) => terms.length > 0);
  const none = codes.map(() => 0);
  const related = question.related.map((terms) => terms.map((term) => termCode(request.index_key, term)));
  const kinOf = (one: Features) =>
    hasKin ? related.map((kin) => kin.reduce((sum, code) => sum + frequencyIn(one.terms, code), 0)) : none;
  const tfOf = (one: Features) => frequencies(one, codes, mayHave(one.doc_no), none);
  const giveWay = givingWay();
  const candidates: Candidate[] = [];
  for (const some of [found, around, beside])
    for (const one of some) {
      candidates.push(candidateOf(one, tfOf(one), kinOf(one), some === beside));
      if (candidates.length % MANY === 0) await giveWay();
    }
  await giveWay();
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

async function show(
  query: Query,
  request: SearchRequest,
  page: readonly Shown[],
  terms: ReadonlySet<string>,
): Promise<SearchHit[]> {
  const found = await readDocs(
    query,
    request,
    page.flatMap(({ doc_no, repeats }) => [doc_no, ...repeats]),
  );
  const sameAs = ({ repeats }: Shown) => repeats.flatMap((doc_no) => found.get(doc_no)?.entity_id ?? []);
  if (request.shows === 'nothing')
    return page.flatMap((why) => {
      const doc = found.get(why.doc_no);
      return doc ? [{ doc, why, same_as: sameAs(why), ...NOTHING }] : [];
    });
  const docsOf = (doc_nos: readonly number[]) => doc_nos.flatMap((doc_no) => found.get(doc_no) ?? []);
  const docs = docsOf(page.map(({ doc_no }) => doc_no));
  const [rows, said, related] = await Promise.all([
    inOpenScopes(query, docs),
    saidOf(query, docs),
    relatedTo(query, request, docs.concat(docsOf(page.flatMap(repeatsAskedAbout)))),
  ]);
  const byNumber = new Map(rows.map((row) => [row.doc_no, row]));
  const giveWay = givingWay();
  const hits: SearchHit[] = [];
  for (const why of page) {
    const doc = byNumber.get(why.doc_no);
    const one = doc && said.get(contentKey(doc));
    if (!doc || !one) continue;
    // Some words may stand in what it calls, or in its name, alone.
    const texts = [one.text, one.beside, doc.name ?? ''];
    const { snippet, highlights } = await snippetAmong(texts, terms, giveWay);
    const text = request.shows === 'text' ? one.text : undefined;
    const same_as = sameAs(why);
    const ties = [doc.doc_no, ...repeatsAskedAbout(why)].flatMap((doc_no) => related.get(doc_no) ?? []);
    hits.push({ doc, why, same_as, snippet, highlights, related: tiesOnce(ties, same_as), text });
    await giveWay();
  }
  return hits;
}

/** What contradicts something contradicts whatever says the same; of so many of these it is asked. */
const repeatsAskedAbout = ({ repeats }: Shown): readonly number[] => repeats.slice(0, 10);

/** Several that say the same may be tied to the same, and to each other. */
function tiesOnce(ties: readonly RelatedEntity[], same_as: readonly string[]): RelatedEntity[] {
  const once = new Map(ties.map((tie) => [`${tie.edge_type} ${tie.direction} ${tie.id}`, tie]));
  return [...once.values()].filter(({ id }) => !same_as.includes(id)).slice(0, MAX_RELATED);
}

const NOTHING = { snippet: '', highlights: [], related: [], text: undefined };
