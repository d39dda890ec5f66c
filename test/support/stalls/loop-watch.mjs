// Loaded into a server with `node --import`: measures how long its event loop was held, in CPU time of the main thread,
// so that other processes on the machine do not count. The parent asks over IPC.
import { readFileSync } from 'node:fs';
import { isMainThread } from 'node:worker_threads';

const TICK_MS = 5;

/** CPU time of the main thread, and the time it spent in line for a core, in milliseconds; undefined outside Linux. */
function threadTimes() {
  try {
    const [onCpu, waited] = readFileSync(`/proc/self/task/${process.pid}/schedstat`, 'utf8').split(' ');
    return { cpu: Number(onCpu) / 1e6, waited: Number(waited) / 1e6 };
  } catch {
    return undefined;
  }
}

function times() {
  const clock = performance.now();
  const { cpu, waited } = threadTimes() ?? { cpu: clock, waited: 0 };
  return { cpu, clock: clock - waited };
}

if (isMainThread && process.send) {
  let last = times();
  let began = last.cpu;
  let longest = { cpu_ms: 0, held_ms: 0 };
  setInterval(() => {
    const now = times();
    longest = {
      cpu_ms: Math.max(longest.cpu_ms, now.cpu - last.cpu),
      held_ms: Math.max(longest.held_ms, now.clock - last.clock),
    };
    last = now;
  }, TICK_MS).unref();
  process.on('message', (message) => {
    if (message !== 'longest') return;
    const { cpu } = times();
    process.send({ ...longest, spent_ms: cpu - began });
    longest = { cpu_ms: 0, held_ms: 0 };
    began = cpu;
  });
  // Listening for messages must not keep the server from ending.
  process.channel.unref();
}
