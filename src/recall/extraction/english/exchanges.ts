/** Extraction rules: what two speakers state together, an answer with its question or a proposal with an agreement. */
import { unitsOf } from '../../../text/index.js';
import { missingSubject } from '../../summaries/reading/answers.js';
import { carriedTerms } from '../../summaries/reading/carried-terms.js';
import {
  agrees,
  earnestness,
  isCourtesy,
  isQuestion,
  serves,
  suggests,
  withoutProposing,
  withoutTalk,
} from '../../summaries/reading/speech-acts.js';
import { isExtractable, roleOf, type TextSource } from '../../summaries/sources.js';
import type { ExtractedFact } from '../extractor.js';
import { type FactDraft, keyOf, noteOf, sentenceOf, type Voice } from './drafts.js';
import { isNegated } from './statements.js';

const MAX_SENTENCES = 200;
const MAX_PROPOSAL = 280;
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
  for (const { kind, text } of unitsOf(source.text)) {
    if (texts.length >= MAX_SENTENCES) break;
    if (kind === 'sentence') texts.push(text.replace(/\s+/g, ' ').trim());
  }
  return { source, texts };
};

/** The facts of a turn of a person and the turn of an assistant before it. */
export function exchangedFacts(before: Sentences, reply: Sentences, voice: Voice): ExchangedFact[] {
  if (roleOf(before.source) !== 'assistant' || !isExtractable(before.source) || !voice.person) return [];
  const answer = answered(before, reply, voice);
  return answer ? [answer] : agreed(before, reply);
}

/** "Which languages should the site support?" – "English, German." */
function answered(before: Sentences, reply: Sentences, voice: Voice): ExchangedFact | undefined {
  const question = before.texts.findLast(isQuestion);
  const said = withoutTalk(reply.texts[0] ?? '');
  if (question === undefined || said === '' || isQuestion(said) || isCourtesy(said)) return undefined;
  if (earnestness(said) < 1 || POINTS.test(said)) return undefined;
  const subject = missingSubject(question, said);
  if (subject === undefined || carriedTerms(said, new Set()).size === 0) return undefined;
  const value = said.replace(/[.!]+$/, '');
  const draft = noteOf(voice, 'Fact', `${subject}: ${value}`, {
    slot: `answer:${keyOf(subject)}`,
    value,
    confidence: 0.75,
  });
  return { ...draft, source_ids: [reply.source.id, before.source.id] };
}

/** "I'd suggest Mollie for the payments." – "Mollie it is." */
function agreed(before: Sentences, reply: Sentences): ExchangedFact[] {
  if (!agrees(reply.source.text)) return [];
  return before.texts.flatMap((text) => {
    const said = withoutTalk(text);
    if (!suggests(said) || isQuestion(said) || serves(said) || text.length > MAX_PROPOSAL) return [];
    const proposal = withoutProposing(said).replace(/[.!]+$/, '');
    if (keyOf(proposal) === '' || !/[\p{Lu}\d]/u.test(proposal.slice(1))) return [];
    return [
      {
        kind: 'artifact',
        type: 'Decision',
        content: sentenceOf(`Decided: ${proposal}`),
        subject: 'we',
        slot: `decision:${keyOf(proposal)}`,
        value: proposal,
        negated: isNegated(proposal),
        confidence: 0.75,
        source_ids: [reply.source.id, before.source.id],
      },
    ];
  });
}
