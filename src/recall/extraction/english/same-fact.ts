/** Whether two facts say the same, the contrary, or have nothing to do with each other. */
import type { ComparableFact, FactRelation } from '../extractor.js';
import { agree, overlap, type Statement, shared, statementOf } from './statements.js';
import { differenceBetween, namesMore, withForWithout, withNames } from './wordings.js';

/** Wordings as alike as this say the same. */
const PARAPHRASE = 0.8;
/** With few words one of them makes all the difference. */
const FEW_STEMS = 3;

export function sameFact(a: ComparableFact, b: ComparableFact): FactRelation {
  if (a.type === 'Code' || b.type === 'Code') return sameCode(a, b);
  if (isSlotted(a) && isSlotted(b) && isShort(a) && isShort(b)) {
    const relation = bySlot(a, b);
    if (relation !== 'apart') return relation;
    // What two rules found in two wordings may be the same all the same, but not the contrary.
    return a.subject === b.subject && byWording(a, b) === 'same' ? 'same' : 'different';
  }
  return byWording(a, b);
}

/** A longer text is no statement: it is compared letter by letter, and in no other way. */
export const LONGEST_STATEMENT = 4000;

const saidIn = (text: string): Statement => statementOf(withForWithout(withNames(text)));

type Slotted = ComparableFact & { readonly subject: string; readonly slot: string; readonly value: string };

const isSlotted = (fact: ComparableFact): fact is Slotted =>
  fact.subject !== undefined && fact.slot !== undefined && fact.value !== undefined && fact.slot !== '';

const isShort = ({ content, value }: Slotted): boolean =>
  content.length <= LONGEST_STATEMENT && value.length <= LONGEST_STATEMENT;

/** `apart`: by what they are about, they have nothing to do with each other. */
function bySlot(a: Slotted, b: Slotted): FactRelation | 'apart' {
  if (a.subject !== b.subject) return 'apart';
  if (a.slot !== b.slot) return replaces(a, b) || replaces(b, a) ? 'contradicts' : 'apart';
  const negated = a.negated ?? false;
  const values = valuesOf(a, b);
  if (negated !== (b.negated ?? false)) return values === 'none' ? 'contradicts' : 'different';
  if (values === 'none') return 'same';
  // That one will not use this, and will not use that, can both be true.
  return negated || values === 'apart' ? 'different' : 'contradicts';
}

/** Berlin, and Berlin in Germany: the one says what the other does. But not before noon and after noon. */
function valuesOf(a: Slotted, b: Slotted): 'none' | 'contrary' | 'apart' {
  const one = saidIn(a.value);
  const other = saidIn(b.value);
  if (one.stems.size === 0 || other.stems.size === 0)
    return a.value.trim().toLowerCase() === b.value.trim().toLowerCase() ? 'none' : 'contrary';
  if (one.numbers !== other.numbers && one.numbers !== '' && other.numbers !== '') return 'contrary';
  if (shared(one, other) < Math.min(one.stems.size, other.stems.size)) return 'contrary';
  const between = differenceBetween(a.value, b.value);
  // What is not part of the value, such as the purpose, is told by the sentences, whose other words are free.
  const around = between === 'none' ? differenceBetween(a.content, b.content) : between;
  if (around === 'opposed') return 'contrary';
  return between !== 'none' || around === 'swapped' || around === 'other' ? 'apart' : 'none';
}

/** "Use A instead of B" is against "use B". */
function replaces(a: Slotted, b: Slotted): boolean {
  if (a.negated || b.negated || a.type !== 'Decision' || b.type !== 'Decision') return false;
  const replaced = /\b(?:instead of|rather than) (.+?)(?: (?:for|as) .+)?[.]?$/i.exec(a.content)?.[1];
  if (replaced === undefined) return false;
  const old = saidIn(replaced);
  const value = saidIn(b.value);
  return old.stems.size > 0 && overlap(old, value) === 1;
}

function byWording({ content: a, subject }: ComparableFact, { content: b, ...fact }: ComparableFact): FactRelation {
  if (Math.max(a.length, b.length) > LONGEST_STATEMENT) return a === b ? 'same' : 'different';
  const one = saidIn(a);
  const other = saidIn(b);
  const few = Math.min(one.stems.size, other.stems.size);
  if (few === 0) return a === b ? 'same' : 'different';
  if (one.numbers !== other.numbers || overlap(one, other) < PARAPHRASE) return 'different';
  const difference = differenceBetween(a, b, subject ?? fact.subject);
  // Of a value, such as Ghent, in Belgium, what is named besides says where it is; of a sentence it is something else.
  if (difference === 'none' && (namesMore(a, b) || namesMore(b, a))) return 'different';
  if (difference === 'none' && agree(one, other))
    return few > FEW_STEMS || overlap(one, other) === 1 ? 'same' : 'different';
  // All the same words, but one of them says no, or after instead of before. Both at once may be the same again.
  const contrary = difference === 'opposed' ? one.negated === other.negated : difference === 'none';
  return contrary && few >= FEW_STEMS - 1 ? 'contradicts' : 'different';
}

/** Other code in the same file is its next version, which contradicts nothing. */
function sameCode(a: ComparableFact, b: ComparableFact): FactRelation {
  return a.content === b.content || bareCode(a.content) === bareCode(b.content) ? 'same' : 'different';
}

const bareCode = (code: string): string => code.replace(/\s+/g, ' ').trim();
