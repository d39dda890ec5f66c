/** A summary without a model: the sentences that say most, none of them twice, in their order, within a budget of tokens. */
import type { GiveWay, TokenCounter } from '../../kernel/index.js';
import { agree, overlap } from '../extraction/english/statements.js';
import { type Candidate, type CandidatePart, candidatesOf } from './candidates.js';
import { SentenceGraph } from './sentence-graph.js';
import type { TextSource } from './sources.js';
import { SummaryWriter } from './summary-text.js';

export interface SummarySettings {
  readonly max_tokens: number;
  readonly count: TokenCounter;
  readonly give_way: GiveWay;
}

export interface ExtractiveSummary {
  /** Never more than max_tokens; empty when no sentence fits. */
  readonly text: string;
  /** Of what was chosen, and of what said the same; with a member of a group the whole group. In the order of the sources. */
  readonly source_ids: readonly string[];
  /** What was chosen, word for word, with the place of its source. */
  readonly sentences: readonly { readonly source: number; readonly text: string }[];
}

/** Only so many are compared each with each. */
const MAX_COMPARED = 512;
/** What is left is looked at where the budget is large. */
const MAX_REST = 1024;
const SORTED_AT_ONCE = 1024;
/** As alike as this, and the same is said twice. */
const DUPLICATE = 0.8;
/** How much a sentence loses by what is chosen already and like it. */
const NOVELTY = 0.7;
/** A long sentence has more of everything: it is worth less than its length. */
const LENGTH_PRICE = 0.3;
/** What a label or a space takes is estimated, so after counting exactly there may be room for more, or too little. */
const FILLINGS = 3;

export async function extractiveSummary(
  sources: readonly TextSource[],
  settings: SummarySettings,
): Promise<ExtractiveSummary> {
  const all = await candidatesOf(sources, settings.give_way);
  const ranked = await rankedPool(all, settings.give_way);
  const writer = new SummaryWriter(sources);
  const chosen = await chooseWithin(ranked, writer, settings);
  const parts = partsOf(chosen.map(({ candidate }) => candidate));
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
  /** The best by themselves, ranked by what they are among each other. */
  readonly best: readonly Ranked[];
  readonly graph: SentenceGraph;
  /** The next best, in their order. */
  readonly rest: readonly Ranked[];
}

async function rankedPool(all: readonly Candidate[], give_way: GiveWay): Promise<Pool> {
  const weights = await stemWeights(all, give_way);
  const centre = new Map<string, number>();
  for (const { statement } of all) {
    const due = give_way();
    if (due) await due;
    for (const stem of statement.stems) centre.set(stem, (centre.get(stem) ?? 0) + weights.get(stem)!);
  }
  let scored: Ranked[] = [];
  for (let from = 0; from < all.length; from += SORTED_AT_ONCE) {
    const due = give_way();
    if (due) await due;
    for (const candidate of all.slice(from, from + SORTED_AT_ONCE))
      scored.push({ candidate, score: candidate.weight * nearness(candidate, centre, weights) });
    scored.sort((a, b) => b.score - a.score || order(a.candidate) - order(b.candidate));
    scored = scored.slice(0, MAX_COMPARED + MAX_REST);
  }
  const best = scored.slice(0, MAX_COMPARED);
  const graph = new SentenceGraph(
    best.map(({ candidate }) => candidate.statement.stems),
    weights,
  );
  const central = await graph.centralities(give_way);
  return {
    best: best.map(({ candidate, score }, at) => ({ candidate, score: score * (0.5 + 0.5 * central[at]!) })),
    graph,
    rest: scored.slice(MAX_COMPARED),
  };
}

const order = (candidate: Candidate): number => candidate.parts[0]!.order;

/** The rarer a stem, the more it tells. */
async function stemWeights(all: readonly Candidate[], give_way: GiveWay): Promise<Map<string, number>> {
  const counts = new Map<string, number>();
  for (const { statement } of all) {
    const due = give_way();
    if (due) await due;
    for (const stem of statement.stems) counts.set(stem, (counts.get(stem) ?? 0) + 1);
  }
  for (const [stem, count] of counts) counts.set(stem, Math.log(1 + all.length / count));
  return counts;
}

/** The cosine to the sum of all sentences, but for the length of that sum, which is the same for each. */
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
  /** Sources that say the same in other places. */
  readonly echoes: number[];
}

