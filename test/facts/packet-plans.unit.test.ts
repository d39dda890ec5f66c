/** Finding packets in SQLite: each filter by its index, own events and packets of users alike. */
import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { notePlans, type Plans } from '../support/inspect/plans.js';

let plans: Plans;

beforeAll(async () => {
  plans = await notePlans();
  await plans.cairn.cards.add({ card_id: 'a' });
  await plans.cairn.packets.write({ packet_type: 'event', payload: {} });
});
afterAll(() => plans.close());

const thread_id = randomUUID();
const [since, until] = ['2026-01-01T00:00:00Z', '2026-02-01T00:00:00Z'];

describe('packets', () => {
  const planOf = async (action: () => Promise<unknown>) => (await plans.plansOf(action)).join('\n');

  it.each([
    [{ packet_type: 'cairn.turn.added' }, ['packet_store_by_type (tenant_id=? AND packet_type=?)']],
    [{ thread_id }, ['packet_store_by_thread (tenant_id=? AND thread_id=?)']],
    [{ agent: 'ann' }, ['packet_store_by_agent (tenant_id=? AND agent=?)']],
    [{ source: 'api' }, ['packet_store_by_source (tenant_id=? AND source=?)']],
    [{ tag: 'x' }, ['i USING PRIMARY KEY (tenant_id=? AND kind=? AND value=?)']],
    [
      { since, until },
      [
        'packet_store_by_time (tenant_id=? AND timestamp>? AND timestamp<?)',
        'packet_store_by_id (tenant_id=? AND packet_id>? AND packet_id<?)',
      ],
    ],
    [
      { since },
      ['packet_store_by_time (tenant_id=? AND timestamp>?)', 'packet_store_by_id (tenant_id=? AND packet_id>?)'],
    ],
    [
      { until },
      ['packet_store_by_time (tenant_id=? AND timestamp<?)', 'packet_store_by_id (tenant_id=? AND packet_id<?)'],
    ],
  ])('EVENT-10 are listed by index: %o', async (filter, expected) => {
    const plan = await planOf(() => plans.cairn.packets.list(filter));
    for (const index of expected) expect(plan).toContain(index);
    expect(plan).not.toMatch(/SCAN p\b/);
  });

  it('EVENT-10 a packet is found by its id, and the stream by seq', async () => {
    const { packets } = await plans.cairn.packets.list({});
    for (const { packet_id } of packets) {
      const plan = await planOf(() => plans.cairn.packets.get({ packet_id }));
      expect(plan).toContain('packet_store_by_id (tenant_id=? AND packet_id=?)');
    }
  });
});
