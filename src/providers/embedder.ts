/** Embedders turn texts into vectors: the seam, and an embedder for OpenAI-style HTTP endpoints. */
import { setTimeout as sleep } from 'node:timers/promises';
import { anySignal, invalid } from '../kernel/index.js';

export interface EmbedOptions {
  readonly signal: AbortSignal;
  /** Some models embed queries and documents differently. */
  readonly kind: 'document' | 'question';
}

export type Vector = readonly number[] | Float32Array | Float64Array;

export interface Embedder {
  /** Id of the model: vectors of different models are never compared. */
  readonly name: string;
  /** Length of its vectors, if known before the first. */
  readonly dimensions?: number | undefined;
  /** Texts per call; default: 64. */
  readonly batch_size?: number | undefined;
  /** Weight of similarity relative to shared terms; default: 0.4. */
  readonly weight?: number | undefined;
  /** One vector per text, in the order of the texts. */
  embed(texts: readonly string[], options: EmbedOptions): Promise<readonly Vector[]>;
}

/** Why there is no vector. No message holds the key or a text. */
export class EmbeddingFailure extends Error {
  /** The endpoint refused these texts; others may still succeed. */
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
/** Longest delay before a retry; an endpoint that asks for more fails at once, and the caller tries later. */
const MAX_WAIT_MS = 5000;
const MAX_ANSWER_BYTES = 64 * 1024 * 1024;
/** Vectors with more dimensions are refused. */
const MAX_DIMENSIONS = 8192;
const TIMED_OUT = 'the embedder did not answer in time';

interface Float32Embedder extends Embedder {
  embed(texts: readonly string[], options: EmbedOptions): Promise<Float32Array[]>;
}

/** An embedder over HTTP: `POST {url}/embeddings` with `{ model, input }`. */
export function httpEmbedder(settings: HttpEmbedderSettings): Float32Embedder {
  const { url, model, key, dimensions, batch_size = BATCH_SIZE, weight } = settings;
  const { timeout_ms = TIMEOUT_MS, attempts = ATTEMPTS } = settings;
  const endpoint = endpointOf(url);
  if (typeof model !== 'string' || model.trim() === '') throw invalid('`model` must be the name of an embedding model');
  let expected = dimensions;

  const ask = async (texts: readonly string[], signal: AbortSignal): Promise<Float32Array[]> => {
    const response = await fetch(endpoint, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...(key === undefined ? {} : { authorization: `Bearer ${key}` }) },
      body: JSON.stringify({ model, input: texts, ...(dimensions === undefined ? {} : { dimensions }) }),
      // A redirect would send the key to another host.
      redirect: 'error',
      signal: anySignal([signal, AbortSignal.timeout(timeout_ms)]),
    });
    if (!response.ok) {
      await response.body?.cancel();
      throw statusFailure(response);
    }
    const vectors = vectorsIn(await readBounded(response), texts.length, expected);
    expected ??= vectors[0]?.length;
    return vectors;
  };

  const embedBatch = async (texts: readonly string[], signal: AbortSignal): Promise<Float32Array[]> => {
    for (let attempt = 1; ; attempt++) {
      try {
        return await ask(texts, signal);
      } catch (error) {
        if (signal.aborted) throw new EmbeddingFailure(TIMED_OUT);
        const failure = error instanceof EmbeddingFailure ? error : connectionFailure(error);
        if (!(failure instanceof TransientFailure) || attempt >= attempts) throw failure;
        const wait_ms = failure.wait_ms ?? BACKOFF_MS * 2 ** attempt * (0.5 + Math.random());
        if (wait_ms > MAX_WAIT_MS) throw failure;
        await sleep(wait_ms, undefined, { signal }).catch(() => undefined);
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
        vectors.push(...(await embedBatch(texts.slice(at, at + batch_size), signal)));
      return vectors;
    },
  };
}

function endpointOf(url: string): URL {
  const endpoint = URL.canParse(url) ? new URL(url) : undefined;
  if (!endpoint || !/^https?:$/.test(endpoint.protocol))
    throw invalid('`url` of the embedder must begin with http:// or https://');
  endpoint.pathname = `${endpoint.pathname.replace(/\/+$/, '')}/embeddings`;
  return endpoint;
}

/** A failure after which the same request may succeed. */
class TransientFailure extends EmbeddingFailure {
  /** The delay that the endpoint asked for. */
  readonly wait_ms: number | undefined;

  constructor(message: string, wait_ms?: number) {
    super(message);
    this.wait_ms = wait_ms;
  }
}

/** Statuses that concern these texts alone: too long, or invalid. */
const REFUSALS: ReadonlySet<number> = new Set([400, 413, 422]);

function statusFailure({ status, headers }: Response): EmbeddingFailure {
  const message = `the embedder answered ${status}`;
  if (status !== 408 && status !== 429 && status < 500) return new EmbeddingFailure(message, REFUSALS.has(status));
  const seconds = Number(headers.get('retry-after') ?? Number.NaN);
  return new TransientFailure(message, Number.isFinite(seconds) && seconds >= 0 ? seconds * 1000 : undefined);
}

/** Leaves out the message of fetch, which may quote the request. */
const connectionFailure = (error: unknown): TransientFailure =>
  new TransientFailure((error as Error).name === 'TimeoutError' ? TIMED_OUT : 'the embedder cannot be reached');

async function readBounded(response: Response): Promise<unknown> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of response.body ?? []) {
    size += chunk.byteLength;
    if (size > MAX_ANSWER_BYTES) throw new EmbeddingFailure('the answer of the embedder is too large');
    chunks.push(chunk);
  }
  try {
    return JSON.parse(Buffer.concat(chunks).toString('utf8')) as unknown;
  } catch {
    throw new EmbeddingFailure('the answer of the embedder is not JSON');
  }
}

/** The vectors of an answer, placed by their `index`. */
function vectorsIn(answer: unknown, count: number, expected: number | undefined): Float32Array[] {
  const data = (answer as { data?: unknown } | null)?.data;
  if (!Array.isArray(data) || data.length !== count)
    throw new EmbeddingFailure(`the embedder did not answer with ${count} vectors`);
  const vectors = Array<Float32Array | undefined>(count).fill(undefined);
  data.forEach((item: { index?: unknown; embedding?: unknown } | null, i) => {
    const index = item?.index ?? i;
    if (typeof index !== 'number' || !(index in vectors) || vectors[index] !== undefined)
      throw new EmbeddingFailure('the embedder numbered its vectors wrongly');
    vectors[index] = vectorOf(item?.embedding);
  });
  const dimensions = expected ?? vectors[0]!.length;
  if (vectors.some((vector) => vector!.length !== dimensions))
    throw new EmbeddingFailure(`the embedder answered with vectors of other than ${dimensions} dimensions`);
  return vectors as Float32Array[];
}

function vectorOf(members: unknown): Float32Array {
  const isVector =
    Array.isArray(members) && members.length > 0 && members.length <= MAX_DIMENSIONS && members.every(Number.isFinite);
  if (!isVector) throw new EmbeddingFailure('the embedder answered with a value that is no vector');
  return Float32Array.from(members as number[]);
}
