/** Calls of summarisers and extractors: in time, checked, and by the way that needs no model where they fail. */
import { anySignal } from '../model/signals.js';
import type { Breaker } from '../provider/breaker.js';
import { sumOfCosts } from '../provider/cost.js';
import type { Extraction, ExtractionRequest, Extractor } from '../provider/extractor.js';
import { costOfFailure, PlainFailure, reasonOf } from '../provider/model-failure.js';
import type { Summarizer, Summary, SummaryRequest } from '../provider/summarizer.js';
import { countTokens } from '../provider/tokenizer.js';

/** Less time than this is not worth asking for. */
const LEAST_MS = 50;
/** Who had less time than this and gave up knows nothing of the provider. */
const FAIR_MS = 10_000;

export interface Providers {
  /** Those that were asked for; the offline ones unless others were given. */
  readonly summarizer: Summarizer;
  readonly extractor: Extractor;
  readonly offline: { readonly summarizer: Summarizer; readonly extractor: Extractor };
  /** Of those that were asked for. */
  readonly breakers: { readonly summarizer: Breaker; readonly extractor: Breaker };
}

export interface Attempt {
  /** How long a provider has; the offline one takes the time that it needs. */
  readonly timeout_ms: number;
  /** Whether to take the offline way where the provider fails, rather than to try again later. */
  readonly final: boolean;
  readonly signal?: AbortSignal;
}

class OutOfTime extends PlainFailure {}
/** The provider was not asked at all. */
class NotAsked extends PlainFailure {}

/** Gives up when the time is over, also on work that does not listen to its signal. */
async function inTime<T>(
  { timeout_ms, signal }: Attempt,
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const over = AbortSignal.timeout(Math.ceil(timeout_ms));
  const either = signal ? anySignal([signal, over]) : over;
  either.throwIfAborted();
  return new Promise<T>((resolve, reject) => {
    const giveUp = () =>
      reject(over.aborted ? new OutOfTime(`no answer within ${Math.ceil(timeout_ms)} ms`) : either.reason);
    either.addEventListener('abort', giveUp, { once: true });
    work(either)
      .then(resolve, reject)
      .finally(() => either.removeEventListener('abort', giveUp));
  });
}

async function checkSummary(
  { text, source_ids }: Summary,
  { sources, max_tokens }: SummaryRequest,
): Promise<void> {
  if (typeof text !== 'string' || !text.isWellFormed() || text.includes('\u0000'))
    throw new PlainFailure('the summary is no text');
  const tokens = await countTokens(text);
  if (tokens > max_tokens)
    throw new PlainFailure(`the summary has ${tokens} tokens, more than ${max_tokens}`);
  refuseForeign(source_ids, sources);
}

function refuseForeign(ids: readonly string[], sources: readonly { readonly id: string }[]): void {
  const known = new Set(sources.map(({ id }) => id));
  if (!Array.isArray(ids) || ids.some((id) => !known.has(id)))
    throw new PlainFailure('it names sources that it was not given');
}

function checkFacts({ facts }: Extraction, { sources }: ExtractionRequest): void {
  if (!Array.isArray(facts)) throw new PlainFailure('the facts are no list');
  for (const fact of facts) {
    const { kind, type, title, content, confidence, source_ids } = fact;
    const texts = [type, title, content];
    const sound =
      (kind === 'note' || kind === 'artifact') &&
      texts.every(
        (text) => typeof text === 'string' && text !== '' && text.isWellFormed() && !text.includes('\u0000'),
      ) &&
      type.length <= 100 &&
      confidence >= 0 &&
      confidence <= 1;
    if (!sound) throw new PlainFailure('a fact has no type, title, content or confidence that can be kept');
    refuseForeign(source_ids, sources);
    if (source_ids.length === 0) throw new PlainFailure('a fact names no source');
  }
}

interface Ways<R, A> {
  readonly given: (request: R, signal: AbortSignal) => Promise<A>;
  /** Undefined where the given one is it. */
  readonly offline: ((request: R) => Promise<A>) | undefined;
  readonly breaker: Breaker;
  readonly check: (answer: A, request: R) => Promise<void> | void;
}

/** Asks the provider in time, unless there is none left or it is left alone for now. */
async function given<R, A>(request: R, attempt: Attempt, { given, breaker }: Ways<R, A>): Promise<A> {
  const { timeout_ms, signal } = attempt;
  if (timeout_ms < LEAST_MS) throw new NotAsked('no time was left to ask for it');
  const refusal = breaker.refusal();
  if (refusal !== undefined) throw new NotAsked(refusal);
  try {
    const answer = await inTime(attempt, (either) => given(request, either));
    breaker.answered();
    return answer;
  } catch (error) {
    const unfair = error instanceof OutOfTime && timeout_ms < FAIR_MS;
    if (unfair || signal?.aborted) breaker.leftOpen();
    else breaker.failed(reasonOf(error));
    throw error;
  }
}

/** What is refused has cost no less. */
async function checked<R, A extends Pick<Summary, 'cost'>>(
  answer: A,
  request: R,
  check: Ways<R, A>['check'],
): Promise<void> {
  try {
    await check(answer, request);
  } catch (error) {
    throw new PlainFailure(reasonOf(error), answer.cost);
  }
}

/** Asks the provider, checks what it answers, and asks the offline one where that fails and nothing else is left. */
async function asked<R, A extends Pick<Summary, 'cost' | 'fallback_reason'>>(
  request: R,
  attempt: Attempt,
  ways: Ways<R, A>,
): Promise<A> {
  const { offline, check } = ways;
  if (!offline) {
    const answer = await ways.given(request, attempt.signal ?? new AbortController().signal);
    await check(answer, request);
    return answer;
  }
  try {
    const answer = await given(request, attempt, ways);
    await checked(answer, request, check);
    return answer;
  } catch (error) {
    const final = attempt.final || error instanceof NotAsked;
    if (!final || attempt.signal?.aborted) throw error;
    const answer = await offline(request);
    // What was spent in vain was spent all the same.
    const spent = costOfFailure(error);
    const cost = spent === undefined ? answer.cost : sumOfCosts(spent, answer.cost);
    return { ...answer, cost, fallback_reason: reasonOf(error) };
  }
}

export function summaryOf(
  { summarizer, offline, breakers }: Providers,
  request: SummaryRequest,
  attempt: Attempt,
): Promise<Summary> {
  const other = offline.summarizer;
  return asked<SummaryRequest, Summary>(request, attempt, {
    given: (given, signal) => summarizer.summarize(given, { signal }),
    offline: summarizer === other ? undefined : (given) => other.summarize(given),
    breaker: breakers.summarizer,
    check: async (summary, given) => {
      await checkSummary(summary, given);
      // That summaries have nothing in common is an answer; that turns say nothing is none.
      if (summarizer !== other && given.level !== 'L2' && summary.text.trim() === '')
        throw new PlainFailure('the summary is empty');
    },
  });
}

export function factsOf(
  { extractor, offline, breakers }: Providers,
  request: ExtractionRequest,
  attempt: Attempt,
): Promise<Extraction> {
  const other = offline.extractor;
  return asked<ExtractionRequest, Extraction>(request, attempt, {
    given: (given, signal) => extractor.extract(given, { signal }),
    offline: extractor === other ? undefined : (given) => other.extract(given),
    breaker: breakers.extractor,
    check: checkFacts,
  });
}
