/** The forms of English sentences that give a slot a value: homes, jobs, attributes, choices, responsibilities, tastes. */

import { keyOf } from '../extraction/english/drafts.js';
import { factStated } from '../extraction/english/extraction.js';
import { attributeForms } from './attribute-forms.js';
import { choiceForms } from './choice-forms.js';
import { type ClaimForm, claimAt, type FoundClaim, type SlotKind, slotKey } from './found-claims.js';
import { handedFromForm } from './holder-forms.js';
import { PERSON, personKey } from './subjects.js';
import { valueAt } from './values.js';

const ADVERBS = '(?:(?:now|currently|still|also|just|recently|actually|both|all|already|finally|permanently) )*';
const NOT = "(?<not>no longer |does(?:n't| not) |do(?:n't| not) |is(?:n't| not) |am not |has(?:n't| not) )?";

/** Where a verb leaves the value: the named groups of a form. */
interface Parts {
  readonly who: string;
  readonly verb: string;
  readonly not: string | undefined;
  readonly from: string | undefined;
  readonly value: string;
}

function partsOf(form: RegExp, sentence: string): { parts: Parts; start: number } | undefined {
  const found = form.exec(sentence);
  if (!found?.groups) return undefined;
  return { parts: found.groups as unknown as Parts, start: sentence.length - found.groups.value!.length };
}

const ENDED = /\b(?:any ?more|any longer)\b/i;

/** Only now and then, or for a while. */
const TEMPORARY =
  /\b(?:this (?:week|weekend|month|morning|afternoon|evening|summer|winter|spring)|for (?:the|a|an|two|three|four|five|six|\d+) (?:day|days|week|weeks|weekend|weekends|month|months|summer|winter|semester|term|while|holiday|holidays)|today|tonight|tomorrow|temporarily|until|during|on (?:weekends|weekdays)|sometimes|occasionally|part of the year|half the year|in summer|in winter|every (?:other )?(?:summer|winter|weekend|second))\b/i;

const HOME = new RegExp(
  `^(?<who>${PERSON})(?:'ve|'m|'s)? ${ADVERBS}${NOT}(?:have |has |is |are |am )?${ADVERBS}(?<verb>lives?|living|resides?|residing|based|moved|relocated)(?: (?:away|back|over))?(?: (?:from (?<from>\\p{Lu}[^,]*?) )?(?:in|at|near|to)) (?<value>.+)$`,
  'u',
);
const WENT = new RegExp(
  `^(?<who>${PERSON})(?:'ve)? (?:have |has )?${ADVERBS}(?<verb>left|moved away from) (?<value>.+)$`,
  'u',
);

/** The name of a place at the beginning of a value, with further words as more than that. */
const PLACE =
  /^(?:(?:the|an?|central|downtown|north|south|east|west|greater|old) )*(?:\p{Lu}|\d)[\p{L}\p{M}\d'’.-]*(?:,? (?:de |la |le |am |an der |upon |of |the |del )?(?:\p{Lu}|\d)[\p{L}\p{M}\d'’.-]*)*/u;

function trimmedTo(form: RegExp, claim: FoundClaim | undefined): FoundClaim | undefined {
  const kept = claim && form.exec(claim.value)?.[0];
  if (!kept || !claim) return undefined;
  const left = claim.value.slice(kept.length);
  return { ...claim, value: kept, end: claim.start + kept.length, more: claim.more || keyOf(left) !== '' };
}

const homes: ClaimForm = (sentence, speaker) => {
  if (TEMPORARY.test(sentence)) return [];
  const found = partsOf(HOME, sentence);
  if (!found) return [];
  const { who, verb, not, from } = found.parts;
  const subject = personKey(who, verb, speaker);
  if (subject === undefined) return [];
  const moved = /^(?:moved|relocated)$/.test(verb);
  const negated = not !== undefined || ENDED.test(sentence);
  if (negated && moved) return [];
  const claim = claimAt(sentence, found.start, {
    key: slotKey(subject, 'lives'),
    replaced: from,
    changes: moved || /no longer/.test(not ?? ''),
    negated,
  });
  return [trimmedTo(PLACE, claim)].filter((one) => one !== undefined);
};

const WORKS = new RegExp(
  `^(?<who>${PERSON})(?:'ve|'m|'s)? ${ADVERBS}${NOT}(?:have |has |is |are |am )?${ADVERBS}(?<verb>works?|working|employed|started(?: working)?|starts(?: working)?|got a job|took a job|has a (?:new )?job)(?: remotely| full-time| part-time)? (?:at|for|by|with) (?<value>.+)$`,
  'u',
);
const EMPLOYER =
  /^(?:(?:the|an?|our|my) )?(?:\p{Lu}|\d)[\p{L}\p{M}\d'’&.-]*(?: (?:of |the |and |& |for |von |de )?(?:\p{Lu}|\d)[\p{L}\p{M}\d'’&.-]*)*|^(?:the|an?) [\p{Ll}-]+(?: [\p{Ll}-]+){0,3}$/u;