async function chooseWithin(pool: Pool, writer: SummaryWriter, settings: SummarySettings): Promise<Chosen[]> {
  const choice = new Choice(pool, writer, settings);
  for (let filling = 0; filling < FILLINGS; filling++) {
    const added = await choice.fill();
    await choice.trim();
    if (added === 0) break;
  }
  return choice.chosen;
}

const [OPEN, TAKEN, SAID, TOO_LONG] = [0, 1, 2, 3];

/** What was chosen so far, and what it takes. */
class Choice {
  readonly chosen: Chosen[] = [];
  private used_tokens = 0;
  private readonly pool: Pool;
  private readonly writer: SummaryWriter;
  private readonly settings: SummarySettings;
  /** Of each of the best: how alike what was chosen is, and whether it is out, for good or for this filling. */
  private readonly likeness: Float64Array;
  private readonly out: Uint8Array;
  private next_of_rest = 0;

  constructor(pool: Pool, writer: SummaryWriter, settings: SummarySettings) {
    this.pool = pool;
    this.writer = writer;
    this.settings = settings;
    this.likeness = new Float64Array(pool.best.length);
    this.out = new Uint8Array(pool.best.length);
  }

  /** Adds the best that fit, one after another, and says how many. */
  async fill(): Promise<number> {
    let added = 0;
    for (const [at, state] of this.out.entries()) if (state === TOO_LONG) this.out[at] = OPEN;
    for (let at = this.bestLeft(); at >= 0; at = this.bestLeft()) {
      this.out[at] = await this.take(this.pool.best[at]!.candidate);
      if (this.out[at] !== TAKEN) continue;
      added += 1;
      const row = this.pool.graph.likenesses(at);
      row.forEach((value, other) => {
        if (value > this.likeness[other]!) this.likeness[other] = value;
      });
    }
    const { rest } = this.pool;
    // Where hardly anything fits any more, looking on is in vain.
    for (let misses = 0; this.next_of_rest < rest.length && misses < 20; this.next_of_rest++)
      if ((await this.take(rest[this.next_of_rest]!.candidate)) === TAKEN) added += 1;
      else misses += 1;
    return added;
  }

  private bestLeft(): number {
    let best = -1;
    let most = 0;
    for (const [at, { candidate, score }] of this.pool.best.entries()) {
      if (this.out[at] !== OPEN) continue;
      const length = candidate.parts.reduce((sum, { text }) => sum + text.length, 0);
      const gain = (score * (1 - NOVELTY * this.likeness[at]!)) / length ** LENGTH_PRICE;
      if (gain > most) {
        most = gain;
        best = at;
      }
    }
    return best;
  }

  private async take(candidate: Candidate): Promise<number> {
    const due = this.settings.give_way();
    if (due) await due;
    const twin = this.chosen.find(({ candidate: other }) => isTwin(candidate, other));
    if (twin) {
      twin.echoes.push(candidate.source);
      return SAID;
    }
    let tokens = 0;
    for (const part of candidate.parts) tokens += await this.settings.count(this.writer.alone(part));
    if (this.used_tokens + tokens > this.settings.max_tokens) return TOO_LONG;
    this.used_tokens += tokens;
    this.chosen.push({ candidate, echoes: [] });
    return TAKEN;
  }

  /** The last chosen are the least: they go until the whole text fits. */
  async trim(): Promise<void> {
    for (;;) {
      const text = this.writer.text(partsOf(this.chosen.map(({ candidate }) => candidate)));
      this.used_tokens = await this.settings.count(text);
      if (this.used_tokens <= this.settings.max_tokens || this.chosen.length === 0) return;
      this.chosen.pop();
    }
  }
}

const isTwin = (a: Candidate, b: Candidate): boolean =>
  agree(a.statement, b.statement) && overlap(a.statement, b.statement) >= DUPLICATE;

/** All sentences in their order, a question of two pairs once. */
function partsOf(candidates: readonly Candidate[]): CandidatePart[] {
  const parts = new Map(candidates.flatMap(({ parts }) => parts.map((part) => [part.order, part] as const)));
  return [...parts.values()].sort((a, b) => a.order - b.order);
}

function idsWithGroups(sources: readonly TextSource[], cited: ReadonlySet<number>): string[] {
  const groups = new Set([...cited].map((at) => sources[at]!.group).filter((group) => !!group));
  const ids = sources.filter(({ group }, at) => cited.has(at) || (!!group && groups.has(group)));
  return [...new Set(ids.map(({ id }) => id))];
}
