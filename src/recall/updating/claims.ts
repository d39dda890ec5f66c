/** What a remembered text claims: subjects, attributes and values, read by rules for English. */
import { plainSentence } from '../extraction/english/sentences.js';
import { claimForms } from './claim-forms.js';
import type { FoundClaim } from './found-claims.js';
import { ADDED, CHANGED, CORRECTED } from './values.js';

export interface Claim extends Omit<FoundClaim, 'more'> {
  readonly corrects: boolean;
  /** It joins others: "also". */
  readonly adds: boolean;
}

export interface Claims {
  readonly claims: readonly Claim[];
  /** Whether the text is one statement and nothing else: then it can be replaced as a whole. */
  readonly whole: boolean;
}

const NONE: Claims = { claims: [], whole: false };

/** A longer text states too much to be replaced by one statement. */
const MAX_LENGTH = 600;
const MAX_SENTENCES = 5;

const SENTENCE_END = /(?<!\b(?:Dr|Mr|Mrs|Ms|St|Prof|No|Nr|vs|approx|ca|e\.g|i\.e|p\.m|a\.m))[.!?]+["')\]]*\s+|\n+/g;

interface Sentence {
  readonly text: string;
  readonly at: number;
}

function sentencesOf(text: string): Sentence[] {
  const sentences: Sentence[] = [];
  let from = 0;
  const add = (to: number) => {
    const part = text.slice(from, to);
    const lead = part.length - part.trimStart().length;
    if (part.trim() !== '') sentences.push({ text: part.trim(), at: from + lead });
  };
  for (const { 0: end, index } of text.matchAll(SENTENCE_END)) {
    add(index + end.trimEnd().length);
    from = index + end.length;
  }
  add(text.length);
  return sentences;
}

/** Words before a statement, such as "Update:" and "As of March,". */
const LEAD =
  /^(?:(?:update|correction|news|fyi|note|heads[- ]up|btw|by the way|actually|so|ok(?:ay)?|well|also|and|but|please|(?:please )?(?:remember|note)(?: that)?|as of [^,]{3,30}|from now on|since [^,]{3,30}|starting [^,]{3,30}|from [^,]{3,30} on|in (?:[A-Z]\w+ )?\d{4}|on [A-Z]\w+ \d{1,2}|yesterday|today|last \w+|this \w+|finally|now|currently|these days|nowadays|recently|meanwhile|after [^,]{3,60})(?::|,|(?<=\b(?:also|and|but|please|remember|that|finally|currently|now|actually)))\s+)+/i;

/** Wishes, plans and conditions change nothing yet. */
const UNREAL =
  /\b(?:will|won't|shall|going to|plans?|planned to|planning|intends?|wants? to|would|could|should|might|may (?:be|have|move)|maybe|perhaps|if|unless|whether|hopes?|hoping|dreams?|wish(?:es)?|considering|considers|thinking (?:of|about)|looking for|supposed|rumou?r|apparently|allegedly|used to|once (?:lived|worked)|pretend|imagine|let's say|suppose|asked|wonders?|says?|said|claims|thinks?|believes?|told)\b/i;

function claimsInSentence({ text, at }: Sentence, speaker: string | null): { claims: Claim[]; whole: boolean } {
  const lead = LEAD.exec(text)?.[0] ?? '';
  const body = text.slice(lead.length).replace(/[‘’]/g, "'");
  if (/[?？]["')\]]*$/.test(text) || UNREAL.test(body) || !plainSentence(text)) return { claims: [], whole: false };
  const found = claimForms(body, speaker);
  const changes = CHANGED.test(text);
  const corrects = CORRECTED.test(text);
  const adds = ADDED.test(body);
  const claims = found.map(({ more: _, start, end, ...one }): Claim => {
    const offset = at + lead.length;
    const positions = { start: offset + start, end: offset + end };
    return { ...one, ...positions, changes: changes || one.changes, corrects, adds };
  });
  return { claims, whole: found.length > 0 && found.every(({ more }) => !more) };
}

/** `speaker`: whom "I" and "my" mean. */
export function claimsIn(text: string, speaker: string | null): Claims {
  if (text.length > MAX_LENGTH) return NONE;
  const sentences = sentencesOf(text);
  if (sentences.length === 0 || sentences.length > MAX_SENTENCES) return NONE;
  const each = sentences.map((sentence) => claimsInSentence(sentence, speaker));
  return { claims: each.flatMap(({ claims }) => claims), whole: each.length === 1 && each[0]!.whole };
}
