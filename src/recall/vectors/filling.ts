/**
 * Computes the vectors of new documents in the background: no write waits for it or fails because of it. Its progress
 * is stored and survives a crash; a lease lets one server at a time work on a tenant.
 */
import { createHmac, randomUUID } from 'node:crypto';
import { type Driver, longQuery } from '../../driver/index.js';
import { listTenants, type Runtime, type StoreMeta } from '../../engine/index.js';
import {
  claimVectorMaking,
  countUnembedded,
  docsToRetry,
  type Embedding,
  knownVectors,
  type MadeVector,
  noteVectorProgress,
  type Outcome,
  readProgress,
  releaseVectorMaking,
  storeOutcomes,
  type UnembeddedDoc,
  unembeddedDocs,
  type VectorIndexing,
} from '../../index/index.js';
import { bitsAsDigits, bitsToText, extentOf, signBits, vectorFromText, vectorToText } from '../../index/sql.js';
import { EmbeddingFailure } from '../../providers/index.js';
import { embeddingTexts } from './texts.js';

const TICK_MS = 500;
/** Interval of rounds over all tenants after writes of other processes, and without: a retry may be due. */
const FOREIGN_ROUND_MS = 5000;
const FULL_ROUND_MS = 30_000;
/** Document numbers covered by one read. */
const WINDOW = 5000;
/** Lease on a tenant: longer than a batch may take. */
const LEASE_MS = 90_000;
const TEXTS_PER_READ = 8;
const BACKOFF_MS = 1000;
const MAX_BACKOFF_MS = 300_000;
const MAX_ATTEMPTS = 5;
const RETRY_MS = 60_000;
/** If an embedder refuses even this, the text is not at fault. */
const PROBE = 'hello';

export class VectorFilling {
  readonly #driver: Driver;
  readonly #meta: StoreMeta;
  readonly #embedding: Embedding;
  readonly #indexing: VectorIndexing;
  readonly #holder = randomUUID();
  readonly #timer: NodeJS.Timeout;
  readonly #unlisten: () => void;
  readonly #written = new Set<string>();
  /** Ignores the stored progress while `settle` waits. */
  #fromStart = false;
  #everyone = true;
  #lastRound = Number.NEGATIVE_INFINITY;
  #working: Promise<void> | undefined;
  #pause_ms = 0;
  #notBefore = Number.NEGATIVE_INFINITY;
  #stopped = false;
  #made = 0;
  #givenUp = 0;

