/** How well texts answer a question: by the terms they and the turns around them share with it, who says it, and when. */
import { namesSpeaker, type Question } from './question.js';
import { isWithin } from './question-dates.js';
import { textFlags } from './search-text.js';

export interface Candidate {
  /** Rises with every document: of equals the newer comes first. */
  readonly doc_no: number;
  /** Where it stands among its neighbours; null for what has none. */
  readonly scope_id: string | null;
  readonly position: number | null;
  /** user, assistant, system or tool, for a turn. */
  readonly role: string | null;
  /** Who said it, by name. */
  readonly speaker: string | null;
  /** In ms. */
  readonly occurred_at: number | null;
  readonly length: number;
  /** Of textFlags. */
  readonly flags: number;
  /** How often it has each term of the question, in their order. */
  readonly tf: readonly number[];
  /** Given only as a neighbour: it lends its terms, and is no result. */
  readonly context_only?: boolean;
}

export interface Statistics {
  /** How many documents there are, about. */
  readonly docs: number;
  /** In how many of them each term of the question is, in their order. */
  readonly df: readonly number[];
}

export interface Boost {
  /** similar: by its vector (domain/fusion.ts); the others are found here. */
  readonly name: 'speaker' | 'role' | 'date' | 'temporal' | 'short_question' | 'similar';
  readonly factor: number;
}

export interface Ranked<C> {
  readonly candidate: C;
  readonly score: number;
  /** The terms of the question that it has itself. */
  readonly matched: readonly string[];
  readonly boosts: readonly Boost[];
}

/** Up to so many terms a text counts in full: beyond, each counts less. */
const PIVOT_LENGTH = 30;
/** What a neighbour's terms count: of the turns before, nearest first, and of those after. */
const BEFORE = [0.24, 0.14, 0.06];
const AFTER = [0.096, 0.06, 0.036];
/** How soon a further occurrence of a term stops to matter. */
const SATURATION = 0.5;
/** For a term that is said anywhere in the same scope. */
const IN_SCOPE = 0.2;

const SPEAKER_FACTOR = 1.8;
/** Of what a user did not say, where it is not said by name. */
const OTHER_ROLE_FACTOR = 1 / 3;
const DATE_FACTOR = 1.3;
const TEMPORAL_FACTOR = 1.1;
const SHORT_QUESTION_FACTOR = 0.7;

/** What the match of each term is worth: the rarer, the more. */
export function termWeights(question: Question, { docs, df }: Statistics): number[] {
  return question.terms.map((_, at) => {
    const found = Math.max(0, df[at] ?? 0);
    const rarity = Math.log(1 + (Math.max(docs, found) - found + 0.5) / (found + 0.5));
    return rarity * (question.weights[at] ?? 1);
  });
}

/** Candidates of one scope, by their position; what has no scope stands alone. */
function inScopes<C extends Candidate>(candidates: readonly C[]): C[][] {
  const scopes = new Map<string, C[]>();
  const alone: C[][] = [];
  for (const candidate of candidates) {
    const { scope_id, position } = candidate;
    if (scope_id === null || position === null) alone.push([candidate]);
    else {
      const scope = scopes.get(scope_id);
      if (scope === undefined) scopes.set(scope_id, [candidate]);
      else scope.push(candidate);
    }
  }
  for (const scope of scopes.values()) scope.sort((a, b) => a.position! - b.position!);
  return [...scopes.values(), ...alone];
}

/** Adds to each of a scope what one term is worth to it, its neighbours' use of it included. */
function addTerm(scope: readonly Candidate[], at: number, weight: number, scores: Float64Array): void {
  const spread = new Float64Array(scope.length);
  let found = false;
  scope.forEach((candidate, index) => {
    const count = candidate.tf[at] ?? 0;
    if (!(count > 0)) return;
    found = true;
    const share = count / Math.max(1, candidate.length / PIVOT_LENGTH);
    spread[index]! += share;
    lend(scope, index, 1, BEFORE, share, spread);
    lend(scope, index, -1, AFTER, share, spread);
  });
  if (!found) return;
  for (let index = 0; index < scope.length; index++) {
    const frequency = spread[index]!;
    scores[index]! += weight * ((frequency * (1 + SATURATION)) / (frequency + SATURATION) + IN_SCOPE);
  }
}

/** To the turns that follow (1) or precede (-1) this one, by how far they are in the scope. */
function lend(
  scope: readonly Candidate[],
  from: number,
  direction: 1 | -1,
  shares: readonly number[],
  share: number,
  spread: Float64Array,
): void {
  const origin = scope[from]!.position!;
  for (let index = from + direction; index >= 0 && index < scope.length; index += direction) {
    const distance = (scope[index]!.position! - origin) * direction;
    if (distance > shares.length) return;
    if (distance > 0) spread[index]! += shares[distance - 1]! * share;
  }
}

const ROLES: ReadonlySet<string> = new Set(['user', 'assistant', 'system', 'tool']);

/** The factors for one candidate; whether a speaker is named is asked once for each. */
function boostsOf(question: Question, candidate: Candidate, named: Map<string, boolean>): Boost[] {
  const boosts: Boost[] = [];
  const { speaker, role, occurred_at, flags } = candidate;
  if (speaker !== null && !ROLES.has(speaker.toLowerCase())) {
    let isNamed = named.get(speaker);
    if (isNamed === undefined) named.set(speaker, (isNamed = namesSpeaker(question, speaker)));
    if (isNamed) boosts.push({ name: 'speaker', factor: SPEAKER_FACTOR });
  } else if (role !== null && role !== 'user') boosts.push({ name: 'role', factor: OTHER_ROLE_FACTOR });
  if (occurred_at !== null && question.dates.some((mention) => isWithin(mention, occurred_at)))
    boosts.push({ name: 'date', factor: DATE_FACTOR });
  if (question.asks_when && (flags & textFlags.TEMPORAL) !== 0)
    boosts.push({ name: 'temporal', factor: TEMPORAL_FACTOR });
  if ((flags & textFlags.SHORT_QUESTION) !== 0)
    boosts.push({ name: 'short_question', factor: SHORT_QUESTION_FACTOR });
  return boosts;
}

/** Best first; of equals the newer. Candidates that share no term, nor have a neighbour that does, are left out. */
export function rank<C extends Candidate>(
  question: Question,
  candidates: readonly C[],
  statistics: Statistics,
): Ranked<C>[] {
  const weights = termWeights(question, statistics);
  const named = new Map<string, boolean>();
  const ranked: Ranked<C>[] = [];
  for (const scope of inScopes(candidates)) {
    const scores = new Float64Array(scope.length);
    weights.forEach((weight, at) => {
      addTerm(scope, at, weight, scores);
    });
    scope.forEach((candidate, index) => {
      if (candidate.context_only === true || !(scores[index]! > 0)) return;
      const boosts = boostsOf(question, candidate, named);
      const score = boosts.reduce((product, { factor }) => product * factor, scores[index]!);
      const matched = question.terms.filter((_, at) => (candidate.tf[at] ?? 0) > 0);
      ranked.push({ candidate, score, matched, boosts });
    });
  }
  return ranked.sort((a, b) => b.score - a.score || b.candidate.doc_no - a.candidate.doc_no);
}