const QUIT = new RegExp(
  `^(?<who>${PERSON})(?:'ve)? (?:have |has )?${ADVERBS}(?<verb>quit|left|resigned from|retired from|was fired from|was laid off (?:from|by)|moved away from)(?: (?:his|her|my|their) job at)? (?<value>.+?)$`,
  'u',
);

const employers: ClaimForm = (sentence, speaker) => {
  if (TEMPORARY.test(sentence)) return [];
  const found = partsOf(WORKS, sentence);
  if (found) {
    const { who, verb, not } = found.parts;
    const subject = personKey(who, 'works', speaker);
    if (subject === undefined) return [];
    const negated = not !== undefined || ENDED.test(sentence);
    const changes = /^(?:start|got|took|has)/.test(verb);
    const claim = claimAt(sentence, found.start, { key: slotKey(subject, 'works'), negated, changes });
    return [trimmedTo(EMPLOYER, claim)].filter((one) => one !== undefined);
  }
  return left(sentence, speaker);
};

/** "Tom left Siemens for Bosch": a home or an employer, whichever is known. */
function left(sentence: string, speaker: string | null): FoundClaim[] {
  const found = partsOf(QUIT, sentence) ?? partsOf(WENT, sentence);
  if (!found) return [];
  const { who, verb } = found.parts;
  const subject = personKey(who, 'works', speaker);
  if (subject === undefined) return [];
  const [, old, next] = /^(.+?) (?:for|to join) (\p{Lu}.*)$/u.exec(found.parts.value) ?? [];
  const slots = verb === 'moved away from' ? ['lives'] : verb === 'left' ? ['works', 'lives'] : ['works'];
  return slots.flatMap((slot) => {
    const start = next === undefined ? found.start : sentence.length - next.length;
    const given = { key: slotKey(subject, slot), negated: next === undefined, changes: true, replaced: old };
    const named = { ...given, kind: 'named', tentative: slot === 'lives' } as const;
    return trimmedTo(slot === 'works' ? EMPLOYER : PLACE, claimAt(sentence, start, named)) ?? [];
  });
}

const JOB =
  '(?:[\\w-]+ ){0,3}(?:engineer|developer|programmer|designer|manager|director|architect|analyst|scientist|researcher|teacher|professor|lecturer|student|doctor|physician|surgeon|nurse|dentist|pharmacist|lawyer|attorney|accountant|writer|author|editor|journalist|artist|painter|musician|singer|photographer|chef|cook|baker|farmer|pilot|driver|electrician|plumber|carpenter|mechanic|consultant|founder|co-founder|CEO|CTO|CFO|COO|administrator|librarian|therapist|psychologist|biologist|chemist|physicist|mathematician|economist|translator|interpreter|actor|actress|dancer|barista|bartender|freelancer|vet|firefighter|paramedic|intern|apprentice|principal|partner|lead|head of \\w+|vice president|VP(?: of \\w+)?)';
const OCCUPATION = new RegExp(
  `^(?<who>${PERSON})(?:'m|'s|'ve)? ${ADVERBS}${NOT}(?<verb>(?:is|am|works as|work as|was promoted to|got promoted to|became|has become|have become|has been made|retrained as))?(?: ${ADVERBS.trim()})?\\s*(?<value>(?:an? )?(?:new )?${JOB}\\b.*)$`,
  'u',
);

