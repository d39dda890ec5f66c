/** The second hop of a search: names in the best results that the question lacks lead to further results. */
import { byScore, type Candidate, type Ranked } from './ranking.js';

/** The best results, whose names are followed. */
const BEST = 5;
const MAX_NAMES = 4;
/** Share of the compared results: a name that more of them have leads nowhere. */
const COMMON = 0.15;
/** What a result with the first of the names gains. */
const WEIGHT = 0.05;
/** In terms: a longer text has many names by chance. */
const PIVOT_LENGTH = 15;

/** The names in a text by their codes. */
export interface NameCodes {
  readonly codes: Float64Array;
  /** How many of them, from the first, stand within a sentence. */
  readonly within: number;
}

/** A name by its code, and what it weighs in percent. Later pages reuse them: with another best result they would differ. */
export type Link = readonly [code: number, percent: number];

type NamesOf = (ranked: Ranked) => NameCodes | undefined;

/** `known` are the codes of the terms of the question and of the names of speakers. */
export function linksOf(ranked: readonly Ranked[], namesOf: NamesOf, known: ReadonlySet<number>): Link[] {
  const found = new Map<number, { score: number; results: number }>();
  for (const one of ranked.slice(0, BEST)) {
    const names = namesOf(one);
    for (let at = 0; names && at < names.within; at++) {
      const code = names.codes[at]!;
      if (known.has(code)) continue;
      const name = found.get(code);
      if (name) name.score += one.score;
      else found.set(code, { score: one.score, results: 0 });
    }
  }
  if (found.size === 0) return [];
  let results = 0;
  for (const one of ranked) {
    const names = namesOf(one);
    if (!names) continue;
    results++;
    for (const code of names.codes) {
      const name = found.get(code);
      if (name) name.results++;
    }
  }
  const most = Math.max(2, COMMON * results);
  const best = [...found]
    .filter(([, name]) => name.score > 0 && name.results >= 2 && name.results <= most)
    .map(([code, name]) => [code, name.score * Math.log(1 + results / name.results)] as const)
    .sort((a, b) => b[1] - a[1] || a[0] - b[0])
    .slice(0, MAX_NAMES);
  return best.map(([code, worth]) => [code, Math.round((100 * worth) / best[0]![1])]);
}

/** Adds to results what the names in them weigh, and ranks them anew. */
export function withLinks<C extends Candidate>(
  ranked: readonly Ranked<C>[],
  namesOf: NamesOf,
  links: readonly Link[],
): readonly Ranked<C>[] {
  if (links.length === 0) return ranked;
  const percents = new Map(links);
  return ranked
    .map((one) => {
      const names = namesOf(one);
      let percent = 0;
      for (const code of names?.codes ?? []) percent += percents.get(code) ?? 0;
      const share = percent / 100 / Math.max(1, one.candidate.length / PIVOT_LENGTH);
      return share > 0 ? one.plus(WEIGHT * share, 'linked') : one;
    })
    .sort(byScore);
}
