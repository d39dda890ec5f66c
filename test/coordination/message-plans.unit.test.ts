/** How SQLite finds messages: what waits by its mailbox, however much was acknowledged, never by walking the tenant's. */
import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { releaseDeliveries } from '#cairn/coordination/messages/deliveries.js';
import { notePlans, type Plans } from '../support/inspect/plans.js';
import { register } from '../support/nouns/messages.js';

describe('messages', () => {
  let plans: Plans;
  const message_id = randomUUID();
  beforeAll(async () => {
    plans = await notePlans();
    await register(plans.store, 'default', 'reviewer', 'r1', 'r2');
    await plans.cairn.messages.send({ message_id, to_agent_id: 'r1', message_type: 'note', payload: '' });
  });
  afterAll(() => plans.close());

  const send = (to: object) => plans.cairn.messages.send({ ...to, message_type: 'note', payload: '' });

  /** Lines that read all of a table, or all that the tenant has in it. What a statement made itself is read whole. */
  const walks = (lines: readonly string[]): string[] =>
    lines.filter(
      (line) =>
        (/^SCAN /.test(line) && !/^SCAN (found|f|n|h|json_each|\(subquery-\d+\)|CONSTANT ROW)/.test(line)) ||
        (/\(tenant_id=\?\)/.test(line) && !/^SEARCH (tenants|t) /.test(line)),
    );

  it.each([
    ['send', () => send({ to_agent_id: 'r1', from_agent_id: 'ann' })],
    ['send to all of a type', () => send({ to_agent_type: 'reviewer', fan_out: 'all' })],
    ['receive', () => plans.cairn.messages.receive({ agent_id: 'r1' })],
    ['list a mailbox', () => plans.cairn.messages.list({ to_agent: 'r1' })],
    ['list by sender', () => plans.cairn.messages.list({ from_agent_id: 'ann' })],
    ['acknowledge', () => plans.cairn.messages.acknowledge({ message_id, agent_id: 'r1' })],
  ] as const)('%s', async (_, ask) => {
    const lines = await plans.plansOf(ask);
    expect(lines.length).toBeGreaterThan(1);
    expect(walks(lines)).toEqual([]);
  });

  it('let go of what is on its way to an agent, by its readers', async () => {
    const lines = await plans.plansOf(() => plans.store.driver.write('default', (tx) => releaseDeliveries(tx, 'r1')));
    expect(lines).toEqual([expect.stringMatching(/leases_of_readers \(tenant_id=\? AND holder>\? AND holder<\?\)/)]);
  });

  it('list what waits in a mailbox, by the index of that', async () => {
    const lines = await plans.plansOf(() => plans.cairn.messages.list({ to_agent: 'r1', unacknowledged: true }));
    const deliveries = lines.filter((line) => /^SEARCH d /.test(line));
    expect(deliveries.length).toBeGreaterThan(1);
    expect(deliveries.filter((line) => !line.includes('deliveries_open'))).toEqual([]);
  });

  it('receive by the index of what waits, and not all of it', async () => {
    const lines = await plans.plansOf(() => plans.cairn.messages.receive({ agent_id: 'r2' }));
    const deliveries = lines.filter((line) => /^SEARCH d /.test(line));
    expect(deliveries.length).toBeGreaterThan(1);
    expect(deliveries.filter((line) => !line.includes('deliveries_open'))).toEqual([]);
    expect(lines.filter((line) => /TEMP B-TREE/.test(line))).toEqual([]);
  });
});
