/** Writes captured states one after another, each as the child of the one written before, and keeps the first failure. */
import type { Api } from '../api/index.js';
import type { CheckpointMetadata, CheckpointReason, CheckpointSummary } from '../checkpoints/contract.js';

/** Where checkpoints go: a store in this process or over HTTP. */
export interface CheckpointSink {
  readonly checkpoints: Pick<Api['checkpoints'], 'create'>;
}

/** A state at a moment. Its parent is known when its turn comes, not before. */
export type Capture = Omit<Parameters<Api['checkpoints']['create']>[0], 'parent_checkpoint_id' | 'root'> & {
  readonly checkpoint_id: string;
  readonly metadata: CheckpointMetadata;
};

export interface QueueListeners {
  readonly written: (summary: CheckpointSummary) => void;
  readonly failed: (error: unknown, capture: Capture) => void;
}

/** However many there are: a store that is away may fail a long run at every step. */
interface Failures {
  first?: unknown;
  count: number;
}

export class CheckpointQueue {
  readonly #sink: CheckpointSink;
  readonly #listeners: QueueListeners;
  readonly #waiting: Capture[] = [];
  #tail: Promise<unknown> = Promise.resolve();
  #failures: Failures = { count: 0 };
  #latest: string | undefined;

  constructor(sink: CheckpointSink, latest: string | undefined, listeners: QueueListeners) {
    this.#sink = sink;
    this.#latest = latest;
    this.#listeners = listeners;
  }

  /** The last one that was written, or that the run was taken up from. */
  get latest(): string | undefined {
    return this.#latest;
  }

  /** How many are not written yet. */
  get length(): number {
    return this.#waiting.length;
  }

  hasWaiting(reason: CheckpointReason): boolean {
    return this.#waiting.some(({ metadata }) => metadata.checkpoint_reason === reason);
  }

  /** Whether or not anybody awaits it, a failure is kept for `settled` and never an unhandled rejection. */
  push(capture: Capture): Promise<CheckpointSummary> {
    this.#waiting.push(capture);
    const written = this.#tail.then(() => this.#write(capture));
    this.#tail = written.catch((error: unknown) => {
      if (this.#failures.count++ === 0) this.#failures.first = error;
      this.#listeners.failed(error, capture);
    });
    return written;
  }

  /** Waits for all that were asked for until now; rejects with the first failure that no call before reported. */
  async settled(): Promise<void> {
    const tail = this.#tail;
    const failures = this.#failures;
    await tail;
    // Calls that wait at the same time hold the same object, so each of them reports it.
    if (this.#failures === failures) this.#failures = { count: 0 };
    if (failures.count > 0) throw failures.first;
  }

  async #write(capture: Capture): Promise<CheckpointSummary> {
    try {
      // Named, not left to the store: another process may have moved the execution on meanwhile.
      const summary = await this.#sink.checkpoints.create({
        ...capture,
        ...(this.#latest === undefined ? { root: true } : { parent_checkpoint_id: this.#latest }),
      });
      this.#latest = summary.id;
      this.#listeners.written(summary);
      return summary;
    } finally {
      this.#waiting.shift();
    }
  }
}
