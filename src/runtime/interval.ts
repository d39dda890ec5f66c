/** A timer for checkpoints: due when something changed and a time has passed since the last one. */

/** The maximum of a timer; a longer time takes several timers. */
const MAX_TIMER_MS = 2 ** 31 - 1;

export class Interval {
  readonly #every_ms: number;
  readonly #take: () => boolean;
  #since = performance.now();
  #changed = false;
  #timer: ReturnType<typeof setTimeout> | undefined;

  /** `take` returns whether it took a checkpoint (and called `taken`); if not, it is called again after the same time. */
  constructor(every_ms: number, take: () => boolean) {
    this.#every_ms = every_ms;
    this.#take = take;
  }

  /** Something changed since the last checkpoint. */
  changed(): void {
    this.#changed = true;
    // Not only by the timer: a run that blocks the event loop would never let it fire.
    if (!this.#takeIfDue()) this.#arm();
  }

  /** A checkpoint has all changes, whatever its reason. */
  taken(): void {
    this.#changed = false;
    this.#since = performance.now();
    this.close();
  }

  close(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
  }

  #takeIfDue(): boolean {
    if (performance.now() - this.#since < this.#every_ms) return false;
    if (!this.#take()) this.#since = performance.now();
    return !this.#changed;
  }

  #arm(): void {
    if (this.#timer !== undefined) return;
    const wait_ms = Math.ceil(this.#since + this.#every_ms - performance.now());
    this.#timer = setTimeout(
      () => {
        this.#timer = undefined;
        if (!this.#takeIfDue()) this.#arm();
      },
      Math.min(Math.max(wait_ms, 1), MAX_TIMER_MS),
    );
    // The timer of an ended run must not keep the process alive. Browsers have no unref.
    (this.#timer as { unref?: () => void }).unref?.();
  }
}
