/** Calls the embedder for questions and documents: with a timeout, checks and counters. */
import { RuntimePart } from '../../engine/index.js';
import { anySignal } from '../../kernel/index.js';
import { type Embedder, EmbeddingFailure, type Vector } from '../../providers/index.js';
import { normalised } from './encoding.js';

/** A search goes on without the vector rather than wait longer. */
const QUESTION_MS = 2000;
/** For a batch, retries of the embedder included. */
const DOCUMENTS_MS = 45_000;
/** Pages of one answer and repeated questions share a vector. */
const QUESTIONS_KEPT = 200;
/** Circuit breaker: after this many failures in a row, questions skip the endpoint for a while. */
const FAILURES_IN_A_ROW = 3;
const BREAK_MS = 10_000;

/** Unit vectors, undefined for a zero vector. */
type Vectors = (Float32Array | undefined)[];

export class Embedding {
  readonly embedder: Embedder;
  readonly #questions = new Map<string, Float32Array>();
  readonly #stopped = new AbortController();
  #dimensions: number | undefined;
  #inARow = 0;
  #skipUntil = Number.NEGATIVE_INFINITY;
  #failures = 0;
  #texts = 0;
  #failedQuestions = 0;

  constructor(embedder: Embedder) {
    this.embedder = embedder;
    this.#dimensions = embedder.dimensions;
  }

  /** Known from the embedder, or from its first vectors. */
  get dimensions(): number | undefined {
    return this.#dimensions;
  }

  get batch_size(): number {
    return Math.max(1, this.embedder.batch_size ?? 64);
  }

  /** The vector of a question; undefined if there is none in time. */
  async question(text: string): Promise<Float32Array | undefined> {
    const known = this.#questions.get(text);
    if (known) return known;
    if (performance.now() < this.#skipUntil) {
      this.#failedQuestions++;
      return undefined;
    }
    try {
      const [vector] = await this.#embed([text], 'question', QUESTION_MS);
      this.#inARow = 0;
      if (!vector) return undefined;
      if (this.#questions.size >= QUESTIONS_KEPT) this.#questions.delete(this.#questions.keys().next().value as string);
      this.#questions.set(text, vector);
      return vector;
    } catch {
      this.#failedQuestions++;
      if (++this.#inARow >= FAILURES_IN_A_ROW) this.#skipUntil = performance.now() + BREAK_MS;
      return undefined;
    }
  }

  /** Throws EmbeddingFailure. */
  documents(texts: readonly string[]): Promise<Vectors> {
    return this.#embed(texts, 'document', DOCUMENTS_MS);
  }

  async #embed(texts: readonly string[], kind: 'document' | 'question', limit_ms: number): Promise<Vectors> {
    try {
      const signal = anySignal([AbortSignal.timeout(limit_ms), this.#stopped.signal]);
      // An embedder may return a value instead of a promise, or throw synchronously.
      const work = Promise.resolve().then(() => this.embedder.embed(texts, { signal, kind }));
      const given = await orAborted(work, signal);
      const vectors = this.#checked(given, texts.length);
      this.#texts += texts.length;
      return vectors;
    } catch (error) {
      if (!this.#stopped.signal.aborted) this.#failures++;
      throw error instanceof EmbeddingFailure ? error : new EmbeddingFailure('the embedder failed');
    }
  }

  /** Checks the vectors: an embedder may be third-party code. */
  #checked(given: unknown, count: number): Vectors {
    if (!Array.isArray(given) || given.length !== count)
      throw new EmbeddingFailure(`the embedder did not return ${count} vectors`);
    const dimensions = this.#dimensions ?? (given[0] as { length?: number } | undefined)?.length;
    const fits = (vector: unknown) => isVector(vector) && vector.length === dimensions;
    if (!given.every(fits))
      throw new EmbeddingFailure('the embedder returned invalid vectors, or vectors of different lengths');
    this.#dimensions = dimensions;
    return (given as Vector[]).map(normalised);
  }

  figures(): Readonly<Record<string, number>> {
    return {
      embedder_texts: this.#texts,
      embedder_failures: this.#failures,
      embedder_questions_in_vain: this.#failedQuestions,
    };
  }

  stop(): void {
    this.#stopped.abort();
  }
}

function isVector(value: unknown): value is Vector {
  if (value instanceof Float32Array || value instanceof Float64Array) return value.length > 0;
  return Array.isArray(value) && value.length > 0 && value.every((member) => typeof member === 'number');
}

/** Stops waiting at the abort, even if the embedder ignores the signal. */
async function orAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  let onAbort = () => {};
  const aborted = new Promise<never>((_, reject) => {
    onAbort = () => reject(new EmbeddingFailure('the embedder did not answer in time'));
    if (signal.aborted) onAbort();
    else signal.addEventListener('abort', onAbort, { once: true });
  });
  try {
    return await Promise.race([work, aborted]);
  } finally {
    signal.removeEventListener('abort', onAbort);
    work.catch(() => undefined);
  }
}

export const embedding = new RuntimePart<Embedding>('an embedder');