const occupations: ClaimForm = (sentence, speaker) => {
  const found = partsOf(OCCUPATION, sentence);
  if (!found || (found.parts.verb === undefined && !/^(?:\S+'[ms] )|^(?:I|[Ww]e)'m /.test(sentence))) return [];
  const { who, verb, not } = found.parts;
  const subject = personKey(who, 'works', speaker);
  if (subject === undefined || (not !== undefined && !/no longer/.test(not))) return [];
  const negated = not !== undefined || ENDED.test(sentence);
  const changes = /promoted|beca?ome|made|retrained/.test(verb ?? '');
  const claim = claimAt(sentence, found.start, { key: slotKey(subject, 'occupation'), negated, changes }, () => true);
  return claim && /^an? /.test(claim.value) ? [claim] : [];
};

const MARITAL = /^(?:married|divorced|single|widowed|engaged|separated)(?: to \p{Lu}.*)?$/u;
const DIET = /^(?:an? )?(?:vegan|vegetarian|pescatarian|flexitarian|omnivore|meat eater)$/i;
const STATES: readonly (readonly [RegExp, string])[] = [
  [MARITAL, 'marital'],
  [DIET, 'diet'],
  [/^\d{1,3}(?: years old)?$/, 'age'],
];
const IS = new RegExp(
  `^(?<who>${PERSON})(?:'m|'s)? ${ADVERBS}(?<verb>is |am |are |became |got |turned |has gone |went )?${ADVERBS}(?<not>no longer |not )?${ADVERBS}(?<value>.+)$`,
  'u',
);

const states: ClaimForm = (sentence, speaker) => {
  const found = partsOf(IS, sentence);
  if (!found || (found.parts.verb === undefined && !/^\S+'[ms] /.test(sentence))) return [];
  const { who, verb = '', not } = found.parts;
  const { value } = valueAt(found.parts.value);
  const slot = STATES.find(([form]) => form.test(value))?.[1];
  const subject = slot && personKey(who, 'works', speaker);
  if (subject === undefined || slot === undefined) return [];
  const negated = not !== undefined || ENDED.test(sentence);
  const changes = /became|got|turned|gone|went/.test(verb);
  const claim = claimAt(sentence, found.start, { key: slotKey(subject, slot), negated, changes }, () => true);
  return claim ? [claim] : [];
};

const CALLED = new RegExp(
  `^(?:(?<who>${PERSON}) (?:now |also )?(?<verb>goes by|wants to be called|prefers to be called|is called|is now called|changed (?:his|her|their|my) (?:last |first |sur)?name to)|(?:[Pp]lease )?[Cc]all me) (?<value>\\p{Lu}.*)$`,
  'u',
);

const names: ClaimForm = (sentence, speaker) => {
  const found = partsOf(CALLED, sentence);
  if (!found) return [];
  const { who = 'I', verb = '' } = found.parts as Partial<Parts>;
  const subject = personKey(who, 'works', speaker);
  const slot = /last|sur/.test(verb) ? 'last name' : 'called';
  const claim =
    subject === undefined
      ? undefined
      : claimAt(sentence, found.start, { key: slotKey(subject, slot), changes: /changed/.test(verb) });
  return claim ? [claim] : [];
};

/** Slots of the rules of extraction whose other value is another attribute or one more. */
const OF_OTHER_FORMS =
  /^(?:date:|procedure:|always:|returns?|respond|answer|throw|fail|crash|raise|decision|is$|is:|root cause|lives|works|occupation|moved to|is called|is named|uses|runs)/;
const FIXED = /^(?:born|was born|grew up|from)\b/;

/** Tastes and what else the rules of extraction know. */
const extracted: ClaimForm = (sentence, speaker) => {
  const plain = sentence.replace(/\b(?:now|currently|nowadays|these days|already) /gi, '');
  const fact = factStated({ id: '', text: plain, speaker });
  if (!fact || fact.slot === '' || fact.value === '' || OF_OTHER_FORMS.test(fact.slot)) return [];
  const at = sentence.toLowerCase().indexOf(fact.value.toLowerCase());
  if (at < 0) return [];
  const kind: SlotKind = FIXED.test(fact.slot)
    ? 'fixed'
    : /:/.test(fact.slot) && !/^prefers:/.test(fact.slot)
      ? 'many'
      : 'one';
  const { value, length } = valueAt(sentence.slice(at, at + fact.value.length));
  const { more } = valueAt(sentence.slice(at));
  const taste = kind === 'many' ? predicateStart(sentence, at) : at;
  const { subject, slot, negated } = fact;
  const key = slotKey(subject, slot);
  return [{ key, kind, value, negated, start: taste, end: at + length, changes: /no longer/.test(sentence), more }];
};

/** "likes coffee" tells more about a former taste than "coffee". */
function predicateStart(sentence: string, at: number): number {
  const verb = /(?:\S+ )?\S+ $/.exec(sentence.slice(0, at))?.[0] ?? '';
  const own = verb.replace(/^\p{Lu}\S* /u, '');
  return at - own.length;
}

const GAVE_UP = new RegExp(
  `^(?<who>${PERSON})(?:'ve)? (?:have |has )?${ADVERBS}(?<verb>gave up|given up|stopped (?:liking|eating|drinking|playing|enjoying)|quit (?:eating|drinking|playing)|went off|gone off) (?<value>.+)$`,
  'u',
);

/** "Anna gave up coffee" ends liking and drinking it. */
const abandoned: ClaimForm = (sentence, speaker) => {
  const found = partsOf(GAVE_UP, sentence);
  if (!found) return [];
  const subject = personKey(found.parts.who, 'likes', speaker);
  if (subject === undefined) return [];
  const { verb } = found.parts;
  const does = /play/.test(verb)
    ? ['plays']
    : /eat/.test(verb)
      ? ['eats']
      : /drink/.test(verb)
        ? ['drinks']
        : ['likes', 'drinks', 'eats', 'plays'];
  return does.flatMap((slot) => {
    const { value } = valueAt(found.parts.value);
    if (keyOf(value) === '') return [];
    const key = slotKey(subject, `${slot}:${keyOf(value)}`);
    return claimAt(sentence, found.start, { key, kind: 'many', negated: true, changes: true }, () => true) ?? [];
  });
};

const FORMS: readonly ClaimForm[] = [
  attributeForms,
  homes,
  employers,
  names,
  states,
  choiceForms,
  occupations,
  abandoned,
  handedFromForm,
  extracted,
];

export function claimForms(sentence: string, speaker: string | null): readonly FoundClaim[] {
  for (const form of FORMS) {
    const found = form(sentence, speaker);
    if (found.length > 0) return found;
  }
  return [];
}
