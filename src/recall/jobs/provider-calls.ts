/** Calls of summarisers and extractors: in time, checked, and by the way that needs no model where they fail. */
import { type Runtime, RuntimePart } from '../../engine/index.js';
import { anySignal } from '../../kernel/index.js';
import { type Breaker, costOfFailure, PlainFailure, reasonOf, sumOfCosts } from '../../providers/index.js';
import type { Extraction, ExtractionRequest, Extractor } from '../extraction/extractor.js';
import type { TextSource } from '../summaries/sources.js';
import type { Summarizer, Summary, SummaryRequest } from '../summaries/summarizer.js';
import { readAnswer, readFacts, readSummary } from './provider-answers.js';

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

export const providers = new RuntimePart<Providers>('providers');

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

/** A failure in our own words, whatever was thrown: even to look at that may fail. */
const failureOf = (error: unknown): PlainFailure => new PlainFailure(reasonOf(error), costOfFailure(error));

/** Gives up when the time is over, also on work that does not listen to its signal. */
async function inTime<T>({ timeout_ms, signal }: Attempt, work: (signal: AbortSignal) => Promise<T>): Promise<T> {
  const over = AbortSignal.timeout(Math.ceil(timeout_ms));
  const either = signal ? anySignal([signal, over]) : over;
  either.throwIfAborted();
  return new Promise<T>((resolve, reject) => {
    const giveUp = () =>
      reject(over.aborted ? new OutOfTime(`no answer within ${Math.ceil(timeout_ms)} ms`) : either.reason);
    either.addEventListener('abort', giveUp, { once: true });
    // What a provider gives back need not be a promise of ours, and it may throw before it gives anything.
    Promise.resolve()
      .then(() => work(either))
      .then(resolve, (error: unknown) => reject(failureOf(error)))
      .finally(() => either.removeEventListener('abort', giveUp));
  });
}

interface Ways<R, A> {
  readonly provider: { readonly name: string };
  /** Whatever comes of it. */
  readonly given: (request: R, signal: AbortSignal) => Promise<unknown>;
  /** Undefined where the given one is it. */
  readonly offline: ((request: R) => Promise<A>) | undefined;
  readonly breaker: Breaker;
  /** What is of use in an answer, or a failure. */
  readonly read: (answer: unknown) => Promise<A> | A;
}

/** Asks the provider in time, unless there is none left or it is left alone for now. */
async function given<R, A>(request: R, attempt: Attempt, { given, breaker }: Ways<R, A>): Promise<unknown> {
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

/** Asks the provider, reads what it answers, and asks the offline one where that fails and nothing else is left. */
async function asked<R, A extends Pick<Summary, 'cost' | 'fallback_reason'>>(
  request: R,
  attempt: Attempt,
  ways: Ways<R, A>,
): Promise<A> {
  const { offline, read, provider } = ways;
  if (!offline) return read(await ways.given(request, attempt.signal ?? new AbortController().signal));
  try {
    const answer = await given(request, attempt, ways);
    const { cost } = readAnswer(answer, provider);
    try {
      return await read(answer);
    } catch (error) {
      // What is refused has cost no less.
      throw new PlainFailure(reasonOf(error), cost);
    }
  } catch (error) {
    attempt.signal?.throwIfAborted();
    if (!attempt.final && !(error instanceof NotAsked)) throw error;
    const answer = await offline(request);
    // What was spent in vain was spent all the same.
    const spent = costOfFailure(error);
    const cost = spent === undefined ? answer.cost : sumOfCosts(spent, answer.cost);
    return { ...answer, cost, fallback_reason: reasonOf(error) };
  }
}

/** For a provider to do with as it likes: what is kept goes by the request that was made. */
const ownSources = (sources: readonly TextSource[]): TextSource[] => sources.map((source) => ({ ...source }));

type Asking = Pick<Runtime, 'limits' | 'parts'>;

export function summaryOf(call: Asking, request: SummaryRequest, attempt: Attempt): Promise<Summary> {
  const { limits } = call;
  const { summarizer, offline, breakers } = providers.of(call);
  const other = offline.summarizer;
  return asked<SummaryRequest, Summary>(request, attempt, {
    provider: summarizer,
    given: (given, signal) => summarizer.summarize({ ...given, sources: ownSources(given.sources) }, { signal }),
    offline: summarizer === other ? undefined : (given) => other.summarize(given),
    breaker: breakers.summarizer,
    read: async (answer) => {
      const summary = await readSummary(answer, request, limits.max_card_bytes);
      // That summaries have nothing in common is an answer; that turns say nothing is none.
      if (summarizer !== other && request.level !== 'L2' && summary.text === '')
        throw new PlainFailure('the summary is empty');
      return { ...summary, ...readAnswer(answer, summarizer) };
    },
  });
}

export function factsOf(call: Asking, request: ExtractionRequest, attempt: Attempt): Promise<Extraction> {
  const { limits } = call;
  const { extractor, offline, breakers } = providers.of(call);
  const other = offline.extractor;
  const read = (answer: unknown, provider: Extractor): Extraction => ({
    ...readFacts(answer, request, limits.max_card_bytes),
    ...readAnswer(answer, provider),
  });
  return asked<ExtractionRequest, Extraction>(request, attempt, {
    provider: extractor,
    given: ({ sources, recalled = [] }, signal) =>
      extractor.extract({ sources: ownSources(sources), recalled: [...recalled] }, { signal }),
    offline: extractor === other ? undefined : async (given) => read(await other.extract(given), other),
    breaker: breakers.extractor,
    read: (answer) => read(answer, extractor),
  });
}
