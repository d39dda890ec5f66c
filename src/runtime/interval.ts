/** Takes a checkpoint when something changed and a time has passed since the last one; rests while nothing changes. */

/** The longest that a timer can wait; longer times are waited for in several turns. */
const MAX_TIMER_MS = 2 ** 31 - 1;

export class Interval {
  readonly #every_ms: number;
  readonly #take: () => boolean;
  #since = performance.now();
  #changed = false;
  #timer: ReturnType<typeof setTimeout> | undefined;

  /** `take` says whether it took one, of which it then tells by `taken`; if not, it is asked again after the same time. */
  constructor(every_ms: number, take: () => boolean) {
    this.#every_ms = every_ms;
    this.#take = take;
  }

  /** Something changed that no checkpoint has yet. */
  changed(): void {
    this.#changed = true;
    // Not only by the timer: a run that computes without pause would never let it fire.
    if (!this.#takeIfDue()) this.#arm();
  }

  /** All that changed until now is in a checkpoint, whatever it was taken for. */
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
    // A run that is over must not keep its process alive. A browser has nothing of this kind.
    (this.#timer as { unref?: () => void }).unref?.();
  }
}
