/** Embedders: what turns texts into vectors. The one here asks an endpoint in the manner of OpenAI's. */
import { setTimeout as sleep } from 'node:timers/promises';
import { anySignal, invalid } from '../kernel/index.js';

export interface EmbedOptions {
  /** Gives up when it is aborted. */
  readonly signal: AbortSignal;
  /** Some models read a question differently from what is to be found. */
  readonly kind: 'document' | 'question';
}

/** Numbers in an array of any kind. */
export type Vector = readonly number[] | Float32Array | Float64Array;

export interface Embedder {
  /** The id of the model: vectors of different models are kept apart, and never compared. */
  readonly name: string;
  /** How long its vectors are, if that is known before the first. */
  readonly dimensions?: number | undefined;
  /** How many texts it takes at a time; 64 unless given. */
  readonly batch_size?: number | undefined;
  /** What its likeness counts where shared terms count 1; 0.4 unless given. */
  readonly weight?: number | undefined;
  /** A vector for each text, in their order. */
  embed(texts: readonly string[], options: EmbedOptions): Promise<readonly Vector[]>;
}

/** Why there is no vector: the texts were refused, or the endpoint is not there, not willing, or not sane. */
export class EmbeddingFailure extends Error {
  readonly refused: boolean;

  constructor(message: string, refused = false) {
    super(message);
    this.name = 'EmbeddingFailure';
    this.refused = refused;
  }
}

export interface HttpEmbedderSettings {
  /** Base URL, such as https://api.openai.com/v1; Cairn posts to `/embeddings` below it. */
  readonly url: string;
  /** Name of the embedding model. */
  readonly model: string;
  /** API key; default: none. */
  readonly key?: string | undefined;
  /** Dimensions to request; default: those of the first answer. */
  readonly dimensions?: number | undefined;
  /** Texts per request; default: 64. */
  readonly batch_size?: number | undefined;
  /** Weight of similarity relative to shared terms; default: 0.4. */
  readonly weight?: number | undefined;
  /** Timeout of one attempt; default: 20,000. */
  readonly timeout_ms?: number | undefined;
  /** Attempts at an endpoint that is busy or unreachable; default: 3. */
  readonly attempts?: number | undefined;
}

const BATCH_SIZE = 64;
const TIMEOUT_MS = 20_000;
const ATTEMPTS = 3;
const BACKOFF_MS = 250;
/** What an endpoint may ask to wait for; after longer than that somebody else is to try again. */
const MAX_WAIT_MS = 5000;
const MAX_ANSWER_BYTES = 64 * 1024 * 1024;
/** A vector of more is not believed. */
const MAX_DIMENSIONS = 8192;

/** An embedder that gives vectors of one kind. */
interface Float32Embedder extends Embedder {
  embed(texts: readonly string[], options: EmbedOptions): Promise<Float32Array[]>;
}

/** An embedder over HTTP: `POST {url}/embeddings` with `{ model, input }`. The key is in no message. */
export function httpEmbedder(settings: HttpEmbedderSettings): Float32Embedder {
  const { url, model, key, dimensions, batch_size = BATCH_SIZE, weight } = settings;
  const endpoint = endpointOf(url);
  if (typeof model !== 'string' || model.trim() === '') throw invalid('`model` must be the name of an embedding model');
  const { timeout_ms = TIMEOUT_MS, attempts = ATTEMPTS } = settings;
  let expected = dimensions;

  const ask = async (texts: readonly string[], signal: AbortSignal): Promise<Float32Array[]> => {
    const limited = anySignal([signal, AbortSignal.timeout(timeout_ms)]);
    const response = await fetch(endpoint, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...(key === undefined ? {} : { authorization: `Bearer ${key}` }) },
      body: JSON.stringify({ model, input: texts, ...(dimensions === undefined ? {} : { dimensions }) }),
      // To wherever it would be sent on, the key would go as well.
      redirect: 'error',
      signal: limited,
    });
    if (!response.ok) {
      await response.body?.cancel();
      throw new Unwilling(response.status, waitAsked(response));
    }
    const vectors = vectorsIn(await readBounded(response), texts.length, expected);
    expected ??= vectors[0]?.length;
    return vectors;
  };

  const embedSome = async (texts: readonly string[], signal: AbortSignal): Promise<Float32Array[]> => {
    for (let attempt = 1; ; attempt++) {
      try {
        return await ask(texts, signal);
      } catch (error) {
        if (signal.aborted) throw new EmbeddingFailure('the embedder did not answer in time');
        const failure = failureOf(error);
        if (!failure.passing || attempt >= attempts) throw failure.told;
        const pause = failure.wait_ms ?? BACKOFF_MS * 2 ** attempt * (0.5 + Math.random());
        if (pause > MAX_WAIT_MS) throw failure.told;
        await sleep(pause, undefined, { signal }).catch(() => undefined);
      }
    }
  };

  return {
    name: model,
    dimensions,
    batch_size,
    weight,
    embed: async (texts, { signal }) => {
      const vectors: Float32Array[] = [];
      for (let at = 0; at < texts.length; at += batch_size)
        vectors.push(...(await embedSome(texts.slice(at, at + batch_size), signal)));
      return vectors;
    },
  };
}

