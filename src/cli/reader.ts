/** The reader of a command's output. When it goes (`cairn doctor | head`), the command ends quietly. */

const gone = new AbortController();

/** Aborted once nobody reads stdout any more. What only prints stops then; what writes to the store finishes. */
export const readerGone: AbortSignal = gone.signal;

/** A closed pipe, or a terminal that was closed. */
const CLOSED: ReadonlySet<string | undefined> = new Set(['EPIPE', 'EIO', 'ECONNRESET']);

/** Without a listener Node would end the process with a stack trace. `failed` is told of anything else, such as a full disk. */
export function watchReader(failed: (error: Error) => void): void {
  for (const stream of [process.stdout, process.stderr])
    stream.on('error', (error: NodeJS.ErrnoException) => {
      if (!CLOSED.has(error.code)) failed(error);
      // A log that nobody reads is no reason to stop.
      else if (stream === process.stdout) gone.abort();
    });
}
