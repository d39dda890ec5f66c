/** Runs commands as a user would: as child processes, in a folder of their own, without the caller's settings. */
import { type ChildProcess, fork, spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { afterAll } from 'vitest';

export const ROOT = resolve(import.meta.dirname, '../..');
const CAIRN = join(ROOT, 'bin/cairn.js');

export interface RunOptions {
  readonly cwd: string;
  readonly env?: Readonly<Record<string, string>>;
  readonly timeout_ms?: number;
  /** What it reads from stdin; nothing unless given. */
  readonly input?: string;
}

export interface Ran {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

export interface Running {
  readonly ended: Promise<Ran>;
  /** Resolves with the whole output so far once it matches; rejects if the process ends before. */
  until(pattern: RegExp): Promise<string>;
  /** Sends a signal and waits for the end. */
  stop(signal?: NodeJS.Signals): Promise<Ran>;
}

/** Only what a program needs to run: settings of whoever runs the tests must not leak in. */
function environment(extra: Readonly<Record<string, string>> = {}): NodeJS.ProcessEnv {
  const inherited = Object.entries(process.env).filter(
    ([name]) => !/^(CAIRN_|VITEST|NODE_OPTIONS|NODE_ENV)/.test(name),
  );
  return { ...Object.fromEntries(inherited), ...extra };
}

export function start(command: string, args: readonly string[], options: RunOptions): Running {
  const child = spawn(command, args, {
    cwd: options.cwd,
    env: environment(options.env),
    stdio: ['pipe', 'pipe', 'pipe'],
  });
  // A command may end before it has read everything.
  child.stdin.on('error', () => {});
  child.stdin.end(options.input ?? '');
  let stdout = '';
  let stderr = '';
  const timer = setTimeout(() => child.kill('SIGKILL'), options.timeout_ms ?? 25_000);
  child.stdout.on('data', (chunk) => {
    stdout += chunk;
  });
  child.stderr.on('data', (chunk) => {
    stderr += chunk;
  });
  const ended = new Promise<Ran>((done, reject) => {
    child.once('error', reject);
    child.once('close', (code) => {
      clearTimeout(timer);
      done({ code, stdout, stderr });
    });
  });
  return {
    ended,
    until: (pattern) =>
      new Promise((found, reject) => {
        const look = () => {
          if (pattern.test(stdout)) found(stdout);
        };
        child.stdout.on('data', look);
        ended.then(
          ({ code }) => reject(new Error(`ended with ${code} before ${pattern}:\n${stdout}${stderr}`)),
          reject,
        );
        look();
      }),
    stop: (signal = 'SIGTERM') => {
      child.kill(signal);
      return ended;
    },
  };
}

export const run = (command: string, args: readonly string[], options: RunOptions): Promise<Ran> =>
  start(command, args, options).ended;

/** `cairn …`, to its end. */
export const cairn = (args: readonly string[], options: RunOptions): Promise<Ran> =>
  run(process.execPath, [CAIRN, ...args], options);

/**
 * Runs `cairn …` as `cairn` does, but one after another in one process: for what commands print and do, not for how their
 * process starts, reads its terminal or ends.
 */
export function commandsOfOneProcess(): typeof cairn {
  let child: ChildProcess | undefined;
  let last: Promise<unknown> = Promise.resolve();
  afterAll(() => void child?.kill('SIGKILL'));
  const ask = async (args: readonly string[], { cwd, env, input = '' }: RunOptions): Promise<Ran> => {
    const asked = (child ??= fork(join(import.meta.dirname, 'children/commands.mjs'), [], { execArgv: [] }));
    return new Promise((done, reject) => {
      const ended = (code: number | null) => reject(new Error(`the process of the commands ended with ${code}`));
      asked.once('exit', ended);
      asked.once('message', ({ ran, failed }: { ran?: Ran; failed?: string }) => {
        asked.off('exit', ended);
        if (ran) done(ran);
        else reject(new Error(failed));
      });
      asked.send({ args, cwd, env: environment(env), input });
    });
  };
  return (args, options) => {
    const ran = last.then(() => ask(args, options));
    last = ran.catch(() => undefined);
    return ran;
  };
}

/** `cairn …`, left running. */
export const startCairn = (args: readonly string[], options: RunOptions): Running =>
  start(process.execPath, [CAIRN, ...args], options);

/** `cairn serve` on a free port. */
export async function serveCairn(
  args: readonly string[],
  options: RunOptions,
): Promise<Running & { url: string; printed: string }> {
  const running = startCairn(['serve', '--port', '0', ...args], { timeout_ms: 120_000, ...options });
  const printed = await running.until(/Try it:\n(?:.*\n){4}/);
  return { ...running, printed, url: /listens on (\S+)/.exec(printed)![1]! };
}

/** Runs a test in a new folder, which goes with it. */
export async function inFolder<T>(work: (folder: string) => Promise<T>): Promise<T> {
  const folder = mkdtempSync(join(tmpdir(), 'cairn-run-'));
  try {
    return await work(folder);
  } finally {
    rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
  }
}
