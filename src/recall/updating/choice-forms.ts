/** Choices among alternatives: "we chose X over Y", "we switched from Y to X", "the ledger runs on X". */
import { keyOf } from '../extraction/english/drafts.js';
import { PROPER } from '../extraction/english/names.js';
import { type ClaimForm, claimAt, type FoundClaim, slotKey } from './found-claims.js';
import { PERSON, personKey } from './subjects.js';
import { attributeKey } from './values.js';

const SUBJECT = `(?:(?<who>${PERSON})(?:'ve|'re)? (?:(?:have|has|are|is) )?(?:(?:now|just|finally|all|both|recently|already|currently|also) )*)?`;
const capital = (verbs: string): string =>
  verbs
    .split('|')
    .map((verb) => `[${verb[0]!.toUpperCase()}${verb[0]}]${verb.slice(1)}`)
    .join('|');

const CHOSE = new RegExp(
  `^${SUBJECT}(?<verb>${capital('chose|chosen|picked|selected|went with|going with|opted for|decided on|settled on|adopted|decided to use|decided to go with|agreed on|agreed to use|use|uses|using|prefer')}) (?<value>.+)$`,
  'u',
);
const SWITCHED = new RegExp(
  `^${SUBJECT}(?<verb>${capital('switched|moved|migrated|changed|converted|upgraded|ported|transitioned|went')})(?: (?<what>(?!from\\b|to\\b|back\\b|over\\b|away\\b)[^,]+?))?(?: (?:back|over|away))?(?: from (?<from>.+?))? to (?:using )?(?<value>.+)$`,
  'u',
);
const REPLACED = new RegExp(
  `^${SUBJECT}(?<verb>${capital('replaced|swapped|swapped out|dropped|ditched|abandoned|left')}) (?<from>.+?) (?:with|for|by|in favou?r of) (?<value>.+)$`,
  'u',
);
const ENDED = new RegExp(
  `^${SUBJECT}(?<verb>${capital("no longer use|no longer uses|don't use|doesn't use|stopped using|dropped|ditched|abandoned|gave up on|given up on|got rid of|retired|decommissioned|removed|moved off|moved away from")}) (?<value>.+)$`,
  'u',
);
const RUNS = new RegExp(
  `^(?:(?:[Tt]he|[Oo]ur) (?<thing>(?:[\\p{L}\\d.-]+ ){0,3}?[\\p{L}\\d.-]+)|(?<name>${PROPER}(?:'s (?:[\\p{Ll}-]+ ){0,2}[\\p{Ll}-]+)?)) (?:now |currently )?(?<verb>runs? on|(?:is|are) (?:now )?hosted (?:on|at|by|in)|(?:is|are) (?:now )?deployed (?:on|to|in)|(?:is|are) (?:now )?written in|listens on|moved to|(?:was|were|has been|have been) (?:moved|migrated|ported|rewritten|upgraded) (?:to|in)|defaults to|expires (?:on|in|after)|costs|uses|sells (?:at|for)|(?:is|are) (?:now )?stored (?:in|on)|lives? in|goes through|go through) (?<value>.+)$`,
  'u',
);

interface Groups {
  readonly who?: string;
  readonly verb: string;
  readonly what?: string;
  readonly from?: string;
  readonly value: string;
}

/** What is chosen, with its purpose and what it was chosen over. */
const OVER =
  /^(?<chosen>.+?)(?: (?:over|instead of|rather than|and not|not|in place of) (?<over>.+?))?(?: (?:for|as|to (?=\p{Ll})) ?(?<purpose>(?!now\b|good\b|the moment\b).+?))?(?: (?:instead of|rather than|over) (?<late>.+?))?$/u;
