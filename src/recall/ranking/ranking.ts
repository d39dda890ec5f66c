/** How well texts answer a question: by the terms that they and the turns around them share with it. */
import { isRole, MAX_FREQUENCY, stem } from '../../text/index.js';
import { type Boost, type Boosted, type BoostName, boostsFor, type EachBoost, spreadAfter } from './boosts.js';
import { type Question, wordsNaming } from './question.js';
import { RELATED_WEIGHT } from './related-terms.js';

export interface Candidate extends Boosted {
  /** Rises with every document: of equals the newer comes first. */
  readonly doc_no: number;
  /** Where it stands among its neighbours; null for what has none. */
  readonly scope_id: string | null;
  readonly position: number | null;
  /** How often it has each term of the question, in their order. */
  readonly tf: readonly number[];
  /** How often it has those that are related to each, together. */
  readonly related_tf?: readonly number[];
  /** Given only as a neighbour: it lends its terms, and is no result. */
  readonly context_only?: boolean;
}

export interface Statistics {
  /** How many documents there are, about. */
  readonly docs: number;
  /** In how many of them each term of the question is, in their order. */
  readonly df: readonly number[];
}

/** What the candidates of one scope are ranked by: how often each has each term of the question, by their places. */
interface Spreads {
  readonly question: Question;
  readonly byTerm: readonly (Float64Array | undefined)[];
  readonly eachBoost: EachBoost;
}

/** A candidate with its score. Why it has it is worked out when it is asked for: hundreds are ranked, and few are shown. */
export class Ranked<C extends Candidate = Candidate> {
  readonly candidate: C;
  readonly score: number;
  readonly #spreads: Spreads;
  readonly #index: number;
  readonly #spread: Boost | undefined;

  constructor(candidate: C, score: number, spreads: Spreads, index: number, spread?: Boost) {
    this.candidate = candidate;
    this.score = score;
    this.#spreads = spreads;
    this.#index = index;
    this.#spread = spread;
  }

  get doc_no(): number {
    return this.candidate.doc_no;
  }

  /** The words of the question that it has itself, in any form. */
  get matched(): string[] {
    return this.#asked((at) => this.candidate.tf[at]! > 0);
  }

  /** Those that only its neighbours have, or for which there is only something of their kind. */
  get nearby(): string[] {
    return this.#asked((at) => !(this.candidate.tf[at]! > 0));
  }

  get boosts(): Boost[] {
    const boosts: Boost[] = [];
    this.#spreads.eachBoost(this.candidate, (name, factor) => boosts.push({ name, factor }));
    return this.#spread ? [...boosts, this.#spread] : boosts;
  }

  times(spread: Boost): Ranked<C> {
    return new Ranked(this.candidate, this.score * spread.factor, this.#spreads, this.#index, spread);
  }

  #asked(isMeant: (at: number) => boolean): string[] {
    const { question, byTerm } = this.#spreads;
    return question.asked.filter((_, at) => (byTerm[at]?.[this.#index] ?? 0) > 0 && isMeant(at));
  }
}

/** Up to so many terms a text counts in full: beyond, each counts less. */
const PIVOT_LENGTH = 30;
/** What a neighbour's terms count: of the turns before, nearest first, and of those after. */
const BEFORE = [0.24, 0.14, 0.06];
const AFTER = [0.14, 0.08, 0.05];
/** How soon a further occurrence of a term stops to matter. */
const SATURATION = 0.5;
/** For a term that is said anywhere in the same scope. */
const IN_SCOPE = 0.2;
/** Of the term that names a speaker: the speaker's boost says it already. */
const SPEAKER_TERM_WEIGHT = 0.1;

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

/** How often each of a scope has a term, its neighbours' use of it included; undefined where none has it. */
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
    lend(scope, index, 1, BEFORE, share, spread);
    lend(scope, index, -1, AFTER, share, spread);
  }
  return spread;
}

/** What a term counts, by how often it is there. */
const saturated = (frequency: number): number => (frequency * (1 + SATURATION)) / (frequency + SATURATION);

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
  for (let step = 1; step <= shares.length; step++) {
    const index = from + step * direction;
    if (index < 0 || index >= scope.length) return;
    const part = shares[Math.abs(scope[index]!.position! - origin) - 1];
    if (part !== undefined) spread[index]! += part * share;
  }
}

/** By what terms the question names each speaker; of those it does not name, by none. */
function speakersNamed(question: Question, candidates: readonly Candidate[]): Map<string, string[]> {
  const speakers = new Map<string, string[]>();
  for (const { speaker } of candidates)
    if (speaker !== null && !speakers.has(speaker))
      speakers.set(speaker, isRole(speaker) ? [] : wordsNaming(question, speaker).map(stem));
  return speakers;
}

const byScore = <C extends Candidate>(a: Ranked<C>, b: Ranked<C>): number =>
  b.score - a.score || b.candidate.doc_no - a.candidate.doc_no;

/** For a question that runs through many scopes: each further result of one counts less. */
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
 * Best first; of equals the newer. A score of 1 is about that of a text with all the words of the question, each once.
 * What has no term of it, nor stands within three of a candidate that has one, is left out.
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
  const whole = weights.reduce((sum, weight) => sum + weight, 0) * (1 + IN_SCOPE);
  const shares = weights.map((weight) => weight / whole);
  const eachBoost = boostsFor(question, (speaker) => named.get(speaker)!.length > 0);
  const ranked: Ranked<C>[] = [];
  let score = 0;
  const multiply = (_: BoostName, factor: number) => {
    score *= factor;
  };
  for (const scope of inScopes(candidates)) {
    const byTerm = weights.map((_, at) => spreadOf(scope, at));
    // Most scopes have few of the terms.
    const there = shares.map((_, at) => at).filter((at) => byTerm[at] !== undefined);
    if (there.length === 0) continue;
    const spreads: Spreads = { question, byTerm, eachBoost };
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
      if (!isNear) continue;
      eachBoost(candidate, multiply);
      ranked.push(new Ranked(candidate, score, spreads, index));
    }
  }
  ranked.sort(byScore);
  return question.asks.broad ? spreadOverScopes(ranked).sort(byScore) : ranked;
}
