/** Counters of reads: written now and then, at the end, and by several processes. */
import { describe, expect, it } from 'vitest';
import { Store } from '#cairn/service/open.js';
import { freshDatabase, targetNames } from '../support/targets.js';

const caller = { tenant_id: 'default', agent_id: null, role: 'admin', key_id: null } as const;

describe.each(targetNames().filter((name) => name !== 'http'))('counters on %s', (kind) => {
  it('VERSION-9 counts of several stores add up, and outlive them', async () => {
    const { database, drop } = await freshDatabase(kind as 'sqlite' | 'postgres');
    const open = (count_every_ms: number) => Store.open({ database, sweep_every_ms: 0, count_every_ms });
    const [one, two] = [await open(0), await open(0)];
    const { note_id } = await one.api(caller).notes.create({ note_type: 'Fact', title: 't', content: 'c' });
    for (const store of [one, two, one, two, two]) await store.api(caller).notes.get({ note_id });
    const shown = async (store: Store) => (await store.api(caller).notes.list()).notes[0]!;
    // Each knows what is stored and what it has counted itself.
    expect([(await shown(one)).access_count, (await shown(two)).access_count]).toEqual([2, 3]);
    await one.close();
    expect((await shown(two)).access_count).toBe(5);
    await two.close();
    const often = await open(1);
    expect(await shown(often)).toMatchObject({ access_count: 5, accessed_at: expect.any(String) });
    await often.api(caller).notes.get({ note_id });
    const other = await open(0);
    await expect.poll(async () => (await shown(other)).access_count).toBe(6);
    expect((await shown(often)).access_count).toBe(6);
    await other.close();
    await often.close();
    await drop();
  });
});
