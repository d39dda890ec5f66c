/** The confidence of the results of a ranking: by their own text, or by the best sentence of a long one. */
import type { Query } from '../../driver/index.js';
import { LONG_TEXT, oddsOfBestSentence } from '../ranking/best-sentence.js';
import { type Evidence, oddsOf, probabilityOf, type Standard } from '../ranking/confidence.js';
import type { Question } from '../ranking/question.js';
import type { DocQuery } from './conditions.js';
import { contentKey, textsOf } from './contents.js';
import { readDocs } from './rows.js';

/** The best results whose texts are read if they are long. */
export const LONG_TEXTS = 5;

export interface JudgedResult extends Evidence {
  readonly doc_no: number;
  /** In terms. */
  readonly length: number;
}

/** Log odds by number, of the long texts among the best results. */
export async function oddsOfLongTexts(
  query: Query,
  request: DocQuery,
  question: Question,
  results: readonly Pick<JudgedResult, 'doc_no' | 'length'>[],
): Promise<ReadonlyMap<number, number>> {
  const long = results.filter(({ length }) => length > LONG_TEXT);
  if (long.length === 0) return new Map();
  const docs = await readDocs(
    query,
    request,
    long.map(({ doc_no }) => doc_no),
  );
  const texts = await textsOf(query, [...docs.values()]);
  const odds = new Map<number, number>();
  for (const doc of docs.values()) {
    const text = texts.get(contentKey(doc));
    const found = text === undefined ? undefined : await oddsOfBestSentence(question, text);
    if (found !== undefined) odds.set(doc.doc_no, found);
  }
  return odds;
}

/** What the results of one ranking are judged by. */
export interface Judgement {
  readonly standard: Standard;
  readonly long_texts: ReadonlyMap<number, number>;
  /** Numbers of statements that another result replaced. */
  readonly replaced: ReadonlySet<number>;
}

/** From 0 to 1. */
export function confidenceOf(result: JudgedResult, { standard, long_texts, replaced }: Judgement): number {
  const own = long_texts.get(result.doc_no) ?? oddsOf(result, standard);
  return probabilityOf(own, result.score, standard, replaced.has(result.doc_no));
}
