/** The queue of jobs in this process: a few run at a time, and none once the store closes. */
import { Lane } from '../../driver/index.js';
import { RuntimePart } from '../../engine/index.js';

/** `missing`: not in the database, or not committed yet. `again`: to be started again at once. */
export type JobRun = 'missing' | 'left' | 'worked' | 'again';
type RunJob = (tenant: string, job_id: string, signal: AbortSignal) => Promise<JobRun>;

const MAX_RUNNING = 4;
const MAX_WAITING = 10_000;
/** A job is queued before its transaction commits: it is looked up after a delay that doubles each time. */
const FIRST_LOOKUP_MS = 20;
const MAX_LOOKUPS = 7;

interface QueuedJob {
  readonly tenant: string;
  readonly job_id: string;
  readonly lookups: number;
}

export class JobQueue {
  #run: RunJob | undefined;
  /** All queued jobs, and the running ones among them. */
  readonly #waiting = new Set<string>();
  readonly #underWay = new Set<string>();
  /** By tenant: tenants take turns, so that none waits for all jobs of another. */
  readonly #ready = new Map<string, QueuedJob[]>();
  /** Jobs without time for a provider; they do not wait for jobs that call one. */
  readonly #urgent: QueuedJob[] = [];
  readonly #timers = new Set<NodeJS.Timeout>();
  readonly #running = new Set<Promise<void>>();
  readonly #runningUrgent = new Set<Promise<void>>();
  readonly #stop = new AbortController();
  /** For callers that close a scope: separate from background jobs, which may hang. */
  readonly closing = new Lane(MAX_RUNNING);

  /** Aborted when the store closes. */
  get signal(): AbortSignal {
    return this.#stop.signal;
  }

  /** Until it is started, nothing runs: a process with a background worker finds the jobs in the database. */
  start(run: RunJob): void {
    this.#run = run;
  }

  /** Number of queued and running jobs. */
  get waiting(): number {
    return this.#waiting.size;
  }

  isUnderWay(job_id: string): boolean {
    return this.#underWay.has(job_id);
  }

  /** Queues a job. Only a hint: the lease of a job that is lost or refused here brings it back. */
  expect(tenant: string, job_id: string, urgent = false): void {
    if (!this.#run || this.#stop.signal.aborted) return;
    if (this.#waiting.has(job_id)) {
      if (urgent) this.#hurry(tenant, job_id);
      return;
    }
    if (this.#waiting.size >= MAX_WAITING && !urgent) return;
    this.#waiting.add(job_id);
    this.#later({ tenant, job_id, lookups: 0 }, urgent);
  }

  /** Moves a ready job to the urgent ones. */
  #hurry(tenant: string, job_id: string): void {
    const ready = this.#ready.get(tenant) ?? [];
    const at = ready.findIndex((one) => one.job_id === job_id);
    if (at === -1) return;
    this.#urgent.push(...ready.splice(at, 1));
    this.#next();
  }

  #later(one: QueuedJob, urgent: boolean): void {
    const timer = setTimeout(
      () => {
        this.#timers.delete(timer);
        const ready = this.#ready.get(one.tenant);
        if (urgent) this.#urgent.push(one);
        else if (ready) ready.push(one);
        else this.#ready.set(one.tenant, [one]);
        this.#next();
      },
      FIRST_LOOKUP_MS * 2 ** one.lookups,
    ).unref();
    this.#timers.add(timer);
  }

  #nextReady(): QueuedJob | undefined {
    for (const [tenant, ready] of this.#ready) {
      const one = ready.shift();
      // A tenant with more jobs goes behind the other tenants.
      this.#ready.delete(tenant);
      if (ready.length > 0) this.#ready.set(tenant, ready);
      if (one) return one;
    }
    return undefined;
  }

  #next(): void {
    this.#fill(this.#runningUrgent, () => this.#urgent.shift());
    this.#fill(this.#running, () => this.#nextReady());
  }

  #fill(running: Set<Promise<void>>, next: () => QueuedJob | undefined): void {
    while (running.size < MAX_RUNNING && !this.#stop.signal.aborted) {
      const one = next();
      if (!one) return;
      this.#begin(one, running);
    }
  }

  #begin({ tenant, job_id, lookups }: QueuedJob, among: Set<Promise<void>>): void {
    this.#underWay.add(job_id);
    const running = this.#run!(tenant, job_id, this.#stop.signal)
      .catch((): JobRun => 'left')
      .then((run) => {
        this.#underWay.delete(job_id);
        const urgent = among === this.#runningUrgent;
        if (run === 'again') this.#later({ tenant, job_id, lookups: 0 }, urgent);
        else if (run === 'missing' && lookups + 1 < MAX_LOOKUPS)
          this.#later({ tenant, job_id, lookups: lookups + 1 }, urgent);
        else this.#waiting.delete(job_id);
      })
      .finally(() => {
        among.delete(running);
        this.#next();
      });
    among.add(running);
  }

  /** Starts no further job and aborts running ones; another process does them, or this one after reopening the store. */
  async stop(): Promise<void> {
    this.#stop.abort(new Error('the store is closing'));
    for (const timer of this.#timers) clearTimeout(timer);
    await Promise.allSettled([...this.#running, ...this.#runningUrgent]);
  }
}

export const jobQueue = new RuntimePart<JobQueue>('a job queue');
