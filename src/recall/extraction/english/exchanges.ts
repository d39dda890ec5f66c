/** Extraction rules: what two speakers state together, an answer with its question or a proposal with an agreement. */
import { unitsOf } from '../../../text/index.js';
import { askedIn, completed } from '../../summaries/reading/answers.js';
import { carriedTerms } from '../../summaries/reading/carried-terms.js';
import { asSpoken, isClause, putsOff } from '../../summaries/reading/fragments.js';
import { decidedOf, decisionOf } from '../../summaries/reading/proposals.js';
import {
  earnestness,
  isCourtesy,
  isErrand,
  isQuestion,
  proposes,
  serves,
  withoutProposing,
  withoutTalk,
} from '../../summaries/reading/speech-acts.js';
import { isExtractable, roleOf, type TextSource } from '../../summaries/sources.js';
import type { ExtractedFact } from '../extractor.js';
import { type FactDraft, keyOf, noteOf, sentenceOf, type Voice } from './drafts.js';
import { mainClauses } from './sentences.js';
import { isNegated } from './statements.js';

const MAX_SENTENCES = 200;
const MAX_PROPOSAL = 280;
const MAX_ANSWER = 16;
/** Sentences of a turn that proposes something. */
const MAX_PROPOSED = 8;
/** Words that point at what only the speakers see. */
const POINTS = /\b(?:this|that|these|those|it|here|there|both|same|one)\b/i;

/** A fact without its title. */
type ExchangedFact = FactDraft & Pick<ExtractedFact, 'source_ids'>;

interface Sentences {
  readonly source: TextSource;
  readonly texts: readonly string[];
}

export const sentencesIn = (source: TextSource): Sentences => {
  const texts: string[] = [];
  for (const { kind, text } of unitsOf(asSpoken(source.text))) {
    if (texts.length >= MAX_SENTENCES) break;
    if (kind === 'sentence') texts.push(text.replace(/\s+/g, ' ').trim());
  }
  return { source, texts };
};

/** The facts of a turn of a person and the turn of an assistant before it. */
export function exchangedFacts(before: Sentences, reply: Sentences, voice: Voice): ExchangedFact[] {
  if (roleOf(before.source) !== 'assistant' || !isExtractable(before.source) || !voice.person) return [];
  if (reply.texts.length === 0) return [];
  const question = askedIn(before.texts.filter(isQuestion));
  const found = question === undefined ? [] : answered(question, reply.texts, voice);
  const facts = [...found, ...agreed(before.texts, reply.texts[0]!)];
  return facts.map((fact) => ({ ...fact, source_ids: [reply.source.id, before.source.id] }));
}

/** "Which languages should the site support?" – "English, German.", "Shall I deploy to Frankfurt?" – "ok do that". */
function answered(question: string, texts: readonly string[], voice: Voice): FactDraft[] {
  const decision = decisionOf(question, texts[0]!);
  if (decision?.kind === 'decided') {
    const { text } = decision;
    const clear = keyOf(text).includes(' ') && !POINTS.test(text.replace(/ \(asked: .*/, ''));
    const draft = clear && !isErrand(text) ? decided(text) : undefined;
    return draft === undefined ? [] : [draft];
  }
  const reply = texts.find((text) => !putsOff(text));
  const found = reply === undefined ? undefined : completed(question, reply, MAX_ANSWER);
  if (reply === undefined || !found || isQuestion(reply) || isCourtesy(found.answer)) return [];
  const { subject } = found;
  // What follows in a further clause is another fact.
  const answer = withoutClauses(found.answer);
  if (earnestness(answer) < 1 || POINTS.test(answer.replace(/^(?:it|they)(?![\p{L}])/iu, ''))) return [];
  const value = answer.replace(/[.!]+$/, '');
  if (carriedTerms(value, new Set()).size === 0) return [];
  return [noteOf(voice, 'Fact', `${subject}: ${value}`, { slot: `answer:${keyOf(subject)}`, value, confidence: 0.75 })];
}

/** An answer up to the first clause that has a subject and a verb of its own. */
function withoutClauses(answer: string): string {
  const clauses = mainClauses(answer);
  const at = clauses.findIndex((clause, n) => n > 0 && isClause(clause));
  if (at < 0) return answer;
  const before = clauses.slice(0, at).join(' ').length;
  return answer
    .slice(0, answer.indexOf(clauses[at]!, Math.max(0, before - 1)))
    .replace(/[,;\s–—-]+(?:and|but|so|because)?\s*$/iu, '');
}

/** "(1) by post, (2) by hand": the reply chooses one. */
const OPTIONS = /\(?\b[1-9a-e]\)\s.*\(?\b[1-9a-e]\)\s/iu;

/** What an assistant explains. */
const ADVICE =
  /^(?:if|by|based on|given|since|for (?:example|instance)|here|to (?!use\b)|in (?:general|order)|when|while|overall|remember|as (?:a|an|you)|this|these|those)(?![\p{L}])|:$/iu;

/** "I'd suggest Mollie for the payments." – "Mollie it is." */
function agreed(proposed: readonly string[], reply: string): FactDraft[] {
  // An agreement with a lecture says not with what.
  if (proposed.length > MAX_PROPOSED) return [];
  return proposed.flatMap((text) => {
    const said = withoutTalk(text);
    if (
      !proposes(said) ||
      OPTIONS.test(said) ||
      ADVICE.test(said) ||
      /\*\*|["“”]/.test(said) ||
      isQuestion(said) ||
      serves(said) ||
      text.length > MAX_PROPOSAL
    )
      return [];
    const proposal = decidedOf(withoutProposing(said).replace(/[.!]+$/, ''), reply);
    // A decision names something.
    if (proposal === undefined || keyOf(proposal) === '' || !/[\p{Lu}\d]/u.test(proposal.slice(1))) return [];
    return [decided(proposal)];
  });
}

const decided = (text: string): FactDraft => ({
  kind: 'artifact',
  type: 'Decision',
  content: sentenceOf(`Decided: ${text}`),
  subject: 'we',
  slot: `decision:${keyOf(text)}`,
  value: text,
  negated: isNegated(text),
  confidence: 0.75,
});
