/** An extractive summary: the statements that carry most, none twice, in order, within a token budget. */
import type { CooperativeYield, TokenCounter } from '../../kernel/index.js';
import { agree, overlap } from '../extraction/english/statements.js';
import type { Candidate } from './reading/candidate.js';
import { candidatesOf } from './reading/candidates.js';
import { wordCount } from './reading/clauses.js';
import type { TextSource } from './sources.js';
import { type SummaryWriter, summaryWriter } from './summary-text.js';

interface SummarySettings {
  readonly max_tokens: number;
  /** Default: as many as fit into max_tokens. */
  readonly max_words?: number | undefined;
  readonly count: TokenCounter;
  readonly maybe_yield: CooperativeYield;
}

interface ExtractiveSummary {
  /** At most max_tokens; empty if no statement fits. */
  readonly text: string;
  /** Sources of the chosen statements and of their duplicates, each with its whole group, in order. */
  readonly source_ids: readonly string[];
  /** The chosen statements. */
  readonly sentences: readonly { readonly source: number; readonly text: string }[];
}

/** Statements that compete for the budget: those that carry most. */
const MAX_COMPARED = 2048;
const SORTED_AT_ONCE = 1024;
/** Overlap at which two statements say the same. */
const DUPLICATE = 0.8;
/** A term that is kept already counts for so much. */
const REPEATED = 0.15;
/** Exponent of the number of words: a long statement carries more of everything, and costs more. */
const LENGTH_PRICE = 0.8;
/** Words that a statement costs beside its own, such as a mark between two. */
const OVERHEAD = 1;
/** Statements that carry less are left out, whatever the budget. */
const LEAST = 0.2;
/** Labels and spaces are estimated, so an exact count may leave room for more, or too little. */
const FILLINGS = 3;
/** After so many statements that do not fit, hardly any other does. */
const MAX_MISSES = 20;

export async function extractiveSummary(
  sources: readonly TextSource[],
  settings: SummarySettings,
): Promise<ExtractiveSummary> {
  const candidates = await candidatesOf(sources, settings.maybe_yield);
  const best = await bestOf(candidates, settings.maybe_yield);
  const writer = summaryWriter(sources);
  const chosen = await choose(best, writer, settings);
  const statements = inOrder(chosen);
  const cited = new Set(chosen.flatMap(({ candidate: { source, also }, echoes }) => [source, ...also, ...echoes]));
  return {
    text: writer.text(statements),
    source_ids: idsWithGroups(sources, cited),
    sentences: statements.map(({ source, text }) => ({ source, text })),
  };
}

/** The worth of a statement per word^LENGTH_PRICE, given the terms that are kept already. */
function worthOf({ terms, words, weight }: Candidate, kept: ReadonlySet<string>): number {
  let carried = 0;
  for (const [term, worth] of terms) carried += kept.has(term) ? worth * REPEATED : worth;
  return (weight * carried) / (words + OVERHEAD) ** LENGTH_PRICE;
}

const NONE: ReadonlySet<string> = new Set();

async function bestOf(all: readonly Candidate[], maybe_yield: CooperativeYield): Promise<Candidate[]> {
  let best: { readonly candidate: Candidate; readonly worth: number }[] = [];
  for (let from = 0; from < all.length; from += SORTED_AT_ONCE) {
    await maybe_yield();
    for (const candidate of all.slice(from, from + SORTED_AT_ONCE))
      best.push({ candidate, worth: worthOf(candidate, NONE) });
    best = best.filter(({ worth }) => worth >= LEAST);
    best.sort((a, b) => b.worth - a.worth || a.candidate.order - b.candidate.order);
    best = best.slice(0, MAX_COMPARED);
  }
  return best.map(({ candidate }) => candidate);
}

interface Chosen {
  readonly candidate: Candidate;
  /** Sources that say the same. */
  readonly echoes: number[];
}

/** Chooses the statements that add most, as many as fit into the budget. */
async function choose(best: readonly Candidate[], writer: SummaryWriter, settings: SummarySettings): Promise<Chosen[]> {
  const { max_tokens, max_words = Number.POSITIVE_INFINITY, count, maybe_yield } = settings;
  const chosen: Chosen[] = [];
  let words = 0;
  const kept = new Set<string>();
  let used = 0;
  let open = [...best];
  for (let filling = 0; filling < FILLINGS; filling++) {
    const before = chosen.length;
    await fill();
    await trim();
    if (chosen.length <= before) break;
  }
  return chosen;

  /** Worth only falls while statements are kept, so the first whose worth is up to date is the best. */
  async function fill(): Promise<void> {
    const left: Candidate[] = [];
    let queue = open.map((candidate) => ({ candidate, worth: worthOf(candidate, kept), at: kept.size }));
    queue.sort((a, b) => a.worth - b.worth || b.candidate.order - a.candidate.order);
    let misses = 0;
    while (queue.length > 0 && misses < MAX_MISSES) {
      await maybe_yield();
      const top = queue.pop()!;
      if (top.at !== kept.size) {
        const worth = worthOf(top.candidate, kept);
        insert(queue, { candidate: top.candidate, worth, at: kept.size });
        continue;
      }
      if (await take(top.candidate)) continue;
      left.push(top.candidate);
      misses += 1;
    }
    open = [...left, ...queue.map(({ candidate }) => candidate)];
    queue = [];
  }

  /** False if it does not fit. */
  async function take(candidate: Candidate): Promise<boolean> {
    const twin = chosen.find(({ candidate: other }) => isDuplicate(candidate, other));
    if (twin) {
      twin.echoes.push(candidate.source);
      return true;
    }
    const tokens = await count(writer.alone(candidate));
    if (used + tokens > max_tokens || words + candidate.words > max_words) return false;
    used += tokens;
    words += candidate.words;
    chosen.push({ candidate, echoes: [] });
    for (const term of candidate.terms.keys()) kept.add(term);
    return true;
  }

  /** Drops the last chosen, which add least, until the whole text fits. */
  async function trim(): Promise<void> {
    await measure();
    while ((used > max_tokens || words > max_words) && chosen.length > 0) {
      chosen.pop();
      await measure();
    }
  }

  async function measure(): Promise<void> {
    const text = writer.text(inOrder(chosen));
    used = await count(text);
    words = wordCount(text);
  }
}

interface Queued {
  readonly candidate: Candidate;
  readonly worth: number;
  readonly at: number;
}

function insert(queue: Queued[], one: Queued): void {
  let [low, high] = [0, queue.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (queue[middle]!.worth < one.worth) low = middle + 1;
    else high = middle;
  }
  queue.splice(low, 0, one);
}

/** Whether a statement says the same as a kept one, or a part of it. */
function isDuplicate({ statement, terms }: Candidate, kept: Candidate): boolean {
  if (agree(statement, kept.statement) && overlap(statement, kept.statement) >= DUPLICATE) return true;
  return statement.negated === kept.statement.negated && [...terms.keys()].every((term) => kept.terms.has(term));
}

const inOrder = (chosen: readonly Chosen[]): Candidate[] =>
  chosen.map(({ candidate }) => candidate).sort((a, b) => a.order - b.order);

function idsWithGroups(sources: readonly TextSource[], cited: ReadonlySet<number>): string[] {
  const groups = new Set([...cited].map((at) => sources[at]!.group).filter((group) => !!group));
  const whole = sources.filter(({ group }, at) => cited.has(at) || (!!group && groups.has(group)));
  return [...new Set(whole.map(({ id }) => id))];
}
