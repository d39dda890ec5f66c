/** A long text is about much, and answers by one sentence: it is judged as a store of its sentences would be. */
import { cooperativeYield } from '../../kernel/index.js';
import { contentWords, type Meaning, meaningOfWords, stem, unitsOf, wordsOf } from '../../text/index.js';
import { oddsOf, standardOf } from './confidence.js';
import { centerOf, QuestionMeaning } from './meaning.js';
import type { Question } from './question.js';
import { byScore, type Candidate, rank } from './ranking.js';

/** Terms of a text from which it is judged by its sentences. */
export const LONG_TEXT = 60;
const LEAST_SENTENCES = 4;
/** Further sentences are ignored. */
const MAX_SENTENCES = 400;

interface Sentence {
  readonly meaning: Meaning;
  readonly candidate: Candidate;
}

async function sentencesFor(question: Question, text: string): Promise<Sentence[]> {
  const maybeYield = cooperativeYield();
  const found: Sentence[] = [];
  for (const { kind, text: sentence } of unitsOf(text)) {
    if (kind === 'heading') continue;
    if (found.length === MAX_SENTENCES) break;
    const words = contentWords(wordsOf(sentence));
    const tf = question.terms.map(() => 0);
    for (const word of words) {
      const at = question.terms.indexOf(stem(word));
      if (at >= 0) tf[at]!++;
    }
    const none = { scope_id: null, position: null, role: null, speaker: null, occurred_at: null };
    const doc_no = found.length;
    const candidate = { ...none, doc_no, length: words.length, flags: 0, tf, is_guess: true };
    found.push({ meaning: meaningOfWords(words), candidate });
    await maybeYield();
  }
  return found;
}

/** The log odds that its best sentence answers; undefined for a text of few sentences. */
export async function oddsOfBestSentence(question: Question, text: string): Promise<number | undefined> {
  const sentences = await sentencesFor(question, text);
  if (sentences.length < LEAST_SENTENCES) return undefined;
  const candidates = sentences.map(({ candidate }) => candidate);
  const df = question.terms.map((_, at) => candidates.filter(({ tf }) => tf[at]! > 0).length);
  const byTerms = rank(question, candidates, { docs: candidates.length, df });
  const meaning = new QuestionMeaning(question);
  meaning.center = centerOf(sentences.map((one) => one.meaning));
  const ranked = byTerms
    .map((one) => one.withLikeness(meaning.likeness(sentences[one.doc_no]!.meaning, 0)))
    .sort(byScore);
  const standard = standardOf(ranked, question);
  return oddsOf(ranked[0]!, standard);
}
