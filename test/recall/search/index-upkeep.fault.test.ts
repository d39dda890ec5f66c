/** The background upkeep of the index: it folds long tails and merges segments, and one process at a time works on a tenant. */
import { describe, expect, it } from 'vitest';
import { Store } from '#cairn/api/index.js';
import { indexState, listSegments } from '#cairn/index/sql.js';
import { databases } from '../../support/http.js';
import { illnesses } from '../../support/inspect/audit.js';
import { found } from '../../support/nouns/search.js';
import { freshDatabase } from '../../support/targets.js';

const TENANT = 'default';
const CALLER = { tenant_id: TENANT, agent_id: null, role: 'admin', key_id: null } as const;
const CARDS = 5000;
/** Letters alone, so that it is one term. */
const word = (number: number): string =>
  `run${[...String(number)].map((digit) => 'bcdfghjklm'[Number(digit)]).join('')}`;

describe.each(databases())('the upkeep of the index on %s', (kind) => {
  it('INDEX-9 folds a long tail in the background, beside another process, and finds the same', async () => {
    const { database, drop } = await freshDatabase(kind);
    const stores = await Promise.all([Store.open({ database }), Store.open({ database })]);
    const apis = stores.map((store) => store.api(CALLER));
    for (let at = 0; at < CARDS; at += 500) {
      const cards = Array.from({ length: 500 }, (_, i) => ({ content: `a heron by the ${word(at + i)}` }));
      await apis[(at / 500) % 2]!.cards.add_batch({ cards });
    }
    const query = stores[0]!.driver.at(TENANT);
    const tail = async () => {
      const { last, folded } = await indexState(query);
      expect(last).toBe(CARDS);
      return last - folded;
    };
    await expect.poll(tail, { timeout: 60_000, interval: 100 }).toBeLessThan(2048);
    const segments = await listSegments(query);
    expect(segments.length).toBeGreaterThan(0);
    expect(segments.reduce((sum, { docs }) => sum + docs, 0) + (await tail())).toBe(CARDS);
    for (const api of apis) for (const at of [0, 1234, CARDS - 1]) expect(await found(api, word(at))).toHaveLength(1);
    await Promise.all(stores.map((store) => store.close()));
    expect(await illnesses(database)).toEqual([]);
    await drop();
  });
});
