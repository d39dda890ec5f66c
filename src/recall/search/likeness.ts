/** The part of a search that word vectors play: guesses that lack the terms of the question, and the order of the best. */
import type { Query } from '../../driver/index.js';
import { type Range, type StoreMark, termCode } from '../../index/sql.js';
import { nearestWords, stem, wordsOf } from '../../text/index.js';
import { QuestionMeaning } from '../ranking/meaning.js';
import type { Question } from '../ranking/question.js';
import { byScore, type Ranked } from '../ranking/ranking.js';
import { type Link, linksOf, type NameCodes, withLinks } from '../ranking/second-hop.js';
import type { DocQuery } from './conditions.js';
import { allMeanings, type Meanings, meaningsOf, type ReadText } from './meanings.js';
import type { SearchedIndex } from './searched-index.js';

/** The best results by terms that are compared by meaning as well. */
const COMPARED = 100;
/** Guesses that are ranked. */
const GUESSES = 40;
/** The newest documents that are looked through for guesses; in a larger store, those with words of like meaning too. */
const LOOKED_THROUGH = 1000;
/** Words of like meaning per term, and in all. */
const WORDS_PER_TERM = 3;
const MAX_WORDS = 12;
/** The newest documents with each such word. */
const DOCS_PER_WORD = 100;
const MAX_BY_WORDS = 300;

interface LikenessSearch {
  readonly query: Query;
  readonly request: DocQuery & { readonly index_key: string };
  readonly question: Question;
  readonly index: SearchedIndex;
  readonly mark: StoreMark;
  /** The newest document that counts. */
  readonly up_to: number;
  /** The number of documents of the tenant. */
  readonly docs: number;
}

export class LikenessRanking {
  readonly #search: LikenessSearch;
  readonly #question: QuestionMeaning;
  #compared: ReadonlyMap<number, ReadText> = new Map();

  constructor(search: LikenessSearch) {
    this.#search = search;
    this.#question = new QuestionMeaning(search.question);
  }

  /**
   * Documents that may answer though they lack the terms: the nearest by an embedder, if there is one; then, as some may
   * not have its vectors yet, the nearest by words.
   */
  async guesses(range: Range, embedded: readonly number[] = []): Promise<number[]> {
    const nearest = embedded.slice(0, GUESSES);
    if (nearest.length === GUESSES) return nearest;
    return [...new Set([...nearest, ...(await this.#nearestByWords(range))])].slice(0, GUESSES);
  }

  /** Nearest first; the newest if the question has no known word. */
  async #nearestByWords(range: Range): Promise<number[]> {
    const { query, mark, index, docs, request } = this.#search;
    const recent = await index.newest(range.to, LOOKED_THROUGH);
    if (this.#question.isEmpty) return recent.slice(0, GUESSES);
    const others = docs > LOOKED_THROUGH ? await this.#withLikeWords(range) : [];
    const all = others.length > 0 ? [...new Set([...recent, ...others])] : recent;
    const nearest = this.#nearestOf(
      await allMeanings({ query, mark, index: index.terms, index_key: request.index_key }, all),
    );
    return nearest.length > 0 ? nearest : recent.slice(0, GUESSES);
  }

  #nearestOf({ doc_nos, texts, center }: Meanings): number[] {
    this.#question.center = center;
    const near = new Float64Array(texts.length);
    const greatest = new Greatest(GUESSES);
    for (let i = 0; i < near.length; i++) greatest.add((near[i] = this.#question.whole(texts[i]!)));
    const best: { doc_no: number; near: number }[] = [];
    for (let i = 0; i < near.length; i++)
      if (near[i]! >= greatest.least) best.push({ doc_no: doc_nos[i]!, near: near[i]! });
    best.sort((a, b) => b.near - a.near || b.doc_no - a.doc_no);
    return best.slice(0, GUESSES).map(({ doc_no }) => doc_no);
  }

  /** Documents with words whose meaning is like that of a term. */
  async #withLikeWords(range: Range): Promise<number[]> {
    const { request, question, index } = this.#search;
    const known = new Set(question.terms);
    const codes = new Set<number>();
    for (const word of question.asked) {
      const like = nearestWords(word).map(stem);
      for (const term of like.filter((one) => !known.has(one)).slice(0, WORDS_PER_TERM))
        if (codes.size < MAX_WORDS) codes.add(termCode(request.index_key, term));
    }
    const counts = new Map<number, number>();
    for (const code of codes)
      for (const doc_no of await index.terms.postings(code, range, DOCS_PER_WORD))
        counts.set(doc_no, (counts.get(doc_no) ?? 0) + 1);
    const best = [...counts].sort(([a, x], [b, y]) => y - x || b - a).slice(0, MAX_BY_WORDS);
    return index.matchingAmong(best.map(([doc_no]) => doc_no));
  }

  /** Ranks the best results by terms and all guesses anew. */
  async rerank(ranked: readonly Ranked[]): Promise<Ranked[]> {
    const isCompared = ({ candidate }: Ranked, at: number) => at < COMPARED || candidate.is_guess === true;
    const { query, mark, index, request } = this.#search;
    const doc_nos = ranked.filter(isCompared).map(({ doc_no }) => doc_no);
    this.#compared = await meaningsOf({ query, mark, index: index.terms, index_key: request.index_key }, doc_nos);
    return ranked
      .map((one) => {
        const text = this.#compared.get(one.doc_no);
        if (!text) return one;
        const age = 1 - one.doc_no / Math.max(1, this.#search.up_to);
        return one.withLikeness(this.#question.likeness(text.meaning, age));
      })
      .sort(byScore);
  }
  /** Names that lead from the best of the compared results to others. */
  links(ranked: readonly Ranked[]): Link[] {
    const { request, question } = this.#search;
    const speakers = new Set(ranked.map(({ candidate }) => candidate.speaker ?? ''));
    const terms = [...question.terms, ...[...speakers].flatMap((speaker) => wordsOf(speaker).map(stem))];
    return linksOf(ranked, this.#namesOf, new Set(terms.map((term) => termCode(request.index_key, term))));
  }

  /** Ranks the compared results anew by such names. */
  follow(ranked: readonly Ranked[], links: readonly Link[]): readonly Ranked[] {
    return withLinks(ranked, this.#namesOf, links);
  }

  readonly #namesOf = ({ doc_no }: Ranked): NameCodes | undefined => this.#compared.get(doc_no)?.names;
}

/** The greatest of many numbers: sorting all of them would take several times as long as computing them. */
class Greatest {
  readonly #sorted: Float64Array;

  constructor(count: number) {
    this.#sorted = new Float64Array(count).fill(Number.NEGATIVE_INFINITY);
  }

  /** The least of them; no number is below while there are fewer. */
  get least(): number {
    return this.#sorted[0]!;
  }

  add(value: number): void {
    const sorted = this.#sorted;
    if (!(value > sorted[0]!)) return;
    let at = 0;
    for (; at + 1 < sorted.length && sorted[at + 1]! < value; at++) sorted[at] = sorted[at + 1]!;
    sorted[at] = value;
  }
}