const ABOUT_TALK = /^(?:it|that|this|these|those|them|one|something|anything|everything|him|her|you|to|not|no)\b/i;
/** A choice has a name or says what for. */
const isNamed = (value: string): boolean => /[\p{Lu}\d`]/u.test(value);

const subjectOf = (who: string | undefined, speaker: string | null): string | undefined =>
  who === undefined ? 'we' : personKey(who, 'works', speaker);

/** Choices are compared by purpose; and by what they replace, with every choice of the same subject. */
function choices(sentence: string, at: number, subject: string, groups: Groups, changes: boolean): FoundClaim[] {
  const trimmed = claimAt(sentence, at, { key: '' }, () => true);
  if (!trimmed) return [];
  const parts = OVER.exec(trimmed.value)?.groups as
    | { chosen: string; over?: string; purpose?: string; late?: string }
    | undefined;
  const chosen = parts?.chosen ?? trimmed.value;
  const purpose = groups.what ?? parts?.purpose;
  const replaced = groups.from ?? parts?.over ?? parts?.late;
  if (ABOUT_TALK.test(chosen) || keyOf(chosen) === '' || !isNamed(chosen) || chosen.split(' ').length > 5) return [];
  const base = { value: chosen, start: at, end: at + chosen.length, negated: false, changes, more: trimmed.more };
  const byValue = (value: string) => slotKey(subject, `chose:${keyOf(value)}`);
  const own: FoundClaim = { ...base, key: byValue(chosen), kind: 'many' };
  const claims: FoundClaim[] = [own];
  if (purpose !== undefined && attributeKey(purpose.replace(/^(?:the|our|my) /, '')) !== '')
    claims.push({
      ...base,
      key: slotKey('', `is:${attributeKey(purpose.replace(/^(?:the|our|my) /, ''))}`),
      kind: 'one',
      replaced,
    });
  if (replaced !== undefined && keyOf(replaced) !== '')
    claims.push({ ...base, key: byValue(replaced), kind: 'named', replaced, changes: true });
  return claims;
}

const start = (sentence: string, { value }: Groups): number => sentence.length - value.length;

export const choiceForms: ClaimForm = (sentence, speaker) => {
  for (const [form, changes] of [
    [REPLACED, true],
    [SWITCHED, true],
    [ENDED, true],
    [CHOSE, false],
  ] as const) {
    const groups = form.exec(sentence)?.groups as unknown as Groups | undefined;
    if (!groups) continue;
    const subject = subjectOf(groups.who, speaker);
    if (subject === undefined) return [];
    if (form !== ENDED) {
      const found = choices(sentence, start(sentence, groups), subject, groups, changes);
      if (found.length > 0) return found;
      continue;
    }
    const claim = claimAt(sentence, start(sentence, groups), { key: '' }, () => true);
    const value = claim?.value.replace(/ (?:for|as) .+$/, '') ?? '';
    if (!claim || keyOf(value) === '' || !isNamed(value) || value.split(' ').length > 4) return [];
    return value.split(/ and |, /).map((one): FoundClaim => {
      const key = slotKey(subject, `chose:${keyOf(one)}`);
      return { ...claim, key, value: one, kind: 'many', negated: true, changes: true };
    });
  }
  const runs = RUNS.exec(sentence);
  if (!runs) return [];
  const { thing, name, verb } = runs.groups as { thing?: string; name?: string; verb: string };
  const what = (thing ?? name)!;
  // People move, use and live in other ways.
  if (name !== undefined && /^(?:moved|uses|lives?|goes|go)/.test(verb) && !/[\d'.]|\p{Lu}{2}|\p{Ll}\p{Lu}/u.test(name))
    return [];
  const isMove = /moved|migrated|ported|upgraded/.test(verb);
  const slot =
    isMove || /^runs?/.test(verb)
      ? 'is'
      : keyOf(verb.replace(/\b(?:now|is|are|was|were|has been|have been)\b/g, '')) || verb;
  const many = verb === 'uses';
  const key = many ? slotKey('', `uses:${attributeKey(what)}`) : slotKey('', `${slot}:${attributeKey(what)}`);
  const claim = claimAt(sentence, start(sentence, runs.groups as unknown as Groups), {
    key,
    kind: many ? 'named' : 'one',
    changes: isMove,
  });
  return claim ? [claim] : [];
};
