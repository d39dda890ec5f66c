/** Whether two facts say the same, the contrary, or have nothing to do with each other. */
import type { ComparableFact, FactRelation } from './facts.js';
import { agree, overlap, type Statement, shared, statementOf } from './statements.js';

/** Wordings as alike as this say the same. */
const PARAPHRASE = 0.8;
/** With few words one of them makes all the difference. */
const FEW_STEMS = 3;

export function sameFact(a: ComparableFact, b: ComparableFact): FactRelation {
  if (a.type === 'Code' || b.type === 'Code') return sameCode(a, b);
  const one = statementOf(a.content);
  const other = statementOf(b.content);
  if (isSlotted(a) && isSlotted(b)) {
    const relation = bySlot(a, b);
    if (relation !== 'different') return relation;
    // What two rules found in two wordings may be the same all the same, but not the contrary.
    return isParaphrase(one, other) && a.subject === b.subject ? 'same' : 'different';
  }
  if (isParaphrase(one, other)) return 'same';
  return isContrary(one, other) ? 'contradicts' : 'different';
}

type Slotted = ComparableFact & { readonly subject: string; readonly slot: string; readonly value: string };

const isSlotted = (fact: ComparableFact): fact is Slotted =>
  fact.subject !== undefined && fact.slot !== undefined && fact.value !== undefined && fact.slot !== '';

function bySlot(a: Slotted, b: Slotted): FactRelation {
  if (a.subject !== b.subject) return 'different';
  if (a.slot !== b.slot) return replaces(a, b) || replaces(b, a) ? 'contradicts' : 'different';
  if ((a.negated ?? false) !== (b.negated ?? false)) return sameValue(a, b) ? 'contradicts' : 'different';
  if (sameValue(a, b)) return 'same';
  // That one will not use this, and will not use that, can both be true.
  return a.negated ? 'different' : 'contradicts';
}

/** Berlin, and Berlin in Germany: the one says what the other does. */
function sameValue(a: Slotted, b: Slotted): boolean {
  const one = statementOf(a.value);
  const other = statementOf(b.value);
  if (one.stems.size === 0 || other.stems.size === 0)
    return a.value.trim().toLowerCase() === b.value.trim().toLowerCase();
  if (one.numbers !== other.numbers && one.numbers !== '' && other.numbers !== '') return false;
  return shared(one, other) === Math.min(one.stems.size, other.stems.size);
}

/** "Use A instead of B" is against "use B". */
function replaces(a: Slotted, b: Slotted): boolean {
  if (a.negated || b.negated || a.type !== 'Decision' || b.type !== 'Decision') return false;
  const replaced = /\b(?:instead of|rather than) (.+?)(?: (?:for|as) .+)?[.]?$/i.exec(a.content)?.[1];
  if (replaced === undefined) return false;
  const old = statementOf(replaced);
  const value = statementOf(b.value);
  return old.stems.size > 0 && overlap(old, value) === 1;
}

function isParaphrase(one: Statement, other: Statement): boolean {
  if (one.stems.size === 0 || other.stems.size === 0) return one.text === other.text;
  const needed = Math.min(one.stems.size, other.stems.size) <= FEW_STEMS ? 1 : PARAPHRASE;
  return agree(one, other) && overlap(one, other) >= needed;
}

/** All the same words, but one of them says no. */
const isContrary = (one: Statement, other: Statement): boolean =>
  one.negated !== other.negated &&
  one.numbers === other.numbers &&
  one.stems.size >= FEW_STEMS - 1 &&
  overlap(one, other) >= PARAPHRASE;

/** Other code in the same file is its next version, which contradicts nothing. */
function sameCode(a: ComparableFact, b: ComparableFact): FactRelation {
  const bare = (fact: ComparableFact): string => fact.content.replace(/\s+/g, ' ').trim();
  return bare(a) === bare(b) ? 'same' : 'different';
}
