/** Ranks candidates by the terms that they and the turns around them share with a question. */
import { isRole, MAX_FREQUENCY, stem } from '../../text/index.js';
import { type Boost, type Boosted, type BoostName, boostsFor, type EachBoost, spreadAfter } from './boosts.js';
import type { Evidence } from './confidence.js';
import type { Likeness } from './meaning.js';
import { type Question, wordsNaming } from './question.js';
import { RELATED_WEIGHT } from './related-terms.js';

export interface Candidate extends Boosted {
  /** Rises with every document. */
  readonly doc_no: number;
  /** Null for a document that is no turn. */
  readonly scope_id: string | null;
  readonly position: number | null;
  /** Frequency of each term of the question. */
  readonly tf: readonly number[];
  /** Summed frequency of the terms related to each term. */
  readonly related_tf?: readonly number[];
  /** A neighbour that contributes its terms and is no result. */
  readonly context_only?: boolean;
  /** A result even without a term of the question. */
  readonly is_guess?: boolean;
}

interface Statistics {
  readonly docs: number;
  /** Document frequency of each term of the question. */
  readonly df: readonly number[];
}

/** The ranking data of one scope. */
interface Spreads {
  readonly question: Question;
  /** The weight of each term, all together at most 1. */
  readonly shares: readonly number[];
  /** Frequencies by candidate, for each term. */
  readonly byTerm: readonly (Float64Array | undefined)[];
  readonly eachBoost: EachBoost;
}

interface More {
  readonly spread?: Boost | undefined;
  readonly likeness?: Likeness | undefined;
  /** What was added to the score afterwards, as factors. */
  readonly gains?: readonly Boost[];
  readonly linked?: number;
}

/** A candidate with its score. The reasons are computed on demand: hundreds are ranked, few are shown. */
export class Ranked<C extends Candidate = Candidate> implements Evidence {
  readonly candidate: C;
  readonly score: number;
  /** The part of the score that it has for a link alone, which is no evidence that it answers. */
  readonly linked: number;
  readonly #spreads: Spreads;
  readonly #index: number;
  readonly #spread: Boost | undefined;
  readonly #likeness: Likeness | undefined;
  readonly #gains: readonly Boost[];

  constructor(candidate: C, score: number, spreads: Spreads, index: number, more: More = {}) {
    this.candidate = candidate;
    this.score = score;
    this.#spreads = spreads;
    this.#index = index;
    this.#spread = more.spread;
    this.#likeness = more.likeness;
    this.#gains = more.gains ?? [];
    this.linked = more.linked ?? 0;
  }

  get covered(): number {
    const { shares } = this.#spreads;
    const like = this.#likeness?.terms;
    const parts = shares.map((share, at) => share * (this.candidate.tf[at]! > 0 ? 1 : Math.min(1, like?.[at] ?? 0)));
    return (1 + IN_SCOPE) * parts.reduce((sum, part) => sum + part, 0);
  }

  get likeness(): number | undefined {
    return this.#likeness?.whole;
  }

  get doc_no(): number {
    return this.candidate.doc_no;
  }

  get matched(): string[] {
    return this.#asked((at) => this.candidate.tf[at]! > 0);
  }

  /** Words that only its neighbours have, or for which it has only related terms. */
  get nearby(): string[] {
    return this.#asked((at) => !(this.candidate.tf[at]! > 0));
  }

  get boosts(): Boost[] {
    const boosts: Boost[] = [];
    this.#spreads.eachBoost(this.candidate, (name, factor) => boosts.push({ name, factor }));
    return this.#spread ? [...boosts, this.#spread, ...this.#gains] : [...boosts, ...this.#gains];
  }

