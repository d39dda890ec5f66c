// Servers to measure, each a process of its own.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';

/** Starts a server by the arguments of node, and waits until it prints where it listens. */
export async function startServer(args) {
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] });
  for await (const line of createInterface({ input: child.stdout })) {
    const port = /http:\/\/127\.0\.0\.1:(\d+)/.exec(line)?.[1];
    if (port !== undefined) {
      child.stdout.resume();
      return { port, pid: child.pid, stop: () => stop(child) };
    }
  }
  throw new Error(`${args.join(' ')} did not start`);
}

async function stop(child) {
  const exited = once(child, 'exit');
  child.kill('SIGTERM');
  await exited;
}
