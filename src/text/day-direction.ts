/** Whether a named day lies before or after the sentence was said, by its verb and the preposition of the day. */
import { type NamedDay, namedDay, type Tense } from './named-days.js';

/** "The call was moved to Friday": the new day counts, and lies ahead. */
const MOVED =
  /\b(?:moved|rescheduled|re-scheduled|postponed|pushed|shifted|delayed|deferred|changed|switched|brought|bumped|extended|adjourned|put off)\b/i;
const TARGET =
  /\b(?:to|until|till) (?=(?:the |next |this |on )?(?:\p{Lu}|\d|tomorrow\b|mon|tues|wednes|thurs|fri|satur|sun))/giu;
/** "We agreed to meet on Friday": the meeting lies ahead. */
const PROMISED =
  /\b(?:agreed|decided|promised|planned|offered|volunteered|arranged|committed|asked|told|invited)\b.* to [a-z]|\b(?:re-?)?scheduled\b/i;
/** "I stayed until Friday": the day is over. */
const LASTED = /\b(?:stayed|worked|waited|slept|lived|visited|remained|travelled|traveled|camped|hosted)\b/i;
const AWAY = /\b(?:off|leave|holidays?|vacation|booked|rented|reserved|hired)\b/i;
const LEADS = /(?:^|\s)(to|until|till|for|by|before|due|from)(?: on)?(?: the)?$/i;
const OVER = /\b(?:was|were|started|ended|began|took place)\b/i;
const ARRANGED = /\b(?:moved|scheduled|planned|set)\b/i;

/** The preposition of a day, such as "to" or "by"; undefined for "on" and without one. */
function prepositionOf(sentence: string, { index, words }: NamedDay): string | undefined {
  const [first] = words.toLowerCase().split(' ');
  if (first === 'by') return first;
  return LEADS.exec(sentence.slice(0, index).trimEnd())?.[1]?.toLowerCase();
}

/** The day that a sentence is about: the target of a move, or the first day. */
export function dayMeant(
  sentence: string,
  said_at: number | undefined,
  tenseOf: (named: NamedDay) => Tense,
): NamedDay | undefined {
  const read = (from: number): NamedDay | undefined => {
    const rest = sentence.slice(from);
    const found = namedDay(rest, said_at, 'any');
    if (!found) return undefined;
    const tense = tenseOf({ ...found, index: from + found.index });
    const named = namedDay(rest, said_at, tense);
    return named && { ...named, index: from + named.index };
  };
  const moved = MOVED.exec(sentence);
  for (const { index, 0: lead } of moved ? sentence.matchAll(TARGET) : []) {
    const from = index + lead.length;
    const target = from > moved!.index ? read(from) : undefined;
    // Directly after the preposition, or after an article.
    if (target && target.index - from <= 'the '.length) return target;
  }
  return read(0);
}

/** The tense of the day of an action: past, unless the action was for a later day. */
export function tenseOfAction(sentence: string, named: NamedDay): Tense {
  const before = sentence.slice(0, named.index);
  const isAhead = {
    to: MOVED.test(before) || !/\bfrom\b/i.test(before),
    until: !LASTED.test(before),
    till: !LASTED.test(before),
    for: true,
    due: true,
    by: PROMISED.test(before),
    before: PROMISED.test(before),
    from: AWAY.test(before),
  };
  const lead = prepositionOf(sentence, named) as keyof typeof isAhead | undefined;
  return (lead === undefined ? PROMISED.test(before) : isAhead[lead]) ? 'any' : 'past';
}

/** The tense of the day of an event: "the call is on Friday", "… was on Friday", "… was moved to Friday". */
export function tenseOfEvent(sentence: string, named: NamedDay): Tense {
  const before = sentence.slice(0, named.index);
  const lead = prepositionOf(sentence, named);
  if (ARRANGED.test(before) && lead !== undefined) return 'any';
  const isOver = OVER.test(before) || (MOVED.test(before) && lead === undefined);
  return isOver ? 'past' : 'coming';
}
