/** Says in the log that records are ahead of the clock: when the server starts, and when it happens while it runs. */
import type { Host } from '../api/index.js';
import { clockWarning } from '../kernel/index.js';

const LOOK_EVERY_MS = 60_000;

/** Resolves after the first look; `stop` ends the others. */
export async function watchClock(host: Host, log: (line: string) => void): Promise<{ stop(): void }> {
  let told = false;
  const look = async (): Promise<void> => {
    const { clock_ahead_ms } = await host.ready();
    if (clock_ahead_ms > 0 && !told) log(`warning: ${clockWarning(clock_ahead_ms)}`);
    told = clock_ahead_ms > 0;
  };
  // A database that is away is told by what fails for it.
  const quietly = () => void look().catch(() => undefined);
  await look().catch(() => undefined);
  const timer = setInterval(quietly, LOOK_EVERY_MS).unref();
  return { stop: () => clearInterval(timer) };
}
