/** The jobs that this process is about to begin or has under way: so many at a time, and none once the store closes. */
import { Lane } from '../../driver/index.js';
import { RuntimePart } from '../../engine/index.js';

/**
 * What became of a look at a job. `missing`: it is not there, or not yet, since its transaction is under way. `again`: it
 * is to be begun anew at once.
 */
export type Looked = 'missing' | 'left' | 'worked' | 'again';
export type RunJob = (tenant: string, job_id: string, signal: AbortSignal) => Promise<Looked>;

const AT_ONCE = 4;
const MAX_WAITING = 10_000;
/** A job is expected before its transaction has committed: it is looked for after a moment, and a few times more. */
const FIRST_LOOK_MS = 20;
const LOOKS = 7;

interface Waiting {
  readonly tenant: string;
  readonly job_id: string;
  readonly looks: number;
}

export class JobQueue {
  #run: RunJob | undefined;
  /** All that are expected, and those of them that are under way. */
  readonly #waiting = new Set<string>();
  readonly #underWay = new Set<string>();
  /** By tenant: these are served in turn, so that none waits for all that another has caused. */
  readonly #ready = new Map<string, Waiting[]>();
  /** What has no time to ask a provider waits behind nothing that does. */
  readonly #urgent: Waiting[] = [];
  readonly #timers = new Set<NodeJS.Timeout>();
  readonly #running = new Set<Promise<void>>();
  readonly #hurrying = new Set<Promise<void>>();
  readonly #stop = new AbortController();
  /** For those who wait until a scope closes: beside what is done in the background, which may hang. */
  readonly closing = new Lane(AT_ONCE);

  /** Given once the store closes. */
  get signal(): AbortSignal {
    return this.#stop.signal;
  }

  /** Until it is started nothing is run: whoever has the store open in the background finds the jobs in the database. */
  start(run: RunJob): void {
    this.#run = run;
  }

  /** How many wait or are under way. */
  get waiting(): number {
    return this.#waiting.size;
  }

  isUnderWay(job_id: string): boolean {
    return this.#underWay.has(job_id);
  }

  /** A hint: what is lost of it, or is too much here, is noticed again by the lease of the job. */
  expect(tenant: string, job_id: string, urgent = false): void {
    if (!this.#run || this.#stop.signal.aborted) return;
    if (this.#waiting.has(job_id)) {
      if (urgent) this.#hurry(tenant, job_id);
      return;
    }
    if (this.#waiting.size >= MAX_WAITING && !urgent) return;
    this.#waiting.add(job_id);
    this.#later({ tenant, job_id, looks: 0 }, urgent);
  }

  /** Takes it out of those that wait for their turn, unless it is under way. */
  #hurry(tenant: string, job_id: string): void {
    const ready = this.#ready.get(tenant) ?? [];
    const at = ready.findIndex((one) => one.job_id === job_id);
    if (at === -1) return;
    this.#urgent.push(...ready.splice(at, 1));
    this.#next();
  }

  #later(one: Waiting, urgent: boolean): void {
    const timer = setTimeout(
      () => {
        this.#timers.delete(timer);
        const ready = this.#ready.get(one.tenant);
        if (urgent) this.#urgent.push(one);
        else if (ready) ready.push(one);
        else this.#ready.set(one.tenant, [one]);
        this.#next();
      },
      FIRST_LOOK_MS * 2 ** one.looks,
    ).unref();
    this.#timers.add(timer);
  }

  #nextReady(): Waiting | undefined {
    for (const [tenant, ready] of this.#ready) {
      const one = ready.shift();
      // Behind the other tenants, if it has more.
      this.#ready.delete(tenant);
      if (ready.length > 0) this.#ready.set(tenant, ready);
      if (one) return one;
    }
    return undefined;
  }

  #next(): void {
    while (this.#hurrying.size < AT_ONCE && !this.#stop.signal.aborted) {
      const one = this.#urgent.shift();
      if (!one) break;
      this.#begin(one, this.#hurrying);
    }
    while (this.#running.size < AT_ONCE && !this.#stop.signal.aborted) {
      const one = this.#nextReady();
      if (!one) break;
      this.#begin(one, this.#running);
    }
  }

  #begin({ tenant, job_id, looks }: Waiting, among: Set<Promise<void>>): void {
    this.#underWay.add(job_id);
    const running = this.#run!(tenant, job_id, this.#stop.signal)
      .catch((): Looked => 'left')
      .then((looked) => {
        this.#underWay.delete(job_id);
        const urgent = among === this.#hurrying;
        if (looked === 'again') this.#later({ tenant, job_id, looks: 0 }, urgent);
        else if (looked === 'missing' && looks + 1 < LOOKS) this.#later({ tenant, job_id, looks: looks + 1 }, urgent);
        else this.#waiting.delete(job_id);
      })
      .finally(() => {
        among.delete(running);
        this.#next();
      });
    among.add(running);
  }

  /** Begins nothing more, and ends what is under way: it is done by another, or when the store is opened again. */
  async stop(): Promise<void> {
    this.#stop.abort(new Error('the store is closing'));
    for (const timer of this.#timers) clearTimeout(timer);
    await Promise.allSettled([...this.#running, ...this.#hurrying]);
  }
}

export const jobQueue = new RuntimePart<JobQueue>('a job queue');
