/** Calls a language model over HTTP, with a timeout and retries. The packages for it are optional peers. */
import { setTimeout } from 'node:timers/promises';
import { z } from 'zod';
import { anySignal } from '../kernel/index.js';
import { boundedFetch } from './bounded-fetch.js';
import { countOf, type ProviderCost } from './cost.js';
import { failureReason, modelFailure, readFailure } from './model-failure.js';
import type { ModelSettings } from './model-settings.js';

interface ModelQuestion<T> {
  readonly instructions: string;
  readonly material: string;
  readonly max_output_tokens: number;
  /** Schema of a JSON answer. */
  readonly schema?: z.ZodType;
  /** Parses the answer; a `nonsense` failure thrown here is retried. */
  readonly read: (text: string) => T | Promise<T>;
}

type Spent = { -readonly [K in 'input_tokens' | 'output_tokens' | 'attempts']: ProviderCost[K] };

const FIRST_WAIT_MS = 200;

export class ModelEndpoint {
  readonly name: string;
  private readonly settings: ModelSettings;

  constructor(settings: ModelSettings) {
    this.name = `${settings.kind}:${settings.model}`;
    this.settings = settings;
  }

  /** Fails with MODEL_FAILED, with reason and cost in its details, or with the reason of an aborted `signal`. */
  async ask<T>(question: ModelQuestion<T>, signal?: AbortSignal): Promise<{ value: T; cost: ProviderCost }> {
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
      let failure: ReturnType<typeof this.failed>;
      try {
        return { value: await this.attempt(question, spent, either), cost: cost() };
      } catch (error) {
        signal?.throwIfAborted();
        if (deadline.aborted) throw this.timedOut(cost());
        failure = this.failed(error, spent.attempts, cost());
      }
      const left_ms = this.settings.timeout_ms - (performance.now() - started);
      // A wait beyond the deadline would only delay the error.
      if (failure.wait_ms < 0 || failure.wait_ms >= left_ms) throw failure.error;
      await setTimeout(failure.wait_ms, undefined, { signal: either }).catch(() => {
        signal?.throwIfAborted();
        throw this.timedOut(cost());
      });
    }
  }

  private async attempt<T>(question: ModelQuestion<T>, spent: Spent, signal: AbortSignal): Promise<T> {
    signal.throwIfAborted();
    const { kind, structured_outputs } = this.settings;
    const { generateText, jsonSchema, NoObjectGeneratedError, Output } = await packageOf(kind, () => import('ai'));
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
        ...(schema && structured_outputs
          ? // The schema only guides the model: `read` validates the answer.
            { output: Output.object({ schema: jsonSchema(z.toJSONSchema(schema) as object) }) }
          : {}),
      });
      text = result.text;
      addUsage(spent, result.usage);
    } catch (error) {
      // The answer is not JSON alone, but may contain JSON.
      if (!NoObjectGeneratedError.isInstance(error)) throw error;
      text = error.text ?? '';
      addUsage(spent, error.usage);
    }
    // Reasoning models put their thoughts before the answer.
    return question.read(text.replace(/^\s*<think>[\s\S]*?<\/think>/i, '').trim());
  }

  private timedOut(cost: ProviderCost): Error {
    const { timeout_ms } = this.settings;
    return modelFailure('timeout', `${this.name} gave no answer within ${timeout_ms} ms`, { cost });
  }

  /** The error to throw, and the delay before the next attempt; negative if there is none. */
  private failed(error: unknown, attempts: number, cost: ProviderCost): { error: Error; wait_ms: number } {
    const own = ownFailure(error);
    if (own?.reason === 'not_installed') return { error: own.error, wait_ms: -1 };
    const { reason, message, retryable, wait_ms } = own ?? readFailure(error);
    const failure = modelFailure(reason, `${this.name} ${message}`, { cost });
    if (!retryable || attempts > this.settings.max_retries) return { error: failure, wait_ms: -1 };
    return { error: failure, wait_ms: wait_ms ?? FIRST_WAIT_MS * 2 ** (attempts - 1) * (0.75 + Math.random() / 2) };
  }
}

/** Cairn's own failure in the chain of causes: an unusable answer, or a missing package. */
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

async function languageModel({ kind, base_url, model, api_key, structured_outputs }: ModelSettings) {
  if (kind === 'anthropic') {
    const { createAnthropic } = await packageOf(kind, () => import('@ai-sdk/anthropic'));
    // Without apiKey the SDK would send a key from the environment to base_url.
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

/** Loads the packages at open, since that blocks the event loop. A missing one is reported by the first call. */
export async function loadPackages(kind: ModelSettings['kind']): Promise<void> {
  const endpoint = kind === 'anthropic' ? import('@ai-sdk/anthropic') : import('@ai-sdk/openai-compatible');
  await Promise.allSettled([import('ai'), endpoint]);
}

/** Loads an optional package. */
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
