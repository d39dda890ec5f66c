/** Calls under way, so that closing a store can wait for them. */
import { CairnError } from '../../kernel/index.js';

/** For good: whoever tries again, as after other errors of this code, tries in vain. */
export const storeClosed = (): CairnError => new CairnError('SHUTTING_DOWN', 'the store is closed', { closed: true });

export class CallsUnderWay {
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

  /** Takes nothing new; resolves when what is under way has ended. */
  async drain(): Promise<void> {
    this.#closing = true;
    if (this.#count > 0) await new Promise<void>((resolve) => (this.#wake = resolve));
  }
}
