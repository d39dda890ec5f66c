/** How SQLite finds agent_turns: by their parties, and what is below them only when that ends as well. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Api } from '#cairn/client/index.js';
import { notePlans, type Plans } from '../support/inspect/plans.js';
import { atWork, dispatched, PROFILE } from '../support/nouns/agent-turns.js';

describe('agent_turns', () => {
  let plans: Plans;
  let worker: Api;
  beforeAll(async () => {
    plans = await notePlans();
    await plans.cairn.profiles.create({ name: PROFILE });
    await plans.store.ensureAgent('default', 'ann');
    worker = plans.store.api({ tenant_id: 'default', agent_id: 'ann', role: 'write', key_id: null });
  });
  afterAll(() => plans.close());

  /** Lines that read all of a table, or all that the tenant has in it. What a statement made itself is read whole. */
  const walks = (lines: readonly string[]): string[] =>
    lines.filter(
      (line) =>
        (/^SCAN /.test(line) &&
          !/^SCAN (side|either|b|e|below|json_each|\(subquery-\d+\)|CONSTANT ROW)\b/.test(line)) ||
        (/\(tenant_id=\?( AND (kind|status)=\?)?\)/.test(line) &&
          !/^SEARCH (tenants|sweeps) /.test(line) &&
          // The next lease that is over is the first of its index.
          !/leases_due/.test(line)),
    );
  const below = (lines: readonly string[]) => lines.filter((line) => line.includes('agent_turns_by_parent'));

  it.each([
    ['agent_turns', () => worker.agent_turns.list({})],
    ['agent_turns by state', () => worker.agent_turns.list({ status: 'running' })],
    ['delegations', () => worker.delegations.list({})],
    ['handoffs', () => worker.handoffs.list({})],
  ] as const)('list the %s of an agent', async (_, ask) => {
    const lines = await plans.plansOf(ask);
    expect(lines.length).toBeGreaterThan(1);
    expect(walks(lines)).toEqual([]);
  });

  it.each([
    ['complete', (held) => plans.cairn.agent_turns.complete({ ...held, deliverable: 'x' }), 0],
    ['fail', (held) => plans.cairn.agent_turns.fail({ ...held, error: { code: 'NO', message: 'no' } }), 0],
    ['stop', ({ agent_turn_id }) => plans.cairn.agent_turns.stop({ agent_turn_id }), 6],
  ] as const satisfies readonly [string, (held: { agent_turn_id: string; turn_epoch: number }) => unknown, number][])(
    '%s looks at what is below only if that is stopped',
    async (_, end, looks) => {
      const { turn, held } = await atWork(plans.cairn);
      await dispatched(plans.cairn, { source_agent_id: turn.agent_id });
      const lines = await plans.plansOf(async () => end(held));
      expect(walks(lines)).toEqual([]);
      expect(below(lines)).toHaveLength(looks);
    },
  );
});
