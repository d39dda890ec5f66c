/** The real server as its own process: `bin/cairn.js serve`, on loopback. */
import { type ChildProcess, spawn } from 'node:child_process';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { afterAll } from 'vitest';

export const ROOT = join(import.meta.dirname, '../..');
const START_MS = 30_000;
const END_MS = 30_000;

export interface Exit {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
}

export interface ServerProcess {
  readonly url: string;
  readonly pid: number;
  /** What it has written to stderr. */
  log(): string;
  /** Asks the module that was loaded first. */
  ask(message: string): Promise<unknown>;
  /** Sends a signal and waits for the end of the process. */
  end(signal: NodeJS.Signals): Promise<Exit>;
}

/** What still runs when the tests of a file are over, since one of them failed, ends with them. */
const running = new Set<ChildProcess>();
afterAll(() => {
  for (const child of running) child.kill('SIGKILL');
});

export interface ServerOptions {
  readonly database: string;
  readonly port?: number;
  /** A command that runs the command behind it. */
  readonly under?: readonly string[];
  /** A module that is loaded into the server first; `ask` talks to it. */
  readonly preload?: string;
}

export async function startServer(options: ServerOptions): Promise<ServerProcess> {
  const { database, port = 0, under = [], preload } = options;
  const serve = ['bin/cairn.js', 'serve', '--port', String(port), '--database', database];
  const first = preload === undefined ? [] : ['--import', preload];
  const [command, ...args] = [...under, process.execPath, ...first, ...serve] as [string, ...string[]];
  const channel = preload === undefined ? [] : ['ipc' as const];
  const child = spawn(command, args, { cwd: ROOT, stdio: ['ignore', 'pipe', 'pipe', ...channel] });
  let out = '';
  let log = '';
  child.stderr!.on('data', (chunk) => (log = (log + String(chunk)).slice(-20_000)));
  running.add(child);
  const exited = exitOf(child);
  exited.then(() => running.delete(child));
  const url = await new Promise<string>((resolve, reject) => {
    const timer = setTimeout(() => reject(new Error(`the server did not start:\n${out}${log}`)), START_MS);
    child.stdout!.on('data', (chunk) => {
      out += String(chunk);
      const found = /listens on (http:\S+)/.exec(out)?.[1];
      if (!found) return;
      clearTimeout(timer);
      resolve(found);
    });
    exited.then(({ code }) => {
      clearTimeout(timer);
      reject(new Error(`the server ended with ${code}:\n${out}${log}`));
    });
  });
  return {
    url,
    pid: child.pid!,
    log: () => log,
    ask: (message) =>
      ask(child, message).catch((error: Error) => {
        throw new Error(`${error.message}:\n${log}`);
      }),
    end: (signal) => {
      child.kill(signal);
      return within(END_MS, exited, `the server to end by ${signal}`);
    },
  };
}

export function exitOf(child: ChildProcess): Promise<Exit> {
  return new Promise((resolve) => child.once('exit', (code, signal) => resolve({ code, signal })));
}

/** The next message of a child process; rejects if none can come any more. */
export function messageOf(child: ChildProcess): Promise<unknown> {
  return new Promise((resolve, reject) => {
    const ended = () => {
      child.off('message', received);
      reject(new Error('the process ended before it sent a message'));
    };
    const received = (message: unknown) => {
      child.off('disconnect', ended);
      resolve(message);
    };
    if (!child.connected) return ended();
    // Comes after the last message, and after a crash as well.
    child.once('disconnect', ended);
    child.once('message', received);
  });
}

/** Sends a message to a child process; gives its answer. */
export async function ask(child: ChildProcess, message: string): Promise<unknown> {
  const answer = messageOf(child);
  // With a callback an error is no event: the answer is missing as well.
  if (child.connected) child.send(message, () => undefined);
  return answer;
}

/** Fails when something takes so long that it must hang. */
export async function within<T>(ms: number, promise: Promise<T>, what: string): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => reject(new Error(`waited ${ms} ms for ${what}`)), ms);
  });
  try {
    return await Promise.race([promise, late]);
  } finally {
    clearTimeout(timer);
  }
}

export const sleep = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

/** Asks again and again until the answer is yes. */
export async function until(what: string, asked: () => boolean | Promise<boolean>, ms = 30_000): Promise<void> {
  const end = Date.now() + ms;
  while (!(await asked())) {
    if (Date.now() > end) throw new Error(`waited ${ms} ms for ${what}`);
    await sleep(20);
  }
}

/** A port that stays the same over restarts: below those that the system gives to outgoing connections. */
export async function stablePort(): Promise<number> {
  for (;;) {
    const port = 20_000 + Math.floor(Math.random() * 10_000);
    const free = await new Promise<boolean>((resolve) => {
      const probe = createServer();
      probe.once('error', () => resolve(false));
      probe.listen(port, '127.0.0.1', () => probe.close(() => resolve(true)));
    });
    if (free) return port;
  }
}
