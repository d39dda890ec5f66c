/** The jobs that this process is about to begin or has under way: so many at a time, and none once the store closes. */

/** What became of a look at a job. `missing`: it is not there, or not yet, since its transaction is under way. */
export type Looked = 'missing' | 'left' | 'worked';
export type RunJob = (tenant: string, job_id: string, signal: AbortSignal) => Promise<Looked>;

const AT_ONCE = 4;
const MAX_WAITING = 10_000;
/** A job is expected before its transaction has committed: it is looked for after a moment, and a few times more. */
const FIRST_LOOK_MS = 20;
const LOOKS = 7;

export class JobQueue {
  #run: RunJob | undefined;
  readonly #waiting = new Set<string>();
  readonly #ready: { readonly tenant: string; readonly job_id: string; readonly looks: number }[] = [];
  readonly #timers = new Set<NodeJS.Timeout>();
  readonly #running = new Set<Promise<void>>();
  readonly #stop = new AbortController();

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

  /** A hint: what is lost of it, or is too much here, is noticed again by the lease of the job. */
  expect(tenant: string, job_id: string): void {
    if (!this.#run || this.#stop.signal.aborted) return;
    if (this.#waiting.has(job_id) || this.#waiting.size >= MAX_WAITING) return;
    this.#waiting.add(job_id);
    this.#later({ tenant, job_id, looks: 0 });
  }

  #later(one: { readonly tenant: string; readonly job_id: string; readonly looks: number }): void {
    const timer = setTimeout(
      () => {
        this.#timers.delete(timer);
        this.#ready.push(one);
        this.#next();
      },
      FIRST_LOOK_MS * 2 ** one.looks,
    ).unref();
    this.#timers.add(timer);
  }

  #next(): void {
    while (this.#running.size < AT_ONCE && !this.#stop.signal.aborted) {
      const one = this.#ready.shift();
      if (!one) return;
      const { tenant, job_id, looks } = one;
      const running = this.#run!(tenant, job_id, this.#stop.signal)
        .catch((): Looked => 'left')
        .then((looked) => {
          if (looked === 'missing' && looks + 1 < LOOKS) this.#later({ tenant, job_id, looks: looks + 1 });
          else this.#waiting.delete(job_id);
        })
        .finally(() => {
          this.#running.delete(running);
          this.#next();
        });
      this.#running.add(running);
    }
  }

  /** Begins nothing more, and ends what is under way: it is done by another, or when the store is opened again. */
  async stop(): Promise<void> {
    this.#stop.abort(new Error('the store is closing'));
    for (const timer of this.#timers) clearTimeout(timer);
    await Promise.allSettled([...this.#running]);
  }
}
