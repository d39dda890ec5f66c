/** Several processes on one database that begin together, and what they report. */
import { type ChildProcess, fork } from 'node:child_process';
import { join } from 'node:path';
import type { Ledger, Step } from '../inspect/load.js';
import { exitOf, within } from '../server.js';

type Report = { ready: true } | { wrote: Step; mark: string } | { finished: true } | { failed: string };

export interface ChildOptions {
  readonly mode: 'write' | 'open';
  readonly database: string;
  readonly processes: number;
  readonly writes: number;
  readonly ledger: Ledger;
}

/** Gives how much each had done when the first was finished. Fails if one of them does. */
export async function runChildren(options: ChildOptions): Promise<readonly number[]> {
  const { mode, database, processes, writes, ledger } = options;
  const done = Array<number>(processes).fill(0);
  let whenFirst: readonly number[] | undefined;
  const failures: string[] = [];
  const children = done.map((_, i) =>
    fork(join(import.meta.dirname, 'writes.mjs'), [mode, database, `child-${i}`, String(writes)]),
  );
  const ready = children.map((child, i) => {
    return new Promise<void>((resolve, reject) => {
      child.on('message', (report: Report) => {
        if ('ready' in report) resolve();
        else if ('failed' in report) {
          failures.push(`process ${i}: ${report.failed}`);
          reject(new Error(report.failed));
        } else if ('finished' in report) whenFirst ??= [...done];
        else {
          done[i]!++;
          const box = report.wrote === 'append' ? { box_id: 'shared' } : {};
          ledger.steps.set(report.mark, { step: report.wrote, acknowledged: true, ...box });
        }
      });
      child.once('exit', (code) => reject(new Error(`process ${i} ended with ${code}`)));
    });
  });
  const exits = children.map(exitOf);
  try {
    await within(60_000, Promise.all(ready), 'the processes to start');
    for (const child of children) child.send('go');
    for (const { code } of await within(120_000, Promise.all(exits), 'the processes to end'))
      if (code !== 0) failures.push(`a process ended with ${code}`);
  } finally {
    for (const child of children) stop(child);
  }
  if (failures.length > 0) throw new Error(failures.join('\n'));
  return whenFirst ?? [];
}

function stop(child: ChildProcess): void {
  if (child.exitCode === null && child.signalCode === null) child.kill('SIGKILL');
}