  /** The same, with likeness standing for the terms that it lacks. */
  withLikeness({ terms, whole, age }: Likeness): Ranked<C> {
    const { shares, byTerm, eachBoost } = this.#spreads;
    const { candidate } = this;
    const isTurn = candidate.scope_id !== null;
    const weight = isTurn ? LIKE_TERM_IN_TURN : LIKE_TERM;
    const part = (at: number): number => {
      const frequency = byTerm[at]?.[this.#index] ?? 0;
      const like = candidate.tf[at]! > 0 ? 0 : weight * terms[at]!;
      return frequency + like > 0 || byTerm[at] ? shares[at]! * (saturated(frequency + like) + IN_SCOPE) : 0;
    };
    let score = 0;
    for (let at = 0; at < shares.length; at++) score += part(at);
    score = Math.max(score, bestSide(this.#spreads, part));
    eachBoost(candidate, (_, factor) => {
      score *= factor;
    });
    score *= this.#spread?.factor ?? 1;
    score += ((isTurn ? LIKE_WHOLE_IN_TURN : LIKE_WHOLE) * whole) / Math.max(1, shares.length) ** WHOLE_POWER;
    if (!isTurn) score += NEWEST * (1 - age);
    const more = { spread: this.#spread, likeness: { terms, whole, age } };
    return new Ranked(candidate, Math.max(0, score), this.#spreads, this.#index, more);
  }

  times(spread: Boost): Ranked<C> {
    return new Ranked(this.candidate, this.score * spread.factor, this.#spreads, this.#index, { spread });
  }

  /** The same, with a higher score. */
  plus(gain: number, name: BoostName): Ranked<C> {
    const score = this.score + gain;
    const gains = this.score > 0 ? [...this.#gains, { name, factor: score / this.score }] : this.#gains;
    const linked = this.linked + (name === 'linked' ? gain : 0);
    const more = { spread: this.#spread, likeness: this.#likeness, gains, linked };
    return new Ranked(this.candidate, score, this.#spreads, this.#index, more);
  }

  #asked(isMeant: (at: number) => boolean): string[] {
    const { question, byTerm } = this.#spreads;
    return question.asked.filter((_, at) => (byTerm[at]?.[this.#index] ?? 0) > 0 && isMeant(at));
  }
}

/** The terms of a longer text count less. */
const PIVOT_LENGTH = 30;
/** Weights of the terms of the turns before, nearest first, and of those after. */
const BEFORE = [0.24, 0.14, 0.06];
const AFTER = [0.14, 0.08, 0.05];
/** How fast further occurrences of a term stop counting. */
const SATURATION = 0.5;
/** Share of a term that occurs anywhere in the scope. */
const IN_SCOPE = 0.2;
/** Weights of words like a missing term, and of the whole text; turns also have their neighbours' terms. */
const LIKE_TERM = 0.35;
const LIKE_TERM_IN_TURN = 0.3;
const LIKE_WHOLE = 0.44;
const LIKE_WHOLE_IN_TURN = 0.5;
/** Every term of a longer question weighs less. */
const WHOLE_POWER = 0.38;
/** For the newest memory, against the oldest: of equals the newer holds. */
const NEWEST = 0.01;
/** For a term that names a speaker: the boost `speaker` counts it already. */
const SPEAKER_TERM_WEIGHT = 0.1;

/** Inverse document frequency times the weight in the question. */
export function termWeights(question: Question, { docs, df }: Statistics): number[] {
  return question.terms.map((_, at) => {
    const found = Math.max(0, df[at] ?? 0);
    const rarity = Math.log(1 + (Math.max(docs, found) - found + 0.5) / (found + 0.5));
    return rarity * (question.weights[at] ?? 1);
  });
}

/** Groups candidates by scope, sorted by position; each candidate without a scope forms its own group. */
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

/** The frequency of a term in each candidate of a scope, with shares of its neighbours; undefined if none has it. */
function spreadOf(scope: readonly Candidate[], at: number): Float64Array | undefined {
  let spread: Float64Array | undefined;
  for (let index = 0; index < scope.length; index++) {
    const candidate = scope[index]!;
    const kindred = RELATED_WEIGHT * (candidate.related_tf?.[at] ?? 0);
    const count = Math.min((candidate.tf[at] ?? 0) + kindred, MAX_FREQUENCY);
    if (!(count > 0)) continue;
    spread ??= new Float64Array(scope.length);
    const share = count / Math.max(1, candidate.length / PIVOT_LENGTH);
    spread[index]! += share;
    lend(scope, index, 1, share, spread);
    lend(scope, index, -1, share, spread);
  }
  return spread;
}

/** Share of its score that a text about one side of a question has, with 1 for a text about both. */
const SIDE = 0.6;

/** The score of the side that a text is about most, ranked as a question of its own. */
function bestSide({ question: { sides }, shares }: Spreads, part: (at: number) => number): number {
  let best = 0;
  for (const side of sides) {
    let found = 0;
    let whole = 0;
    for (const at of side) {
      found += part(at);
      whole += shares[at]! * (1 + IN_SCOPE);
    }
    if (whole > 0) best = Math.max(best, (SIDE * found) / whole);
  }
  return best;
}

const saturated = (frequency: number): number => (frequency * (1 + SATURATION)) / (frequency + SATURATION);

/** Adds a share to the turns after (1) or before (-1) this one, by their distance in the scope. */
function lend(scope: readonly Candidate[], from: number, direction: 1 | -1, share: number, spread: Float64Array): void {
  const shares = direction === 1 ? BEFORE : AFTER;
  const origin = scope[from]!.position!;
  for (let step = 1; step <= shares.length; step++) {
    const index = from + step * direction;
    if (index < 0 || index >= scope.length) return;
    const part = shares[Math.abs(scope[index]!.position! - origin) - 1];
    if (part !== undefined) spread[index]! += part * share;
  }
}

/** For each speaker, the terms by which the question names them. */
function speakersNamed(question: Question, candidates: readonly Candidate[]): Map<string, string[]> {
  const speakers = new Map<string, string[]>();
  for (const { speaker } of candidates)
    if (speaker !== null && !speakers.has(speaker))
      speakers.set(speaker, isRole(speaker) ? [] : wordsNaming(question, speaker).map(stem));
  return speakers;
}

export const byScore = <C extends Candidate>(a: Ranked<C>, b: Ranked<C>): number =>
  b.score - a.score || b.candidate.doc_no - a.candidate.doc_no;

/** For a broad question: each further result of a scope counts less. */
function spreadOverScopes<C extends Candidate>(ranked: readonly Ranked<C>[]): Ranked<C>[] {
  const seen = new Map<string, number>();
  return ranked.map((result) => {
    const { scope_id } = result.candidate;
    const better = scope_id === null ? 0 : (seen.get(scope_id) ?? 0);
    if (scope_id !== null) seen.set(scope_id, better + 1);
    return better === 0 ? result : result.times(spreadAfter(better));
  });
}

/**
 * Best first, equals newest first. A text with every word of the question once scores about 1. Candidates without a
 * term of the question in themselves or in the three turns on either side are left out.
 */
export function rank<C extends Candidate>(
  question: Question,
  candidates: readonly C[],
  statistics: Statistics,
): Ranked<C>[] {
  const named = speakersNamed(question, candidates);
  const naming = new Set([...named.values()].flat());
  const weights = termWeights(question, statistics).map((weight, at) =>
    naming.has(question.terms[at]!) ? weight * SPEAKER_TERM_WEIGHT : weight,
  );
  const whole = weights.reduce((sum, weight) => sum + weight, 0) * (1 + IN_SCOPE) || 1;
  const shares = weights.map((weight) => weight / whole);
  const eachBoost = boostsFor(question, (speaker) => named.get(speaker)!.length > 0);
  const ranked: Ranked<C>[] = [];
  let score = 0;
  const multiply = (_: BoostName, factor: number) => {
    score *= factor;
  };
  for (const scope of inScopes(candidates)) {
    const byTerm = weights.map((_, at) => spreadOf(scope, at));
    // Most scopes have only a few of the terms.
    const there = shares.map((_, at) => at).filter((at) => byTerm[at] !== undefined);
    if (there.length === 0 && !scope.some(({ is_guess }) => is_guess)) continue;
    const spreads: Spreads = { question, shares, byTerm, eachBoost };
    for (let index = 0; index < scope.length; index++) {
      const candidate = scope[index]!;
      if (candidate.context_only === true) continue;
      score = 0;
      let isNear = false;
      for (const at of there) {
        const frequency = byTerm[at]![index]!;
        score += shares[at]! * (saturated(frequency) + IN_SCOPE);
        if (frequency > 0) isNear = true;
      }
      if (!isNear && !candidate.is_guess) continue;
      if (question.sides.length > 0) {
        const part = (at: number) => (byTerm[at] ? shares[at]! * (saturated(byTerm[at][index]!) + IN_SCOPE) : 0);
        score = Math.max(score, bestSide(spreads, part));
      }
      eachBoost(candidate, multiply);
      ranked.push(new Ranked(candidate, score, spreads, index));
    }
  }
  ranked.sort(byScore);
  return question.asks.broad ? spreadOverScopes(ranked).sort(byScore) : ranked;
}