function endpointOf(url: string): URL {
  const endpoint = URL.canParse(url) ? new URL(url) : undefined;
  if (!endpoint || !/^https?:$/.test(endpoint.protocol))
    throw invalid('the URL of the embedder must be one of http:// or https://');
  endpoint.pathname = `${endpoint.pathname.replace(/\/+$/, '')}/embeddings`;
  return endpoint;
}

/** An answer that says no. */
class Unwilling extends Error {
  readonly status: number;
  readonly wait_ms: number | undefined;

  constructor(status: number, wait_ms: number | undefined) {
    super(`the embedder answered ${status}`);
    this.status = status;
    this.wait_ms = wait_ms;
  }
}

function waitAsked(response: Response): number | undefined {
  const seconds = Number(response.headers.get('retry-after') ?? Number.NaN);
  return Number.isFinite(seconds) && seconds >= 0 ? seconds * 1000 : undefined;
}

interface Failure {
  readonly told: EmbeddingFailure;
  /** Whether the same may go well in a moment. */
  readonly passing: boolean;
  readonly wait_ms?: number | undefined;
}

/** Too long, or not to its liking: of these texts, and not of all. */
const REFUSALS: ReadonlySet<number> = new Set([400, 413, 422]);

function failureOf(error: unknown): Failure {
  if (error instanceof EmbeddingFailure) return { told: error, passing: false };
  if (error instanceof Unwilling) {
    const { status, wait_ms, message } = error;
    const passing = status === 408 || status === 429 || status >= 500;
    return { told: new EmbeddingFailure(message, REFUSALS.has(status)), passing, wait_ms };
  }
  // What fetch says of a connection may name what was sent: it is not repeated.
  const slow = (error as Error).name === 'TimeoutError';
  return {
    told: new EmbeddingFailure(slow ? 'the embedder did not answer in time' : 'the embedder cannot be reached'),
    passing: true,
  };
}

async function readBounded(response: Response): Promise<unknown> {
  const parts: Uint8Array[] = [];
  let size = 0;
  for await (const part of response.body ?? []) {
    size += part.byteLength;
    if (size > MAX_ANSWER_BYTES) throw new EmbeddingFailure('the answer of the embedder is too large');
    parts.push(part);
  }
  try {
    return JSON.parse(Buffer.concat(parts).toString('utf8')) as unknown;
  } catch {
    throw new EmbeddingFailure('the answer of the embedder is not JSON');
  }
}

/** The vectors of an answer, by their `index`; refuses what does not fit the question. */
function vectorsIn(answer: unknown, count: number, expected: number | undefined): Float32Array[] {
  const data = (answer as { data?: unknown } | null)?.data;
  if (!Array.isArray(data) || data.length !== count)
    throw new EmbeddingFailure(`the embedder did not answer with ${count} vectors`);
  const vectors = Array<Float32Array | undefined>(count).fill(undefined);
  data.forEach((item: { index?: unknown; embedding?: unknown } | null, i) => {
    const index = item?.index ?? i;
    const members = item?.embedding;
    if (typeof index !== 'number' || !(index in vectors) || vectors[index] !== undefined)
      throw new EmbeddingFailure('the embedder numbered its vectors wrongly');
    vectors[index] = vectorOf(members);
  });
  const dimensions = expected ?? vectors[0]!.length;
  if (vectors.some((vector) => vector!.length !== dimensions))
    throw new EmbeddingFailure(`the embedder answered with vectors of other than ${dimensions} dimensions`);
  return vectors as Float32Array[];
}

function vectorOf(members: unknown): Float32Array {
  const fits =
    Array.isArray(members) &&
    members.length > 0 &&
    members.length <= MAX_DIMENSIONS &&
    members.every((member) => typeof member === 'number' && Number.isFinite(member));
  if (!fits) throw new EmbeddingFailure('the embedder answered with something that is no vector');
  return Float32Array.from(members as number[]);
}