  constructor({ driver, meta }: Pick<Runtime, 'driver' | 'meta'>, embedding: Embedding, indexing: VectorIndexing) {
    this.#driver = driver;
    this.#meta = meta;
    this.#embedding = embedding;
    this.#indexing = indexing;
    this.#timer = setInterval(() => this.#tick(), TICK_MS).unref();
    this.#unlisten = driver.onCommit((tenant) => {
      if (tenant === undefined) this.#everyone = true;
      else this.#written.add(tenant);
    });
  }

  #tick(): void {
    if (this.#stopped) return;
    // Even while the embedder is unavailable or a round takes long.
    void this.#indexing.look();
    if (performance.now() >= this.#notBefore) void this.#work();
  }

  /** Runs one round at a time. */
  #work(): Promise<void> {
    this.#working ??= this.#round()
      .then(
        () => (this.#pause_ms = 0),
        () => this.#backOff(),
      )
      .then(() => (this.#working = undefined));
    return this.#working;
  }

  /** After a failure of the endpoint or the database, later rounds find the same work again. */
  #backOff(): void {
    this.#lookAtAll();
    this.#pause_ms = Math.min(MAX_BACKOFF_MS, Math.max(BACKOFF_MS, 2 * this.#pause_ms));
    this.#notBefore = performance.now() + this.#pause_ms * (0.75 + Math.random() / 2);
  }

  async #round(): Promise<void> {
    await this.#indexing.look();
    const since = performance.now() - this.#lastRound;
    const everyone = since >= (this.#everyone ? FOREIGN_ROUND_MS : FULL_ROUND_MS);
    const written = [...this.#written];
    this.#written.clear();
    if (everyone) {
      this.#everyone = false;
      this.#lastRound = performance.now();
    }
    const tenants = everyone ? await this.#tenants() : written;
    for (const tenant of tenants) {
      if (this.#stopped) return;
      await this.#fill(tenant);
    }
  }

  /** Makes the next round cover all tenants. */
  #lookAtAll(): void {
    this.#everyone = true;
    this.#lastRound = Number.NEGATIVE_INFINITY;
  }

  async #tenants(): Promise<string[]> {
    return (await listTenants(this.#driver.at(''))).map(({ tenant_id }) => tenant_id);
  }

  async #fill(tenant: string): Promise<void> {
    const { name: model } = this.#embedding.embedder;
    const query = longQuery(this.#driver, tenant);
    const { last, docs, generation } = await extentOf(query);
    const stored = await readProgress(query, model);
    const start = stored && stored.generation >= generation && !this.#fromStart ? stored.position : 0;
    const work = { held: false };
    try {
      const due = await docsToRetry(query, model, this.#driver.now(), this.#embedding.batch_size);
      if (due.length > 0 && !(await this.#make(tenant, due, work))) return;
      let done = start;
      for (let after = start; after < last; after += WINDOW) {
        const to = Math.min(last, after + WINDOW);
        if (!(await this.#fillWindow(tenant, after, to, work))) return;
        if (done === after) done = to;
      }
      if (done > start && (work.held || done - start >= WINDOW)) {
        if (!work.held && !(await this.#hold(tenant))) return;
        work.held = true;
        await this.#driver.write(tenant, (tx) => noteVectorProgress(tx, model, { generation, position: done }));
      }
      const { dimensions } = this.#embedding;
      if (dimensions !== undefined) this.#indexing.keep({ tenant, model, dimensions }, docs);
    } finally {
      if (work.held)
        await this.#driver.write(tenant, (tx) => releaseVectorMaking(tx, model, this.#holder)).catch(() => undefined);
    }
  }

  /** False if another server has the lease, the filling stops, or nothing could be stored. */
  async #fillWindow(tenant: string, after: number, to: number, work: { held: boolean }): Promise<boolean> {
    const { name: model } = this.#embedding.embedder;
    const query = longQuery(this.#driver, tenant);
    for (;;) {
      if (this.#stopped) return false;
      const docs = await unembeddedDocs(query, model, after, to, this.#embedding.batch_size);
      if (docs.length === 0) return true;
      if (!(await this.#make(tenant, docs, work))) return false;
    }
  }

  #hold(tenant: string): Promise<boolean> {
    const now = this.#driver.now();
    return this.#driver.write(tenant, (tx) =>
      claimVectorMaking(tx, this.#embedding.embedder.name, this.#holder, now, now + LEASE_MS),
    );
  }

  /** Computes and stores the vectors of a batch. False if another server has the lease, or nothing could be stored. */
  async #make(tenant: string, docs: readonly UnembeddedDoc[], work: { held: boolean }): Promise<boolean> {
    if (!(await this.#hold(tenant))) return false;
    work.held = true;
    const { name: model } = this.#embedding.embedder;
    const outcomes = await this.#outcomesOf(tenant, docs);
    const stored = await this.#driver.write(tenant, (tx) => storeOutcomes(tx, model, outcomes));
    this.#made += outcomes.filter(({ made }) => made !== null).length;
    this.#givenUp += outcomes.filter(({ made, attempts, retry_at }) => !made && attempts > 0 && !retry_at).length;
    return stored > 0;
  }

  async #outcomesOf(tenant: string, docs: readonly UnembeddedDoc[]): Promise<Outcome[]> {
    const query = longQuery(this.#driver, tenant);
    const texts = new Map<number, string>();
    // A few at a time: texts may be large, and other work runs in between.
    for (let at = 0; at < docs.length; at += TEXTS_PER_READ)
      for (const [doc_no, text] of await embeddingTexts(query, docs.slice(at, at + TEXTS_PER_READ)))
        texts.set(doc_no, text);
    const hashOf = (text: string) => createHmac('sha256', this.#meta.erasure_key).update(text).digest('base64url');
    const wanted = new Map([...texts.values()].filter((text) => text !== '').map((text) => [hashOf(text), text]));
    const known = await knownVectors(query, this.#embedding.embedder.name, [...wanted.keys()]);
    const missing = [...wanted].filter(([hash]) => !known.has(hash));
    const vectors = await this.#embedApart(missing.map(([, text]) => text));
    const made = new Map<string, MadeVector>();
    const put = (content_hash: string, vector: Float32Array) =>
      made.set(content_hash, {
        content_hash,
        dimensions: vector.length,
        vector: vectorToText(vector),
        bits: this.#driver.dialect === 'sqlite' ? bitsToText(signBits(vector)) : bitsAsDigits(vector),
      });
    for (const [hash, text] of known) put(hash, vectorFromText(text));
    for (const [i, [hash]] of missing.entries()) if (vectors[i]) put(hash, vectors[i]);
    return docs.map(({ doc_no, attempts: before }) => {
      const text = texts.get(doc_no) ?? '';
      if (text === '') return { doc_no, attempts: 0, retry_at: null, made: null };
      const found = made.get(hashOf(text)) ?? null;
      const attempts = before + 1;
      const again = found || attempts >= MAX_ATTEMPTS ? null : this.#driver.now() + RETRY_MS * 4 ** before;
      return { doc_no, attempts, retry_at: again, made: found };
    });
  }

  /** If a batch is refused, embeds each text alone to find the culprit. Throws if the endpoint itself fails. */
  async #embedApart(texts: readonly string[]): Promise<(Float32Array | undefined)[]> {
    if (texts.length === 0) return [];
    try {
      return await this.#embedding.documents(texts);
    } catch (error) {
      if (!(error instanceof EmbeddingFailure && error.refused)) throw error;
    }
    await this.#embedding.documents([PROBE]);
    const vectors: (Float32Array | undefined)[] = [];
    for (const text of texts) {
      try {
        vectors.push((await this.#embedding.documents([text]))[0]);
      } catch (error) {
        if (!(error instanceof EmbeddingFailure && error.refused)) throw error;
        vectors.push(undefined);
      }
    }
    return vectors;
  }

  /** Works until no document lacks a vector or the time is over; returns how many still do. */
  async settle(timeout_ms: number): Promise<number> {
    const until = performance.now() + timeout_ms;
    for (;;) {
      const left = await this.#lacking();
      if (left === 0 || this.#stopped || performance.now() >= until) return left;
      await this.#working;
      if (performance.now() >= this.#notBefore) {
        this.#lookAtAll();
        this.#fromStart = true;
        await this.#work().finally(() => (this.#fromStart = false));
      }
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
  }

  async #lacking(): Promise<number> {
    let sum = 0;
    for (const tenant of await this.#tenants()) {
      const [row] = await this.#driver.long<{ lacking: number }>(
        tenant,
        countUnembedded(this.#embedding.embedder.name),
      );
      sum += Number(row!.lacking);
    }
    return sum;
  }

  figures(): Readonly<Record<string, number>> {
    return { vectors_made: this.#made, vectors_given_up: this.#givenUp };
  }

  async stop(): Promise<void> {
    this.#stopped = true;
    clearInterval(this.#timer);
    this.#unlisten();
    await this.#working;
  }
}
