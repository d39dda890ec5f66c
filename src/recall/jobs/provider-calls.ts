/** Calls summarizers and extractors: with a timeout, with a checked answer, and with the offline fallback. */
import { type Runtime, RuntimePart } from '../../engine/index.js';
import { anySignal } from '../../kernel/index.js';
import { type Breaker, costOfFailure, PlainFailure, reasonOf, sumOfCosts } from '../../providers/index.js';
import type { Extraction, ExtractionRequest, Extractor } from '../extraction/extractor.js';
import type { TextSource } from '../summaries/sources.js';
import type { Summarizer, Summary, SummaryRequest } from '../summaries/summarizer.js';
import type { Comparer, Comparison, ComparisonRequest } from '../updating/comparer.js';
import { readAnswer, readFacts, readSummary } from './provider-answers.js';

/** Shortest time worth a call. */
const MIN_MS = 50;
/** A timeout shorter than this says nothing about the provider. */
const FAIR_MS = 10_000;

export interface Providers {
  /** Default: the offline ones. */
  readonly summarizer: Summarizer;
  readonly extractor: Extractor;
  /** Compares statements if there is a model; else rules do. */
  readonly comparer: Comparer | undefined;
  readonly offline: { readonly summarizer: Summarizer; readonly extractor: Extractor };
  readonly breakers: { readonly [K in 'summarizer' | 'extractor' | 'comparer']: Breaker };
}

export const providers = new RuntimePart<Providers>('providers');

export interface Attempt {
  /** Time of a provider; the offline one has no limit. */
  readonly timeout_ms: number;
  /** If the provider fails, use the offline fallback instead of a retry. */
  readonly final: boolean;
  readonly signal?: AbortSignal;
}

class OutOfTime extends PlainFailure {}
/** The provider was not called. */
class NotCalled extends PlainFailure {}

/** Gives up when the time is over, even on work that ignores its signal. */
async function inTime<T>({ timeout_ms, signal }: Attempt, work: (signal: AbortSignal) => Promise<T>): Promise<T> {
  const over = AbortSignal.timeout(Math.ceil(timeout_ms));
  const either = signal ? anySignal([signal, over]) : over;
  either.throwIfAborted();
  return new Promise<T>((resolve, reject) => {
    const giveUp = () =>
      reject(over.aborted ? new OutOfTime(`no answer within ${Math.ceil(timeout_ms)} ms`) : either.reason);
    either.addEventListener('abort', giveUp, { once: true });
    // A provider may return a foreign promise, throw synchronously, or throw something that cannot be inspected.
    Promise.resolve()
      .then(() => work(either))
      .then(resolve, (error: unknown) => reject(new PlainFailure(reasonOf(error), costOfFailure(error))))
      .finally(() => either.removeEventListener('abort', giveUp));
  });
}

interface ProviderCall<A> {
  readonly provider: { readonly name: string };
  readonly breaker: Breaker;
  readonly run: (signal: AbortSignal) => Promise<unknown>;
  /** Returns the valid parts of an answer, or throws. */
  readonly read: (answer: unknown) => Promise<A> | A;
  /** Undefined if the provider is the offline one. */
  readonly offline: (() => Promise<A>) | undefined;
}

/** Calls the provider, unless no time is left or its breaker is open. */
async function callProvider(
  attempt: Attempt,
  { run, breaker }: Pick<ProviderCall<unknown>, 'run' | 'breaker'>,
): Promise<unknown> {
  const { timeout_ms, signal } = attempt;
  if (timeout_ms < MIN_MS) throw new NotCalled('no time was left to call the provider');
  const refusal = breaker.refusal();
  if (refusal !== undefined) throw new NotCalled(refusal);
  try {
    const answer = await inTime(attempt, run);
    breaker.answered();
    return answer;
  } catch (error) {
    const unfair = error instanceof OutOfTime && timeout_ms < FAIR_MS;
    if (unfair || signal?.aborted) breaker.leftOpen();
    else breaker.failed(reasonOf(error));
    throw error;
  }
}

/** Calls the provider and reads its answer; on the final attempt, or if it was not called, falls back to the offline one. */
async function answerOf<A extends Pick<Summary, 'cost' | 'fallback_reason'>>(
  attempt: Attempt,
  call: ProviderCall<A>,
): Promise<A> {
  const { offline, run, read, provider } = call;
  if (!offline) return read(await run(attempt.signal ?? new AbortController().signal));
  try {
    const answer = await callProvider(attempt, call);
    const { cost } = readAnswer(answer, provider);
    try {
      return await read(answer);
    } catch (error) {
      // An unusable answer costs the same.
      throw new PlainFailure(reasonOf(error), cost);
    }
  } catch (error) {
    attempt.signal?.throwIfAborted();
    if (!attempt.final && !(error instanceof NotCalled)) throw error;
    const answer = await offline();
    const spent = costOfFailure(error);
    const cost = spent === undefined ? answer.cost : sumOfCosts(spent, answer.cost);
    return { ...answer, cost, fallback_reason: reasonOf(error) };
  }
}

/** Copies, so that a provider cannot change the request. */
const copiesOf = (sources: readonly TextSource[]): TextSource[] => sources.map((source) => ({ ...source }));

type Context = Pick<Runtime, 'limits' | 'parts'>;

export function summaryOf(context: Context, request: SummaryRequest, attempt: Attempt): Promise<Summary> {
  const { summarizer, offline, breakers } = providers.of(context);
  const isOffline = summarizer === offline.summarizer;
  return answerOf<Summary>(attempt, {
    provider: summarizer,
    breaker: breakers.summarizer,
    run: (signal) => summarizer.summarize({ ...request, sources: copiesOf(request.sources) }, { signal }),
    read: async (answer) => {
      const summary = await readSummary(answer, request, context.limits.max_card_bytes);
      // Summaries may have nothing in common, but turns always say something.
      if (!isOffline && request.level !== 'L2' && summary.text === '') throw new PlainFailure('the summary is empty');
      return { ...summary, ...readAnswer(answer, summarizer) };
    },
    offline: isOffline ? undefined : () => offline.summarizer.summarize(request),
  });
}

export function factsOf(context: Context, request: ExtractionRequest, attempt: Attempt): Promise<Extraction> {
  const { extractor, offline, breakers } = providers.of(context);
  const read = (answer: unknown, provider: Extractor): Extraction => ({
    ...readFacts(answer, request, context.limits.max_card_bytes),
    ...readAnswer(answer, provider),
  });
  const { sources, recalled = [] } = request;
  return answerOf<Extraction>(attempt, {
    provider: extractor,
    breaker: breakers.extractor,
    run: (signal) => extractor.extract({ sources: copiesOf(sources), recalled: [...recalled] }, { signal }),
    read: (answer) => read(answer, extractor),
    offline:
      extractor === offline.extractor
        ? undefined
        : async () => read(await offline.extractor.extract(request), offline.extractor),
  });
}

/** Undefined without a model, or if it fails: then rules compare. */
export async function comparisonOf(
  context: Context,
  request: ComparisonRequest,
  attempt: Attempt,
): Promise<Comparison | undefined> {
  const { comparer, breakers } = providers.of(context);
  if (!comparer) return undefined;
  const run = (signal: AbortSignal) => comparer.compare(request, { signal });
  try {
    return (await callProvider(attempt, { breaker: breakers.comparer, run })) as Comparison;
  } catch {
    return undefined;
  }
}
