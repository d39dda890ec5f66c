/** How a new statement relates to a known one: the same, another value of its slot, a contradiction, or unrelated. */
import { normalizedStatement, withoutNegation } from '../extraction/english/normalized-statement.js';
import { type Claim, type Claims, claimsIn } from './claims.js';
import { compareValues } from './values.js';

/** When a statement holds from. */
export interface Moment {
  readonly ms: number;
  /** Given with the statement, not the time at which it was stored. */
  readonly given: boolean;
  /** A day without a time. */
  readonly day: boolean;
}

export interface Statement extends Claims {
  readonly text: string;
  readonly speaker: string | null;
  readonly at: Moment;
  /** Equal for statements that say the same. */
  readonly said: string;
}

/** `replaces`: the new one has a newer value. `replaced`: the known one does. */
type Relation = 'same' | 'replaces' | 'replaced' | 'contradicts' | 'different';

export interface TextPart {
  readonly start: number;
  readonly end: number;
}

export interface Related {
  readonly relation: Relation;
  /** Position of the concerned value in the text of the known statement. */
  readonly part?: TextPart;
  /** The same in the new statement. */
  readonly own?: TextPart;
  /** Whether the known statement states nothing else; default: as the rules read it. */
  readonly whole?: boolean;
}

export function statementFrom(text: string, speaker: string | null, at: Moment): Statement {
  return { ...claimsIn(text, speaker), text, speaker, at, said: normalizedStatement(text).toLowerCase() };
}

const DIFFERENT: Related = { relation: 'different' };

type ClaimRelation = 'same' | 'replaces' | 'contradicts' | 'different';

function relateClaims(own: Claim, known: Claim): ClaimRelation {
  if (own.key !== known.key || known.tentative) return 'different';
  const compared = compareValues(own.value, known.value);
  const values = compared === 'unlike' && own.free ? 'other' : compared;
  if (own.negated !== known.negated) return values === 'same' && !own.tentative ? 'replaces' : 'different';
  if (values === 'same') return own.tentative ? 'different' : 'same';
  if (own.negated || values === 'unlike' || own.adds || known.adds) return 'different';
  const isNamed = own.replaced !== undefined && compareValues(own.replaced, known.value) === 'same';
  if (isNamed) return 'replaces';
  switch (own.kind) {
    case 'one':
      return 'replaces';
    case 'fixed':
      return own.corrects ? 'replaces' : 'contradicts';
    case 'named':
      return own.changes && own.replaced === undefined ? 'replaces' : 'different';
    default:
      return 'different';
  }
}

const DAY_MS = 86_400_000;
const dayOf = (ms: number): number => Math.floor(ms / DAY_MS);

/** Of two statements, the one told later comes first. 0: neither is newer. */
function orderOf(own: Moment, known: Moment): number {
  // The clocks of two servers may differ.
  if (!own.given && !known.given) return 1;
  const byDay = own.day || known.day;
  const order = byDay ? dayOf(own.ms) - dayOf(known.ms) : own.ms - known.ms;
  if (order !== 0) return order;
  return own.given && known.given ? 0 : 1;
}

/** Two people who disagree have no order between them, unless one tells of a change. */
const isDisputed = (own: Statement, known: Statement): boolean =>
  own.speaker !== null && known.speaker !== null && own.speaker.toLowerCase() !== known.speaker.toLowerCase();

const partOf = ({ start, end }: Claim): TextPart => ({ start, end });

function bySlot(own: Statement, known: Statement): Related {
  let same: Related | undefined;
  for (const one of own.claims)
    for (const other of known.claims) {
      const relation = relateClaims(one, other);
      if (relation === 'different') continue;
      const related = { part: partOf(other), own: partOf(one) };
      if (relation === 'same') same ??= { relation, ...related };
      else if (relation === 'contradicts') return { relation, ...related };
      else return { relation: changed(own, known, one), ...related };
    }
  return same ?? DIFFERENT;
}

function changed(own: Statement, known: Statement, claim: Claim): Relation {
  const order = orderOf(own.at, known.at);
  if (order < 0) return 'replaced';
  const isTold = claim.changes || claim.corrects;
  if (order === 0 && !isTold) return 'contradicts';
  return isDisputed(own, known) && !isTold ? 'contradicts' : 'replaces';
}

/** Of two statements that exclude each other, by the times at which they happened. */
export function relationByOrder(own: Statement, known: Statement): Relation {
  const order = orderOf(own.at, known.at);
  return order < 0 ? 'replaced' : order > 0 ? 'replaces' : 'contradicts';
}

/** Whether "I" in both is the same person. */
const ofOneVoice = (own: Statement, known: Statement): boolean =>
  (own.speaker ?? '').toLowerCase() === (known.speaker ?? '').toLowerCase();

export function relate(own: Statement, known: Statement): Related {
  const related = bySlot(own, known);
  if (related.relation !== 'different') {
    // One value of several statements is not the same as all of them.
    return related.relation === 'same' && !(own.whole && known.whole) && own.said !== known.said ? DIFFERENT : related;
  }
  if (own.said === '' || !ofOneVoice(own, known)) return DIFFERENT;
  if (own.said === known.said) return { relation: 'same' };
  const isDenied = own.said !== known.said && withoutNegation(own.said) === withoutNegation(known.said);
  return isDenied && own.claims.length === 0 && known.claims.length === 0 ? { relation: 'contradicts' } : DIFFERENT;
}
