/** Logs a warning when records are ahead of the clock: at the start, and once whenever it begins. */
import type { Host } from '../api/index.js';
import { clockWarning } from '../kernel/index.js';

const CHECK_EVERY_MS = 60_000;

/** Resolves after the first check; `stop` ends the others. */
export async function watchClock(host: Host, log: (line: string) => void): Promise<{ stop(): void }> {
  let warned = false;
  const check = async (): Promise<void> => {
    // An unreachable database is reported by the requests that fail.
    const ready = await host.ready().catch(() => undefined);
    if (!ready) return;
    const { clock_ahead_ms } = ready;
    if (clock_ahead_ms > 0 && !warned) log(`warning: ${clockWarning(clock_ahead_ms)}`);
    warned = clock_ahead_ms > 0;
  };
  await check();
  const timer = setInterval(check, CHECK_EVERY_MS).unref();
  return { stop: () => clearInterval(timer) };
}
