/** An extractive summary: the most informative sentences, none twice, in order, within a token budget. */
import type { CooperativeYield, TokenCounter } from '../../kernel/index.js';
import { agree, overlap } from '../extraction/english/statements.js';
import { type Candidate, type CandidatePart, candidatesOf } from './candidates.js';
import { type SentenceGraph, sentenceGraph } from './sentence-graph.js';
import type { TextSource } from './sources.js';
import { type SummaryWriter, summaryWriter } from './summary-text.js';

interface SummarySettings {
  readonly max_tokens: number;
  readonly count: TokenCounter;
  readonly maybe_yield: CooperativeYield;
}

interface ExtractiveSummary {
  /** At most max_tokens; empty if no sentence fits. */
  readonly text: string;
  /** Sources of the chosen sentences and of their duplicates, each with its whole group, in order. */
  readonly source_ids: readonly string[];
  /** The chosen sentences, verbatim. */
  readonly sentences: readonly { readonly source: number; readonly text: string }[];
}

/** Sentences that are compared with each other. */
const MAX_COMPARED = 512;
/** Further sentences, used if the budget is large. */
const MAX_REST = 1024;
const SORTED_AT_ONCE = 1024;
/** Overlap at which two sentences say the same. */
const DUPLICATE = 0.8;
/** Weight of the similarity to chosen sentences. */
const NOVELTY = 0.7;
/** Exponent of the length: a long sentence has more of everything, and is worth less per character. */
const LENGTH_PRICE = 0.3;
/** Labels and spaces are estimated, so an exact count may leave room for more, or too little. */
const FILLINGS = 3;
/** After so many sentences that do not fit, hardly any other does. */
const MAX_MISSES = 20;

export async function extractiveSummary(
  sources: readonly TextSource[],
  settings: SummarySettings,
): Promise<ExtractiveSummary> {
  const all = await candidatesOf(sources, settings.maybe_yield);
  const pool = await rankedPool(all, settings.maybe_yield);
  const writer = summaryWriter(sources);
  const chosen = await choose(pool, writer, settings);
  const parts = partsOf(chosen);
  const cited = new Set([...parts.map(({ source }) => source), ...chosen.flatMap(({ echoes }) => echoes)]);
  return {
    text: writer.text(parts),
    source_ids: idsWithGroups(sources, cited),
    sentences: parts.map(({ source, text }) => ({ source, text })),
  };
}

interface Ranked {
  readonly candidate: Candidate;
  readonly score: number;
}

interface Pool {
  /** The best sentences, ranked also by their centrality. */
  readonly best: readonly Ranked[];
  readonly graph: SentenceGraph;
  /** The next best, in order. */
  readonly rest: readonly Ranked[];
}

async function rankedPool(all: readonly Candidate[], maybe_yield: CooperativeYield): Promise<Pool> {
  const weights = await stemWeights(all, maybe_yield);
  const centre = new Map<string, number>();
  for (const { statement } of all) {
    await maybe_yield();
    for (const stem of statement.stems) centre.set(stem, (centre.get(stem) ?? 0) + weights.get(stem)!);
  }
  let scored: Ranked[] = [];
  for (let from = 0; from < all.length; from += SORTED_AT_ONCE) {
    await maybe_yield();
    for (const candidate of all.slice(from, from + SORTED_AT_ONCE))
      scored.push({ candidate, score: candidate.weight * nearness(candidate, centre, weights) });
    scored.sort((a, b) => b.score - a.score || a.candidate.parts[0]!.order - b.candidate.parts[0]!.order);
    scored = scored.slice(0, MAX_COMPARED + MAX_REST);
  }
  const best = scored.slice(0, MAX_COMPARED);
  const stems = best.map(({ candidate }) => candidate.statement.stems);
  const graph = sentenceGraph(stems, weights);
  const central = await graph.centralities(maybe_yield);
  return {
    best: best.map(({ candidate, score }, at) => ({ candidate, score: score * (0.5 + 0.5 * central[at]!) })),
    graph,
    rest: scored.slice(MAX_COMPARED),
  };
}

/** Inverse document frequency of each stem. */
async function stemWeights(all: readonly Candidate[], maybe_yield: CooperativeYield): Promise<Map<string, number>> {
  const counts = new Map<string, number>();
  for (const { statement } of all) {
    await maybe_yield();
    for (const stem of statement.stems) counts.set(stem, (counts.get(stem) ?? 0) + 1);
  }
  for (const [stem, count] of counts) counts.set(stem, Math.log(1 + all.length / count));
  return counts;
}

