/** Extraction rules: likes and preferences of the speaker or of a named person. */
import { conjugated, inThirdPerson, subjectName } from '../../../text/index.js';
import { type FactDraft, type FactRule, keyOf, noteOf } from './drafts.js';
import { isPerson, PROPER } from './names.js';
import { firstClause, firstHalf, standsAlone, withoutInitials } from './sentences.js';

const ADVERBS =
  'really|absolutely|strongly|much|generally|usually|always|still|truly|definitely|also|particularly|especially|personally';
const LIKES = new RegExp(
  `^i(?: (?=[a-z])|(?='m not a fan))(?:(${ADVERBS}) )?(like|love|enjoy|adore|hate|dislike|prefer|avoid|can't stand|cannot stand|don't like|do not like|don't enjoy|don't eat|do not eat|don't drink|do not drink|can't eat|cannot eat|never eat|never drink|no longer (?:like|love|enjoy|eat|drink)|am not a fan of|'m not a fan of) (.+)$`,
  'i',
);
const NAMED_LIKES = new RegExp(
  `^(${PROPER}) (?:(${ADVERBS}) )?(likes|loves|enjoys|adores|hates|dislikes|prefers|avoids|can't stand|cannot stand|(?:doesn't|does not) (?:like|enjoy|eat|drink)|can't eat|cannot eat|never (?:eats|drinks)|no longer (?:likes|loves|enjoys|eats|drinks)|is not a fan of|isn't a fan of) (.+)$`,
  'u',
);
/** "I love how…", "I like that…", "I love the dress": momentary, or about things only the speakers can see. */
export const PASSING =
  /^(?:how|that|when|what|where|who|why|to (?:say|hear|see|think|know|admit|ask|bother|be|have)|hearing|seeing|talking about|being (?:able|here)|the (?![A-Z])|a good|some (?:of|more)|all|both|every|any|everything|anything|nothing|something|more|our|us|catching up|chatting)\b/;

const NEGATIVE = /hate|dislike|avoid|n't|not|never|no longer/;

/** The object of a liking; "to swim and play" stays whole. */
function objectOf(all: string): string {
  const clause = firstClause(all);
  return /^to /i.test(clause) ? clause : firstHalf(clause);
}

/** Eating and liking have separate slots: a person may like what they cannot eat. */
function slotOf(verb: string, object: string): Pick<FactDraft, 'slot' | 'value' | 'negated'> {
  if (/^prefers?$/.test(verb)) return preferred(object);
  const [does] = /(?:eat|drink)(?=s?$)/.exec(verb) ?? ['like'];
  return { slot: `${does}s:${keyOf(object)}`, value: object, negated: NEGATIVE.test(verb) };
}

export const preferences: FactRule = (sentence, voice) => {
  const found = LIKES.exec(sentence);
  if (!found || PASSING.test(found[3]!)) return undefined;
  const [, adverb, verb, all] = found as unknown as [string, string | undefined, string, string];
  const object = objectOf(all);
  if (keyOf(object) === '') return undefined;
  const small = verb.toLowerCase();
  const content = `${subjectName(voice.name)} ${adverb ? `${adverb.toLowerCase()} ` : ''}${thirdPerson(small)} ${inThirdPerson(object)}`;
  return noteOf(voice, 'Preference', content, {
    ...slotOf(small, object),
    confidence: small === 'prefer' ? 0.9 : 0.85,
  });
};

function thirdPerson(verb: string): string {
  const [first, ...rest] = verb.split(' ') as [string, ...string[]];
  const auxiliary = { "don't": "doesn't", do: 'does', am: 'is', "'m": 'is', "can't": "can't", cannot: 'cannot' }[first];
  if (auxiliary !== undefined) return [auxiliary, ...rest].join(' ');
  if (first === 'never') return `never ${conjugated(rest[0]!)}`;
  return first === 'no' ? `no longer ${conjugated(rest[1]!)}` : conjugated(verb);
}

const PREFERRED = /^(.+?)(?: (?:to|over|rather than|instead of) (.+?))?(?: (?:for|in|when|on|with) (.+))?$/i;

/** The slot is the kind of thing, named by the last word: dark mode or light mode. */
function preferred(object: string): Pick<FactDraft, 'slot' | 'value'> {
  const [, what, other, purpose] = PREFERRED.exec(object)!;
  // Of two alternatives both make the slot, whichever is preferred.
  const kind = purpose ?? (other === undefined ? what!.split(' ').at(-1)! : `${what} ${other}`);
  return { slot: `prefers:${keyOf(kind)}`, value: what! };
}

/** "Anna prefers tea" has the slot of "I prefer tea" said by Anna. */
export const namedTastes: FactRule = (sentence, voice) => {
  if (!voice.person || !standsAlone(sentence)) return undefined;
  const found = NAMED_LIKES.exec(sentence);
  if (!found || PASSING.test(found[4]!) || !isPerson(found[1]!, found[3]!, voice)) return undefined;
  const [, name, adverb, verb, all] = found as unknown as [string, string, string | undefined, string, string];
  const object = objectOf(all);
  // In "Anna likes my cooking", the cooking is that of the speaker.
  if (keyOf(object) === '' || /\b(?:i|me|my|mine|we|us|our)\b/i.test(withoutInitials(object))) return undefined;
  const content = `${name} ${adverb ? `${adverb} ` : ''}${verb} ${object}`;
  const subject = name.toLowerCase();
  return noteOf(voice, 'Preference', content, { subject, ...slotOf(verb, object), confidence: 0.75 });
};
