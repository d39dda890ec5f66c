/** A provider that fails again and again is left alone for a while, so that nobody waits for it in vain. */

/** After so many failures in a row it is not asked for so long; then one asks, and the others wait for what comes of it. */
const FAILURES = 3;
const REST_MS = 60_000;

export class Breaker {
  readonly #now: () => number;
  #failures = 0;
  #reason = '';
  #until = Number.NEGATIVE_INFINITY;
  #trying = false;

  constructor(now: () => number = () => performance.now()) {
    this.#now = now;
  }

  /** Why it is not to be asked, if so. Whoever is not refused says what came of it. */
  refusal(): string | undefined {
    if (this.#failures < FAILURES) return undefined;
    if (this.#trying || this.#now() < this.#until)
      return `it failed ${this.#failures} times in a row, and is not asked for a while: ${this.#reason}`;
    this.#trying = true;
    return undefined;
  }

  answered(): void {
    this.#failures = 0;
    this.#trying = false;
  }

  /** By a reason that is fit to be kept. */
  failed(reason: string): void {
    this.#failures++;
    this.#reason = reason;
    this.#trying = false;
    this.#until = this.#now() + REST_MS;
  }

  /** It was asked, and nothing is known of it: whoever asked went away, or had no time. */
  leftOpen(): void {
    this.#trying = false;
  }
}
