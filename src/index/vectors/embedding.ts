/** Asks the embedder, for questions and for documents: within a time, checked, and counted. */
import { RuntimePart } from '../../engine/index.js';
import { anySignal } from '../../kernel/index.js';
import { type Embedder, EmbeddingFailure, type Vector } from '../../providers/index.js';
import { normalised } from './encoding.js';

/** A question is answered without its vector rather than later. */
const QUESTION_MS = 2000;
/** Of a batch, whatever the embedder tries in that time. */
const DOCUMENTS_MS = 45_000;
/** Pages of one answer, and questions that are asked again, share a vector. */
const QUESTIONS_KEPT = 200;
/** After so many questions in vain the endpoint is left alone for a while, so that not each one waits. */
const FAILURES_IN_A_ROW = 3;
const LEFT_ALONE_MS = 10_000;

export class Embedding {
  readonly embedder: Embedder;
  readonly #questions = new Map<string, Float32Array>();
  readonly #stopped = new AbortController();
  #dimensions: number | undefined;
  #inARow = 0;
  #leftAloneUntil = Number.NEGATIVE_INFINITY;
  #failures = 0;
  #texts = 0;
  #questionsInVain = 0;

  constructor(embedder: Embedder) {
    this.embedder = embedder;
    this.#dimensions = embedder.dimensions;
  }

  /** Of its vectors, as soon as that is known. */
  get dimensions(): number | undefined {
    return this.#dimensions;
  }

  get batch_size(): number {
    return Math.max(1, this.embedder.batch_size ?? 64);
  }

  /** The vector of a question; undefined if there is none to be had in time. */
  async question(text: string): Promise<Float32Array | undefined> {
    const known = this.#questions.get(text);
    if (known) return known;
    if (performance.now() < this.#leftAloneUntil) {
      this.#questionsInVain++;
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
      this.#questionsInVain++;
      if (++this.#inARow >= FAILURES_IN_A_ROW) this.#leftAloneUntil = performance.now() + LEFT_ALONE_MS;
      return undefined;
    }
  }

  /** The vectors of these texts, undefined for one without a direction; an EmbeddingFailure says why there are none. */
  documents(texts: readonly string[]): Promise<(Float32Array | undefined)[]> {
    return this.#embed(texts, 'document', DOCUMENTS_MS);
  }

  async #embed(
    texts: readonly string[],
    kind: 'document' | 'question',
    limit_ms: number,
  ): Promise<(Float32Array | undefined)[]> {
    try {
      const signal = anySignal([AbortSignal.timeout(limit_ms), this.#stopped.signal]);
      // An embedder may answer at once rather than by a promise, or throw before it gives one.
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

  /** An embedder may be anyone's: what it gives is looked at, whatever it checks itself. */
  #checked(given: unknown, count: number): (Float32Array | undefined)[] {
    if (!Array.isArray(given) || given.length !== count)
      throw new EmbeddingFailure(`the embedder gave other than ${count} vectors`);
    const dimensions = this.#dimensions ?? (given[0] as { length?: number } | undefined)?.length;
    const fits = (vector: unknown) => isVector(vector) && vector.length === dimensions;
    if (!given.every(fits)) throw new EmbeddingFailure('the embedder gave vectors that are none, or not of one length');
    this.#dimensions = dimensions;
    return (given as Vector[]).map(normalised);
  }

  figures(): Readonly<Record<string, number>> {
    return {
      embedder_texts: this.#texts,
      embedder_failures: this.#failures,
      embedder_questions_in_vain: this.#questionsInVain,
    };
  }

  /** Lets go of what is under way. */
  stop(): void {
    this.#stopped.abort();
  }
}

function isVector(value: unknown): value is Vector {
  if (value instanceof Float32Array || value instanceof Float64Array) return value.length > 0;
  return Array.isArray(value) && value.length > 0 && value.every((member) => typeof member === 'number');
}

/** Also an embedder that pays no regard to the signal keeps nobody waiting. */
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
