/** A graph of LangGraph that is killed in the middle goes on in a new process, from the last acknowledged checkpoint. */
import { fork } from 'node:child_process';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { exitOf, within } from '../support/server.js';
import { freshDatabase } from '../support/targets.js';

interface Shown {
  readonly count: number;
  readonly messages: readonly string[];
  readonly approved?: string;
  readonly next: readonly string[];
}
type Report = { acknowledged: number } | { found: Shown } | { reached: Shown };

const STEPS = 15;
const LIMIT_MS = 60_000;

const done = (count: number) => Array.from({ length: count }, (_, i) => `did step ${i + 1}`);

/** Runs a process until a report is the one looked for, kills it, and gives all reports. */
async function runUntil(args: readonly string[], enough: (report: Report) => boolean): Promise<Report[]> {
  const child = fork(join(import.meta.dirname, '../support/children/langgraph.mjs'), args);
  const exited = exitOf(child);
  // What it told before its end may be read after it.
  const drained = new Promise((resolve) => child.once('disconnect', resolve));
  const reports: Report[] = [];
  const seen = new Promise<void>((resolve) =>
    child.on('message', (report: Report) => {
      reports.push(report);
      if (enough(report)) resolve();
    }),
  );
  const ended = exited.then(({ code }) => {
    throw new Error(`the process ended with ${code} after ${JSON.stringify(reports)}`);
  });
  ended.catch(() => undefined);
  try {
    await within(LIMIT_MS, Promise.race([seen, ended]), 'the graph');
  } finally {
    child.kill('SIGKILL');
  }
  await Promise.all([exited, drained]);
  return reports;
}

const foundIn = (reports: readonly Report[]) => (reports.find((report) => 'found' in report) as { found: Shown }).found;

it('resumes a killed graph with every acknowledged step, once', async () => {
  const { database, drop } = await freshDatabase('sqlite');
  try {
    let acknowledged = 0;
    let steps = 0;
    for (const kill_at of [2, 5, 6, 11, STEPS + 1]) {
      const reports = await runUntil(
        [database],
        (report) => 'reached' in report || ('acknowledged' in report && report.acknowledged >= kill_at),
      );
      const found = foundIn(reports);
      // What was told is there; what was stored but not yet told may be, too.
      expect(found.count).toBeGreaterThanOrEqual(acknowledged);
      expect(found.count).toBeLessThanOrEqual(acknowledged + 1);
      expect(found.messages).toEqual(done(found.count));
      for (const report of reports) if ('acknowledged' in report) acknowledged = report.acknowledged;
      steps += reports.length;
    }
    expect(steps).toBeGreaterThan(STEPS);

    // Killed while it waited for an answer: the question is still there, and the answer ends it.
    const [first, ...rest] = await runUntil([database, 'yes'], (report) => 'reached' in report);
    expect(first).toEqual({ found: { count: STEPS, messages: done(STEPS), next: ['approve'] } });
    expect(rest.at(-1)).toEqual({ reached: { count: STEPS, messages: done(STEPS), approved: 'yes', next: [] } });
  } finally {
    await drop();
  }
});
