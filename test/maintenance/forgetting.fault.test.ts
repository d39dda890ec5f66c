/** An erasure that is killed continues with the next start, and ends with the same receipt. */
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { Store } from '#cairn/api/index.js';
import { illnesses } from '../support/inspect/audit.js';
import { messageOf, until } from '../support/server.js';
import { freshDatabase, targetNames } from '../support/targets.js';

const CALLER = { tenant_id: 'default', agent_id: null, role: 'admin', key_id: null } as const;
const CARDS = 2500;
const CHILD = join(import.meta.dirname, '../support/children/forgetting.mjs');
const said = (of: string, i: number): string => `What ${of} said in private, number ${i}.`;

const kinds = targetNames().filter((name) => name !== 'http');
describe.each(kinds)('a killed erasure on %s', (kind) => {
  it('FORGET-12 continues with the next start, and ends with the same receipt', async () => {
    const { database, drop } = await freshDatabase(kind);
    const first = await Store.open({ database, sweep_every_ms: 0 });
    const api = first.api(CALLER);
    for (const user of ['alice', 'bob'])
      for (let from = 0; from < CARDS; from += 500) {
        const cards = Array.from({ length: user === 'alice' ? 500 : 50 }, (_, i) => ({
          content: said(user, from + i),
          subject_ids: [user],
        }));
        await api.cards.add_batch({ cards, atomic: true });
      }
    await first.close();

    const child = fork(CHILD, [database, 'alice']);
    await messageOf(child);
    const left = await Store.open({ database, sweep_every_ms: 0 });
    let erased = 0;
    try {
      // Killed once it has erased some.
      await until('the first batch', async () => {
        const { cards } = await left.api(CALLER).lifetime.stats();
        erased = cards.erased;
        return erased > 0;
      });
      child.kill('SIGKILL');
      await once(child, 'exit');
      erased = (await left.api(CALLER).lifetime.stats()).cards.erased;
    } finally {
      await left.close();
    }
    expect(erased).toBeGreaterThan(0);
    expect(erased).toBeLessThan(CARDS);

    const store = await Store.open({ database });
    try {
      const again = store.api(CALLER);
      const [erasure] = (await again.erasures.list({})).erasures;
      const erasure_id = erasure!.erasure_id!;
      for (;;) {
        const { status } = await again.erasures.show({ erasure_id });
        if (status === 'verified') break;
        await sleep(20);
      }
      const receipt = await again.erasures.show({ erasure_id });
      expect(receipt.erased).toEqual([{ entity_type: 'Card', entities: CARDS, contents: CARDS }]);
      expect(await again.erasures.verify({ erasure_id, bytes: true })).toMatchObject({
        verified: true,
        checked: CARDS,
      });
      expect((await again.cards.list({ subject_id: 'alice' })).total).toBe(0);
      expect((await again.cards.list({ subject_id: 'bob' })).total).toBe(CARDS / 10);
      if (kind === 'sqlite')
        for (const file of [database, `${database}-wal`].filter((one) => existsSync(one)))
          expect(readFileSync(file).includes('What alice said in private')).toBe(false);
    } finally {
      await store.close();
    }
    expect(await illnesses(database)).toEqual([]);
    await drop();
  });
});
