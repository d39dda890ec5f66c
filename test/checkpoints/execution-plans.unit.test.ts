/** How SQLite finds what is asked of a run as a whole: by its keys, never by walking what other runs have. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { notePlans, type Plans } from '../support/inspect/plans.js';
import { beginRun, call, thought } from '../support/nouns/executions.js';

describe('views of an execution', () => {
  let plans: Plans;
  const run = { execution_id: 'run' };
  beforeAll(async () => {
    plans = await notePlans();
    const add = await beginRun(plans.cairn, 'run');
    await add('a', { thoughts: [thought('t', 0.5)], calls: [call('shell', 's', 1)] });
    await add('b');
    await plans.cairn.checkpoints.branch({ checkpoint_id: 'a', reason: 'r' });
  });
  afterAll(() => plans.close());

  /** Lines that read all of a table, or all that the tenant has in it. What a statement made itself is read whole. */
  const walks = (lines: readonly string[]): string[] =>
    lines.filter(
      (line) =>
        (/^SCAN /.test(line) && !/^SCAN (s|l|ranked|newest|stored|\(subquery-\d+\)|CONSTANT ROW)$/.test(line)) ||
        (/\(tenant_id=\?\)/.test(line) && !/^SEARCH tenants /.test(line)),
    );

  it.each([
    ['tree', () => plans.cairn.executions.tree(run)],
    ['stats', () => plans.cairn.executions.stats(run)],
    [
      'live',
      async () => {
        const items = plans.cairn.executions.live(run)[Symbol.asyncIterator]();
        await items.next();
        const next = items.next();
        await plans.cairn.checkpoints.restore({ checkpoint_id: 'a' });
        await next;
        await items.return?.();
      },
    ],
  ] as const)('%s', async (_, ask) => {
    const lines = await plans.plansOf(ask);
    expect(lines.length).toBeGreaterThan(1);
    expect(walks(lines)).toEqual([]);
  });
});
