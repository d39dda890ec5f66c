/** Whose turn it is among the jobs of a process. */
import { afterEach, describe, expect, it } from 'vitest';
import { JobQueue } from '#cairn/recall/jobs/queue.js';
import { until } from '../../support/server.js';

describe('the jobs that wait', () => {
  let queue: JobQueue;
  let begun: string[];
  let release: () => void;

  /** All that is begun hangs until it is released. */
  const start = () => {
    begun = [];
    queue = new JobQueue();
    const held = new Promise<void>((resolve) => (release = resolve));
    queue.start(async (_tenant, job_id) => {
      begun.push(job_id);
      await held;
      return 'worked';
    });
  };
  afterEach(async () => {
    release();
    await queue.stop();
  });

  it('SUM-34 are begun by tenant in turn', async () => {
    start();
    for (let i = 0; i < 20; i++) queue.expect('busy', `busy ${i}`);
    await until('the first to be begun', () => begun.length === 4);
    queue.expect('other', 'other');
    // Ready after a moment, as were the others.
    await new Promise((resolve) => setTimeout(resolve, 100));
    release();
    await until('all to be done', () => queue.waiting === 0);
    expect(begun.indexOf('other')).toBeLessThanOrEqual(5);
    expect(begun).toHaveLength(21);
  });

  it('SUM-32 do not keep what has no time to wait', async () => {
    start();
    for (let i = 0; i < 6; i++) queue.expect('t', `job ${i}`);
    await until('the first to be begun', () => begun.length === 4);
    await new Promise((resolve) => setTimeout(resolve, 100));
    queue.expect('t', 'job 5', true);
    queue.expect('t', 'new', true);
    await until('both to be begun', () => begun.length === 6);
    expect(begun.slice(4).sort()).toEqual(['job 5', 'new']);
  });
});
