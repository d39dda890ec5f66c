/** Writes checkpoints in order, each as the child of the one written before, and keeps the first error. */
import type { Api } from '../api/index.js';
import type { CheckpointMetadata, CheckpointReason, CheckpointSummary } from '../checkpoints/contract.js';

/** The target of checkpoints: a store in this process or over HTTP. */
export interface CheckpointSink {
  readonly checkpoints: Pick<Api['checkpoints'], 'create'>;
}

/** A checkpoint before it is written; its parent is known only then. */
type PendingCheckpoint = Omit<Parameters<Api['checkpoints']['create']>[0], 'parent_checkpoint_id' | 'root'> & {
  readonly checkpoint_id: string;
  readonly metadata: CheckpointMetadata;
};

interface QueueListeners {
  readonly written: (summary: CheckpointSummary) => void;
  readonly failed: (error: unknown, pending: PendingCheckpoint) => void;
}

/** Keeps only the first error: an unreachable store may fail a long run at every step. */
interface Failures {
  first?: unknown;
  count: number;
}

export class CheckpointQueue {
  readonly #sink: CheckpointSink;
  readonly #listeners: QueueListeners;
  readonly #waiting: PendingCheckpoint[] = [];
  #tail: Promise<unknown> = Promise.resolve();
  #failures: Failures = { count: 0 };
  #latest: string | undefined;

  constructor(sink: CheckpointSink, latest: string | undefined, listeners: QueueListeners) {
    this.#sink = sink;
    this.#latest = latest;
    this.#listeners = listeners;
  }

  /** The last checkpoint that was written, or that the run was resumed from. */
  get latest(): string | undefined {
    return this.#latest;
  }

  get length(): number {
    return this.#waiting.length;
  }

  hasWaiting(reason: CheckpointReason): boolean {
    return this.#waiting.some(({ metadata }) => metadata.checkpoint_reason === reason);
  }

  /** A failure is kept for `settled` and is never an unhandled rejection, even if no caller awaits it. */
  push(pending: PendingCheckpoint): Promise<CheckpointSummary> {
    this.#waiting.push(pending);
    const written = this.#tail.then(() => this.#write(pending));
    this.#tail = written.catch((error: unknown) => {
      if (this.#failures.count++ === 0) this.#failures.first = error;
      this.#listeners.failed(error, pending);
    });
    return written;
  }

  /** Waits for all checkpoints pushed so far; rejects with the first error that no earlier call reported. */
  async settled(): Promise<void> {
    const tail = this.#tail;
    const failures = this.#failures;
    await tail;
    // Concurrent calls hold the same object, so each of them reports it.
    if (this.#failures === failures) this.#failures = { count: 0 };
    if (failures.count > 0) throw failures.first;
  }

  async #write(pending: PendingCheckpoint): Promise<CheckpointSummary> {
    try {
      // An explicit parent: another process may have advanced the execution meanwhile.
      const summary = await this.#sink.checkpoints.create({
        ...pending,
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
