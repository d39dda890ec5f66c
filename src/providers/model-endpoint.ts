/** Asks a language model over HTTP, with a time limit and a few attempts. The packages for it are optional. */
import { setTimeout } from 'node:timers/promises';
import { z } from 'zod';
import { anySignal } from '../kernel/index.js';
import { boundedFetch } from './bounded-fetch.js';
import { countOf, type ProviderCost } from './cost.js';
import { failureReason, modelFailure, readFailure } from './model-failure.js';
import type { ModelSettings } from './model-settings.js';

export interface ModelQuestion<T> {
  readonly instructions: string;
  readonly material: string;
  readonly max_output_tokens: number;
  /** Where given, the answer is JSON of this form. */
  readonly schema?: z.ZodType;
  /** Takes the answer, or throws a `nonsense` failure, after which it is asked again. */
  readonly read: (text: string) => T | Promise<T>;
}

export interface ModelAnswer<T> {
  readonly value: T;
  readonly cost: ProviderCost;
}

interface Spent {
  input_tokens: number;
  output_tokens: number;
  attempts: number;
}

const FIRST_WAIT_MS = 200;

export class ModelEndpoint {
  readonly name: string;
  private readonly settings: ModelSettings;

  constructor(settings: ModelSettings) {
    this.name = `${settings.kind}:${settings.model}`;
    this.settings = settings;
  }

  /** Fails with MODEL_FAILED, which says why and what it cost; or with the caller's reason once his signal is aborted. */
  async ask<T>(question: ModelQuestion<T>, signal?: AbortSignal): Promise<ModelAnswer<T>> {
    const started = performance.now();
    const deadline = AbortSignal.timeout(this.settings.timeout_ms);
    const either = signal ? anySignal([signal, deadline]) : deadline;
    const spent: Spent = { input_tokens: 0, output_tokens: 0, attempts: 0 };
    const cost = (): ProviderCost => ({
      provider: this.settings.kind,
      model: this.settings.model,
      ...spent,
      duration_ms: Math.round(performance.now() - started),
    });
    for (;;) {
      let failure: { error: Error; wait_ms: number } | undefined;
      try {
        return { value: await this.attempt(question, spent, either), cost: cost() };
      } catch (error) {
        signal?.throwIfAborted();
        if (deadline.aborted) throw this.timedOut(cost());
        failure = this.failed(error, spent.attempts, cost());
      }
      if (failure.wait_ms < 0) throw failure.error;
      const left_ms = this.settings.timeout_ms - (performance.now() - started);
      // It would only be told too late.
      if (failure.wait_ms >= left_ms) throw failure.error;
      await setTimeout(failure.wait_ms, undefined, { signal: either }).catch(() => {
        signal?.throwIfAborted();
        throw this.timedOut(cost());
      });
    }
  }

  private async attempt<T>(question: ModelQuestion<T>, spent: Spent, signal: AbortSignal): Promise<T> {
    signal.throwIfAborted();
    const { generateText, jsonSchema, NoObjectGeneratedError, Output } = await packageOf(
      this.settings.kind,
      () => import('ai'),
    );
    const model = await languageModel(this.settings);
    const { schema } = question;
    spent.attempts += 1;
    let text: string;
    try {
      const result = await generateText({
        model,
        system: question.instructions,
        prompt: question.material,
        maxOutputTokens: question.max_output_tokens,
        maxRetries: 0,
        abortSignal: signal,
        ...(schema && this.settings.structured_outputs
          ? // Only its form is asked for here: what comes is checked when it is read.
            { output: Output.object({ schema: jsonSchema(z.toJSONSchema(schema) as object) }) }
          : {}),
      });
      text = result.text;
      addUsage(spent, result.usage);
    } catch (error) {
      // It answered, but not with JSON alone: perhaps there is some in it.
      if (!NoObjectGeneratedError.isInstance(error)) throw error;
      text = error.text ?? '';
      addUsage(spent, error.usage);
    }
    return question.read(withoutThoughts(text));
  }

  private timedOut(cost: ProviderCost): Error {
    const { timeout_ms } = this.settings;
    return modelFailure('timeout', `${this.name} gave no answer within ${timeout_ms} ms`, { cost });
  }

  /** The failure as it is told, and how long to wait before the next attempt; negative when there is none. */
  private failed(error: unknown, attempts: number, cost: ProviderCost): { error: Error; wait_ms: number } {
    const own = ownFailure(error);
    if (own?.reason === 'not_installed') return { error: own.error, wait_ms: -1 };
    const { reason, message, retryable, wait_ms } = own ?? readFailure(error);
    const told = modelFailure(reason, `${this.name} ${message}`, { cost });
    if (!retryable || attempts > this.settings.max_retries) return { error: told, wait_ms: -1 };
    return { error: told, wait_ms: wait_ms ?? FIRST_WAIT_MS * 2 ** (attempts - 1) * (0.75 + Math.random() / 2) };
  }
}

/** A failure that was made here, perhaps within another: by what read the answer, or since a package is missing. */
function ownFailure(error: unknown) {
  let own = error as Error;
  for (let depth = 0; depth < 5 && failureReason(own) === undefined && own?.cause; depth++) own = own.cause as Error;
  const reason = failureReason(own);
  if (reason === undefined) return undefined;
  return { error: own, reason, message: own.message, retryable: true, wait_ms: 0 };
}

function addUsage(
  spent: Spent,
  usage: { inputTokens?: number | undefined; outputTokens?: number | undefined } | undefined,
): void {
  spent.input_tokens += countOf(usage?.inputTokens);
  spent.output_tokens += countOf(usage?.outputTokens);
}

/** What models that think aloud put before their answer. */
const withoutThoughts = (text: string): string => text.replace(/^\s*<think>[\s\S]*?<\/think>/i, '').trim();

async function languageModel({ kind, base_url, model, api_key, structured_outputs }: ModelSettings) {
  if (kind === 'anthropic') {
    const { createAnthropic } = await packageOf(kind, () => import('@ai-sdk/anthropic'));
    // Never left out: a key of the environment would go to whatever address is set.
    return createAnthropic({ baseURL: base_url, apiKey: api_key ?? 'none', fetch: boundedFetch })(model);
  }
  const { createOpenAICompatible } = await packageOf(kind, () => import('@ai-sdk/openai-compatible'));
  return createOpenAICompatible({
    name: 'endpoint',
    baseURL: base_url,
    fetch: boundedFetch,
    supportsStructuredOutputs: structured_outputs,
    ...(api_key === undefined ? {} : { apiKey: api_key }),
  }).chatModel(model);
}

/**
 * Loads what it takes to ask. That keeps the event loop busy for a while, so it is done before there are writes that
 * would wait for it. What is missing is told to whoever asks.
 */
export async function loadPackages(kind: ModelSettings['kind']): Promise<void> {
  const endpoint = kind === 'anthropic' ? import('@ai-sdk/anthropic') : import('@ai-sdk/openai-compatible');
  await Promise.allSettled([import('ai'), endpoint]);
}

/** A package that does not come with Cairn. */
export async function packageOf<T>(kind: ModelSettings['kind'], load: () => Promise<T>): Promise<T> {
  try {
    return await load();
  } catch (error) {
    const { code } = error as { code?: string };
    if (code !== 'ERR_MODULE_NOT_FOUND' && code !== 'MODULE_NOT_FOUND') throw error;
    const packages = kind === 'anthropic' ? 'ai@6 @ai-sdk/anthropic@3' : 'ai@6 @ai-sdk/openai-compatible@2';
    throw modelFailure('not_installed', `a model endpoint needs more packages: run npm install ${packages}`);
  }
}
