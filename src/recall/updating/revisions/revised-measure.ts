/** The value of one kind that differs between two statements. */
import { isWithin } from './change-words.js';
import type { ContentWord } from './content-words.js';
import { isNumbered, labelOf } from './labels.js';
import type { Measure } from './measures.js';
import { isExact, type Overlap } from './overlap.js';
import { clauseOf, type Reading } from './reading.js';

/** Of a number without a unit it is open what it counts. */
function isComparable(a: Measure, b: Measure): boolean {
  const isPrice = (x: Measure, y: Measure) => x.kind === 'amount' && x.unit === '' && y.kind === 'money';
  if (a.kind !== b.kind) return isPrice(a, b) || isPrice(b, a);
  return a.unit === b.unit || a.unit === '' || b.unit === '';
}

/** What two texts have in common so that their only values belong together, though other clauses have them. */
const FAR = 0.3;
const isOnlyOne = ({ measures }: Reading, { kind }: Measure): boolean =>
  measures.filter((one) => one.kind === kind).length === 1;

/** How much two values belong together: 0 if they measure different things. */
function kinship(own: Reading, known: Reading, [a, b]: readonly [Measure, Measure], overlap: Overlap): number {
  const exact = overlap.shared.filter(isExact);
  if (!isComparable(a, b)) return 0;
  const [label, other] = [labelOf(own, a), labelOf(known, b)];
  const isSame = label !== undefined && label.stem === other?.stem;
  const isNamed = (one: ContentWord | undefined) => one?.is_name === true;
  // "Postgres 16" differs from "Postgres 14", not from "14 days".
  if (!isSame && (isNumbered(label) || isNumbered(other))) return 0;
  if ((isNamed(label) && b.unit !== '') || (isNamed(other) && a.unit !== '')) return 0;
  const isKnown = (one: ContentWord | undefined) =>
    !isNamed(one) || exact.some(({ own: x, known: y }) => x.stem === one!.stem || y.stem === one!.stem);
  if (!isKnown(label) || !isKnown(other)) return 0;
  if (isSame && isNumbered(label) && !exact.some((one) => one.own.stem === label.stem)) return 0;
  const [in_own, in_known] = [clauseOf(own, a), clauseOf(known, b)];
  const near = exact.reduce((sum, one) => {
    if (isSame && isNumbered(label) && one.own.stem === label.stem) return sum;
    const places = (isWithin(one.own, [in_own]) ? 1 : 0) + (isWithin(one.known, [in_known]) ? 1 : 0);
    return sum + places * one.own.weight;
  }, 0);
  if (near === 0)
    return overlap.strength >= FAR && isOnlyOne(own, a) && isOnlyOne(known, b) && a.kind === b.kind ? FAR : 0;
  return near * (a.unit === b.unit && a.kind === b.kind ? 2 : 1) + (isSame ? 1 : 0);
}

/** The value that differs, in both texts. */
export function measureRevised(
  own: Reading,
  known: Reading,
  overlap: Overlap,
): readonly [Measure, Measure] | undefined {
  let best: readonly [Measure, Measure] | undefined;
  let most = 0;
  for (const a of own.measures.filter((one) => isWithin(one, own.stated))) {
    if (known.measures.some(({ kind, unit, value }) => kind === a.kind && unit === a.unit && value === a.value))
      continue;
    for (const b of known.measures) {
      const worth = kinship(own, known, [a, b], overlap);
      if (worth > most) [best, most] = [[a, b], worth];
    }
  }
  return best;
}
