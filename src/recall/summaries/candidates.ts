/** The candidate sentences of a summary, each with its own weight. */
import type { CooperativeYield } from '../../kernel/index.js';
import { unitsOf } from '../../text/index.js';
import { type Statement, statementOf } from '../extraction/english/statements.js';
import { roleOf, type SourceRole, type TextSource } from './sources.js';

export interface Candidate {
  /** Index of its source. */
  readonly source: number;
  /** One sentence, or a question and its short answer. */
  readonly parts: readonly CandidatePart[];
  readonly statement: Statement;
  readonly weight: number;
}

export interface CandidatePart {
  readonly source: number;
  /** Index among all sentences read: summaries keep the order. */
  readonly order: number;
  readonly text: string;
}

/** Sentences read, evenly from all sources. */
const MAX_READ = 20_000;
const MIN_READ_PER_SOURCE = 2;
const MAX_LENGTH = 600;
/** Sentences with fewer stems weigh less. */
const FULL_STEMS = 5;
const SHORT_ANSWER_STEMS = 4;

const ROLE_WEIGHT: Readonly<Record<SourceRole, number>> = { user: 1, assistant: 0.9, none: 1, tool: 0.5, system: 0.3 };

/** Decisions, findings, results and open tasks. */
const OUTCOME =
  /\b(?:decid\w+|decision|agreed?|chose|chosen|conclu\w+|settled|approved|rejected|confirmed|(?:go|going|went) with|instead of|root cause|caused by|turns? out|because|fixed|solved|works now|fails?|failed|broken|error|deadline|due|must|need to|needs to|plan(?:ned)? to|will use|next step|important|remember|prefers?|always|never|released|shipped|deployed|finished|completed)\b/i;
const TALK =
  /^(?:(?:ok(?:ay)?|sure|thanks?|thank you|great|nice|cool|hi|hello|hey|yes|yeah|no|sorry|absolutely|certainly|of course|good (?:morning|question|point|idea))\b[^.!?]{0,40}[.!]?$|(?:i(?:'d| would) be happy|i hope this|let me know|feel free|how can i|is there anything|here(?:'s| is| are) (?:a|an|the|some|your)\b.*:$))/i;
/** Reactions without content of their own. */
const REACTION =
  /\b(?:(?:sounds?|looks?) (?:\w+ )?(?:great|good|awesome|amazing|fun|lovely|fantastic|interesting)|congrat\w*|wow|that's (?:\w+ )?(?:great|awesome|amazing|wonderful|nice|cool)|good luck|(?:glad|happy) to hear|you're so|proud of you|thanks for)\b/i;
const QUESTION = /[?？؟\u037e]["'”’)\]]*$/u;
const YES_OR_NO = /^(?:yes|yep|yeah|no|nope|right|correct|exactly|agreed|sure|definitely|done)\b/i;

interface Sentence extends CandidatePart {
  readonly statement: Statement;
  readonly question: boolean;
  readonly weight: number;
}

export async function candidatesOf(
  sources: readonly TextSource[],
  maybe_yield: CooperativeYield,
): Promise<Candidate[]> {
  const perSource = Math.max(MIN_READ_PER_SOURCE, Math.floor(MAX_READ / Math.max(1, sources.length)));
  const all: Candidate[] = [];
  let order = 0;
  let before: Sentence | undefined;
  for (const [at, source] of sources.entries()) {
    const first = order;
    for (const { kind, text } of unitsOf(source.text)) {
      await maybe_yield();
      if (order - first >= perSource) break;
      if ((kind !== 'sentence' && kind !== 'quote') || text.length > MAX_LENGTH) continue;
      const sentence = readSentence(text, sources, at, order, order === first);
      order += 1;
      all.push(before && answers(before, sentence, sources) ? pairOf(before, sentence) : aloneOf(sentence));
      before = sentence;
    }
  }
  return all.filter(({ weight }) => weight > 0);
}

function readSentence(
  raw: string,
  sources: readonly TextSource[],
  source: number,
  order: number,
  first: boolean,
): Sentence {
  const text = raw.replace(/\s+/g, ' ').trim();
  const statement = statementOf(text);
  const question = QUESTION.test(text);
  let weight = ROLE_WEIGHT[roleOf(sources[source]!)] * Math.min(1, statement.stems.size / FULL_STEMS);
  if (TALK.test(text)) weight = 0;
  if (REACTION.test(text)) weight *= 0.5;
  if (OUTCOME.test(text)) weight *= 1.4;
  if (statement.numbers !== '') weight *= 1.1;
  if (question) weight *= 0.6;
  // "For example:" introduces text that the summary leaves out.
  if (/[:：]$/.test(text)) weight *= 0.4;
  if (first) weight *= 1.15;
  weight *= placeWeight(source, sources.length);
  return { source, order, text, statement, question, weight };
}

/** A conversation begins with the request and ends with the result. */
function placeWeight(source: number, sources: number): number {
  if (sources < 5) return 1;
  const place = source / (sources - 1);
  if (place >= 0.9) return 1.2;
  return place <= 0.1 ? 1.1 : 1;
}

const speakerOf = (source: TextSource): string => source.speaker ?? roleOf(source);

/** Whether a sentence is a short answer, which says nothing without the question that another speaker asked just before. */
function answers(
  before: Sentence,
  { source, text, statement, question }: Sentence,
  sources: readonly TextSource[],
): boolean {
  if (!before.question || question || source !== before.source + 1) return false;
  if (statement.stems.size > SHORT_ANSWER_STEMS) return false;
  if (statement.stems.size === 0 && !YES_OR_NO.test(text)) return false;
  return speakerOf(sources[before.source]!) !== speakerOf(sources[source]!);
}

const partOf = ({ source, order, text }: Sentence): CandidatePart => ({ source, order, text });

function aloneOf(sentence: Sentence): Candidate {
  const { source, statement, weight } = sentence;
  return { source, parts: [partOf(sentence)], statement, weight };
}

function pairOf(question: Sentence, answer: Sentence): Candidate {
  const statement = statementOf(`${question.text} ${answer.text}`);
  // Undoes the lower weight of an open question.
  const weight = Math.max(question.weight / 0.6, answer.weight) * 1.1;
  return { source: answer.source, parts: [partOf(question), partOf(answer)], statement, weight };
}
