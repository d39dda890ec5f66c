/** The end of a command: its reader goes away (`cairn doctor | head`), or a signal arrives. */

const gone = new AbortController();

/** Aborts when stdout is closed. A command that only prints stops then; one that writes to the store finishes. */
export const readerGone: AbortSignal = gone.signal;

const CLOSED: ReadonlySet<string | undefined> = new Set(['EPIPE', 'EIO', 'ECONNRESET']);

/** Without a listener Node would end the process with a stack trace. Other errors, such as a full disk, go to `failed`. */
export function watchReader(failed: (error: Error) => void): void {
  for (const stream of [process.stdout, process.stderr])
    stream.on('error', (error: NodeJS.ErrnoException) => {
      if (!CLOSED.has(error.code)) failed(error);
      // A closed log is no reason to stop.
      else if (stream === process.stdout) gone.abort();
    });
}

/** Calls `stop` on SIGTERM, SIGINT or a closed stdout; a second signal ends the process at once. */
export function stopOnSignal(stop: () => unknown): void {
  let stopping = false;
  const once = () => {
    if (stopping) process.exit(1);
    stopping = true;
    void stop();
  };
  process.on('SIGTERM', once);
  process.on('SIGINT', once);
  readerGone.addEventListener('abort', once);
}
