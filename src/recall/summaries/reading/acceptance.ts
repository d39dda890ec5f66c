/** What a reply does with a proposal: it agrees, refuses, or names what it chooses. */
import { stem, stopWords, wordsOf } from '../../../text/index.js';
import { agrees, earnestness, isQuestion, refuses, withoutTalk } from './speech-acts.js';

type Acceptance =
  | { readonly kind: 'agreed' }
  | { readonly kind: 'refused' }
  /** "Yes, but only after June": what is agreed with under a condition. */
  | { readonly kind: 'reserved'; readonly but: string }
  /** "Mollie it is": `open`, if what is named need not be one of several. */
  | { readonly kind: 'chosen'; readonly choice: string; readonly open: boolean };

/** "X it is", "let's go with X". */
const IT_IS =
  /^(?!(?:i|we|you|he|she|they)\b)(?!.*\b(?:what|how|where|who|when|as|like|that|whatever|if|because|think|guess|so) )(.{1,60}?) it is(?:,? then)?(?=[\s]*(?:[.,!;:—–-]|$))/i;
const GO_WITH =
  /^(?:then )?(?:(?:let['’]s|we(?:['’]ll| will| should)?|i(?:['’]d|['’]ll| would| will)?|please|just) )*(?:go (?:with|for)|take|use|choose|chose|pick|prefer|opt for|decide on|settle on|stick (?:with|to)|say|rather) (?!(?:it|that|this|them|a|an|care|place)\b)(.{1,60}?)(?=[.,!;:—–]|$| (?:because|since|so|but|then)\b)/i;
/** Words around a bare choice. */
const AROUND =
  /^(?:(?:then|just|definitely|certainly|probably|i['’]d say|rather|only) )+|(?:,? (?:please|then|i think|for sure|of course|definitely|instead|pls|sounds? (?:good|better|great|fine)|works?(?: for me)?|is (?:fine|better|good|ok(?:ay)?)))+$/gi;
const MAX_CHOICE = 6;
const RESERVED =
  /^(?:oh )?(?:yes|yeah|yep|ok(?:ay)?|sure|fine|agreed|go ahead|do (?:it|that)|please do)(?: please)?,? ((?:but |only |unless |except |if |as long as |provided |not before |after |before |without )(?!.*(?<![\p{L}])(?:let me|think|not sure|maybe|why|what|how)(?![\p{L}])).+)$/iu;

/** The first sentence of a reply as an answer to what was proposed. */
export function acceptanceOf(sentence: string): Acceptance | undefined {
  if (isQuestion(sentence)) return undefined;
  if (refuses(sentence)) return /^[^,;:—–]*[.!]*$/.test(sentence) ? { kind: 'refused' } : undefined;
  const said = withoutTalk(sentence).replace(/[.!]+$/, '');
  if (earnestness(said) < 1) return undefined;
  const named = (IT_IS.exec(said) ?? GO_WITH.exec(said))?.[1];
  if (named !== undefined && !/\bor\b/i.test(named)) return { kind: 'chosen', choice: named.trim(), open: true };
  if (agrees(sentence)) return { kind: 'agreed' };
  const but = RESERVED.exec(sentence)?.[1];
  if (but !== undefined) return { kind: 'reserved', but: but.replace(/[.!]+$/, '') };
  const bare = said.replace(AROUND, '');
  const choice = /^[^,;:—–]+/.exec(bare)?.[0].trim() ?? '';
  if (choice === '' || choice.split(' ').length > MAX_CHOICE) return undefined;
  return { kind: 'chosen', choice, open: false };
}

/** Whether a text has all words of a choice that carry something. */
export function isAmong(text: string, choice: string): boolean {
  const words = new Set(wordsOf(text).map(stem));
  const wanted = wordsOf(choice).filter((word) => !stopWords.has(word));
  return wanted.length > 0 && wanted.every((word) => words.has(stem(word)));
}
