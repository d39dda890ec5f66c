/** Whether two facts are the same, contradict each other, or are unrelated. */
import type { ComparableFact, FactRelation } from '../extractor.js';
import { agree, overlap, type Statement, shared, statementOf } from './statements.js';
import { differenceBetween, namesMore, withForWithout, withNames } from './wordings.js';

/** Overlap at which two wordings say the same. */
const PARAPHRASE = 0.8;
/** With so few stems a single word makes the difference. */
const FEW_STEMS = 3;

export function sameFact(a: ComparableFact, b: ComparableFact): FactRelation {
  // Other code in the same file is its next version, and contradicts nothing.
  if (a.type === 'Code' || b.type === 'Code') return bareCode(a) === bareCode(b) ? 'same' : 'different';
  if (isSlotted(a) && isSlotted(b) && isShort(a) && isShort(b)) {
    const relation = bySlot(a, b);
    if (relation !== 'apart') return relation;
    // Facts of different rules may be the same, but not contradict each other.
    return a.subject === b.subject && byWording(a, b) === 'same' ? 'same' : 'different';
  }
  return byWording(a, b);
}

/** Longer texts are the same only if equal. */
const LONGEST_STATEMENT = 4000;

const parsedStatement = (text: string): Statement => statementOf(withForWithout(withNames(text)));

type Slotted = ComparableFact & { readonly subject: string; readonly slot: string; readonly value: string };

const isSlotted = (fact: ComparableFact): fact is Slotted =>
  fact.subject !== undefined && fact.slot !== undefined && fact.value !== undefined && fact.slot !== '';

const isShort = ({ content, value }: Slotted): boolean =>
  content.length <= LONGEST_STATEMENT && value.length <= LONGEST_STATEMENT;

/** `apart`: unrelated by subject and slot. */
function bySlot(a: Slotted, b: Slotted): FactRelation | 'apart' {
  if (a.subject !== b.subject) return 'apart';
  if (a.slot !== b.slot) return replaces(a, b) || replaces(b, a) ? 'contradicts' : 'apart';
  const negated = a.negated ?? false;
  const values = valuesOf(a, b);
  if (negated !== (b.negated ?? false)) return values === 'none' ? 'contradicts' : 'different';
  if (values === 'none') return 'same';
  // Two different denials can both be true.
  return negated || values === 'apart' ? 'different' : 'contradicts';
}

/** "Berlin" and "Berlin in Germany" agree, "before noon" and "after noon" do not. */
function valuesOf(a: Slotted, b: Slotted): 'none' | 'contrary' | 'apart' {
  const one = parsedStatement(a.value);
  const other = parsedStatement(b.value);
  if (one.stems.size === 0 || other.stems.size === 0)
    return a.value.trim().toLowerCase() === b.value.trim().toLowerCase() ? 'none' : 'contrary';
  if (one.numbers !== other.numbers && one.numbers !== '' && other.numbers !== '') return 'contrary';
  if (shared(one, other) < Math.min(one.stems.size, other.stems.size)) return 'contrary';
  const between = differenceBetween(a.value, b.value);
  // The sentences show differences outside the value, such as in the purpose.
  const around = between === 'none' ? differenceBetween(a.content, b.content) : between;
  if (around === 'opposed') return 'contrary';
  return between !== 'none' || around === 'swapped' || around === 'other' ? 'apart' : 'none';
}

/** "Use A instead of B" contradicts "use B". */
function replaces(a: Slotted, b: Slotted): boolean {
  if (a.negated || b.negated || a.type !== 'Decision' || b.type !== 'Decision') return false;
  const replaced = /\b(?:instead of|rather than) (.+?)(?: (?:for|as) .+)?[.]?$/i.exec(a.content)?.[1];
  if (replaced === undefined) return false;
  const old = parsedStatement(replaced);
  return old.stems.size > 0 && overlap(old, parsedStatement(b.value)) === 1;
}

function byWording({ content: a, subject }: ComparableFact, { content: b, ...fact }: ComparableFact): FactRelation {
  if (Math.max(a.length, b.length) > LONGEST_STATEMENT) return a === b ? 'same' : 'different';
  const one = parsedStatement(a);
  const other = parsedStatement(b);
  const few = Math.min(one.stems.size, other.stems.size);
  if (few === 0) return a === b ? 'same' : 'different';
  if (one.numbers !== other.numbers || overlap(one, other) < PARAPHRASE) return 'different';
  const difference = differenceBetween(a, b, subject ?? fact.subject);
  // A further name in a value ("Ghent, in Belgium") says where it is; in a sentence it makes another fact.
  if (difference === 'none' && (namesMore(a, b) || namesMore(b, a))) return 'different';
  if (difference === 'none' && agree(one, other))
    return few > FEW_STEMS || overlap(one, other) === 1 ? 'same' : 'different';
  // The same words, but negated, or with an opposite word; both at once may cancel out.
  const contrary = difference === 'opposed' ? one.negated === other.negated : difference === 'none';
  return contrary && few >= FEW_STEMS - 1 ? 'contradicts' : 'different';
}

const bareCode = ({ content }: ComparableFact): string => content.replace(/\s+/g, ' ').trim();
