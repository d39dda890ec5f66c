/** Open calls, for which closing a store waits, and the tenants that calls have written to. */
import { CairnError } from '../../kernel/index.js';

/** `closed` tells the client not to retry, as it would after other errors of this code. */
export const storeClosed = (): CairnError => new CairnError('SHUTTING_DOWN', 'the store is closed', { closed: true });

export class OpenCalls {
  #count = 0;
  #closing = false;
  #wake: (() => void) | undefined;

  async run<T>(work: () => Promise<T>): Promise<T> {
    if (this.#closing) throw storeClosed();
    this.#count++;
    try {
      return await work();
    } finally {
      if (--this.#count === 0) this.#wake?.();
    }
  }

  /** Refuses new calls; resolves when all open ones have ended. */
  async drain(): Promise<void> {
    this.#closing = true;
    if (this.#count > 0) await new Promise<void>((resolve) => (this.#wake = resolve));
  }
}

/** The tenants that this process has written to since the last `take`. */
export class WrittenTenants {
  #tenants = new Set<string>();

  add(tenant: string): void {
    this.#tenants.add(tenant);
  }

  take(): readonly string[] {
    const taken = [...this.#tenants];
    this.#tenants.clear();
    return taken;
  }
}