/** The cosine to the sum of all sentences, without the length of that sum, which is the same for each. */
function nearness(
  { statement }: Candidate,
  centre: ReadonlyMap<string, number>,
  weights: ReadonlyMap<string, number>,
): number {
  let product = 0;
  let square = 0;
  for (const stem of statement.stems) {
    const weight = weights.get(stem)!;
    product += weight * centre.get(stem)!;
    square += weight * weight;
  }
  return square === 0 ? 0 : product / Math.sqrt(square);
}

interface Chosen {
  readonly candidate: Candidate;
  /** Sources that say the same. */
  readonly echoes: number[];
}

const [OPEN, TAKEN, DUPLICATED, TOO_LONG] = [0, 1, 2, 3];

/** Chooses the best sentences that fit into the budget. */
async function choose(pool: Pool, writer: SummaryWriter, settings: SummarySettings): Promise<Chosen[]> {
  const { best, graph, rest } = pool;
  const { max_tokens, count, maybe_yield } = settings;
  const chosen: Chosen[] = [];
  let used = 0;
  /** For each of the best: its highest similarity to a chosen one, and its state. */
  const similarity = new Float64Array(best.length);
  const states = new Uint8Array(best.length);
  let nextOfRest = 0;
  for (let filling = 0; filling < FILLINGS; filling++) {
    const added = await fill();
    await trim();
    if (added === 0) break;
  }
  return chosen;

  /** Adds the best sentences that fit, and returns how many. */
  async function fill(): Promise<number> {
    let added = 0;
    for (const [at, state] of states.entries()) if (state === TOO_LONG) states[at] = OPEN;
    for (let at = bestOpen(); at >= 0; at = bestOpen()) {
      states[at] = await take(best[at]!.candidate);
      if (states[at] !== TAKEN) continue;
      added += 1;
      graph.similarities(at).forEach((value, other) => {
        similarity[other] = Math.max(similarity[other]!, value);
      });
    }
    for (let misses = 0; nextOfRest < rest.length && misses < MAX_MISSES; nextOfRest++)
      if ((await take(rest[nextOfRest]!.candidate)) === TAKEN) added += 1;
      else misses += 1;
    return added;
  }

  function bestOpen(): number {
    let [found, most] = [-1, 0];
    for (const [at, { candidate, score }] of best.entries()) {
      if (states[at] !== OPEN) continue;
      const length = candidate.parts.reduce((sum, { text }) => sum + text.length, 0);
      const gain = (score * (1 - NOVELTY * similarity[at]!)) / length ** LENGTH_PRICE;
      if (gain > most) [found, most] = [at, gain];
    }
    return found;
  }

  async function take(candidate: Candidate): Promise<number> {
    await maybe_yield();
    const twin = chosen.find(({ candidate: other }) => isDuplicate(candidate, other));
    if (twin) {
      twin.echoes.push(candidate.source);
      return DUPLICATED;
    }
    let tokens = 0;
    for (const part of candidate.parts) tokens += await count(writer.alone(part));
    if (used + tokens > max_tokens) return TOO_LONG;
    used += tokens;
    chosen.push({ candidate, echoes: [] });
    return TAKEN;
  }

  /** Drops the last chosen, which are the least, until the whole text fits. */
  async function trim(): Promise<void> {
    used = await count(writer.text(partsOf(chosen)));
    while (used > max_tokens && chosen.length > 0) {
      chosen.pop();
      used = await count(writer.text(partsOf(chosen)));
    }
  }
}

const isDuplicate = (a: Candidate, b: Candidate): boolean =>
  agree(a.statement, b.statement) && overlap(a.statement, b.statement) >= DUPLICATE;

/** All sentences in order; a question shared by two pairs stands once. */
function partsOf(chosen: readonly Chosen[]): CandidatePart[] {
  const parts = new Map(chosen.flatMap(({ candidate }) => candidate.parts.map((part) => [part.order, part] as const)));
  return [...parts.values()].sort((a, b) => a.order - b.order);
}

function idsWithGroups(sources: readonly TextSource[], cited: ReadonlySet<number>): string[] {
  const groups = new Set([...cited].map((at) => sources[at]!.group).filter((group) => !!group));
  const whole = sources.filter(({ group }, at) => cited.has(at) || (!!group && groups.has(group)));
  return [...new Set(whole.map(({ id }) => id))];
}
