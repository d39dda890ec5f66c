/** Circuit breaker: stops calling a provider that keeps failing, so that no caller waits for it. */

/** This many failures in a row open the breaker; after the pause one caller tries, and the others are still refused. */
const MAX_FAILURES = 3;
const PAUSE_MS = 60_000;

export class Breaker {
  readonly #now: () => number;
  #failures = 0;
  #reason = '';
  #paused_until = Number.NEGATIVE_INFINITY;
  #trying = false;

  constructor(now: () => number = () => performance.now()) {
    this.#now = now;
  }

  /** Why the provider must not be called; undefined if it may be. The caller then reports the outcome. */
  refusal(): string | undefined {
    if (this.#failures < MAX_FAILURES) return undefined;
    if (this.#trying || this.#now() < this.#paused_until)
      return `it failed ${this.#failures} times in a row and is not called for a while: ${this.#reason}`;
    this.#trying = true;
    return undefined;
  }

  answered(): void {
    this.#failures = 0;
    this.#trying = false;
  }

  /** `reason` goes into logs and rows: it must hold no key and no text that was sent. */
  failed(reason: string): void {
    this.#failures++;
    this.#reason = reason;
    this.#trying = false;
    this.#paused_until = this.#now() + PAUSE_MS;
  }

  /** The call ended without an outcome: its caller went away or ran out of time. */
  leftOpen(): void {
    this.#trying = false;
  }
}
