/** Artifacts and notes on several stores of one database: changes at once, and counters of reads. */
import { describe, expect, it } from 'vitest';
import { Store } from '#cairn/api/index.js';
import { addEndings, sessionHolder } from '#cairn/engine/sql.js';
import { eraseCard, expiredCards } from '#cairn/facts/sql.js';
import { lockTrajectory } from '#cairn/memory/trajectories/store.js';
import { eraseExpired, expiredVersions } from '#cairn/memory/versions/store.js';
import { freshDatabase, targetNames } from '../support/targets.js';

const caller = { tenant_id: 'default', agent_id: null, role: 'admin', key_id: null } as const;

describe.each(targetNames().filter((name) => name !== 'http'))('several stores on %s', (kind) => {
  it('VERSION-3 changes by several stores at once all land, each as a version', async () => {
    const { database, drop } = await freshDatabase(kind as 'sqlite' | 'postgres');
    const stores = await Promise.all([1, 2, 3].map(() => Store.open({ database, sweep_every_ms: 0 })));
    const apis = stores.map((store) => store.api(caller));
    const { trajectory_id } = await apis[0]!.trajectories.create({ name: 't' });
    const { artifact_id } = await apis[0]!.artifacts.create({
      trajectory_id,
      artifact_type: 'Fact',
      name: 'n',
      content: 'c',
    });
    const { note_id } = await apis[1]!.notes.create({ note_type: 'Fact', title: 't', content: 'c' });
    const rounds = Array.from({ length: 8 }, (_, i) => i);
    const changes = rounds.flatMap((round) =>
      apis.flatMap((api, i) => [
        api.artifacts.update({ artifact_id, content: `${round} by ${i}` }),
        api.notes.update({ note_id, content: `${round} by ${i}` }),
      ]),
    );
    await Promise.all(changes);
    const artifact = await apis[0]!.artifacts.history({ artifact_id });
    const note = await apis[1]!.notes.history({ note_id });
    for (const versions of [artifact.versions, note.versions]) {
      expect(versions.map(({ version }) => version)).toEqual(Array.from({ length: 25 }, (_, i) => i + 1));
      expect(new Set(versions.map(({ content }) => content)).size).toBe(25);
      for (const [i, one] of versions.entries()) expect(one.superseded_at).toBe(versions[i + 1]?.updated_at ?? null);
    }
    const deleted = await Promise.allSettled(apis.map((api) => api.notes.delete({ note_id })));
    expect(deleted.map(({ status }) => status)).toEqual(['fulfilled', 'fulfilled', 'fulfilled']);
    for (const store of stores) await store.close();
    await drop();
  });

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

  const expiring = async (store: Store) => {
    const cairn = store.api(caller);
    const input = { note_type: 'Fact', title: 't', content: 'c', ttl: 'ShortTerm' as const };
    const { note_id } = await cairn.notes.create(input);
    await cairn.notes.update({ note_id, content: 'd' });
    const later = Date.now() + 2 * 3_600_000;
    const from = { expires_at: 0, card_id: '' };
    const cards = await expiredCards(store.driver.at('default'), later, from, 10);
    const versions = await expiredVersions(store.driver.at('default'), later, 10);
    expect([cards.length, versions.length]).toEqual([2, 2]);
    return { note_id, later, cards, versions };
  };

  it('TTL-3 what was found expired and then given a longer life is not erased', async () => {
    const { database, drop } = await freshDatabase(kind as 'sqlite' | 'postgres');
    const [one, two] = [await Store.open({ database }), await Store.open({ database })];
    const { note_id, later, cards, versions } = await expiring(one);
    await two.api(caller).notes.update({ note_id, ttl: 'Persistent' });
    const erased = await one.driver.write('default', async (tx) => {
      const found = [];
      for (const card of cards) found.push(await eraseCard(tx, card, 'keyed:', later));
      return [...found, await eraseExpired(tx, versions, later)];
    });
    expect(erased).toEqual([false, false, 0]);
    const history = await one.api(caller).notes.history({ note_id });
    expect(history.versions.map(({ title, content }) => [title, content])).toEqual([
      ['t', 'c'],
      ['t', 'd'],
      ['t', 'd'],
    ]);
    await one.close();
    await two.close();
    await drop();
  });

  // SQLite has one writer at a time.
  it.skipIf(kind !== 'postgres')('TTL-3 what is being erased is not given a longer life', async () => {
    const { database, drop } = await freshDatabase('postgres');
    const [one, two] = [await Store.open({ database }), await Store.open({ database })];
    const { note_id, later, cards } = await expiring(one);
    let begun = () => {};
    let end = () => {};
    const hasBegun = new Promise<void>((resolve) => (begun = resolve));
    const mayEnd = new Promise<void>((resolve) => (end = resolve));
    const sweeping = one.driver.write('default', async (tx) => {
      expect(await eraseCard(tx, cards[0]!, 'keyed:', later)).toBe(true);
      begun();
      await mayEnd;
    });
    await hasBegun;
    const change = two.api(caller).notes.update({ note_id, ttl: 'Persistent' });
    change.catch(() => undefined);
    await new Promise((resolve) => setTimeout(resolve, 200));
    end();
    await sweeping;
    await expect(change).rejects.toMatchObject({ code: 'CONTENT_ERASED' });
    await one.close();
    await two.close();
    await drop();
  });

  // SQLite has one writer at a time.
  it.skipIf(kind !== 'postgres')('TTL-2 no version is given to what ends at the same time', async () => {
    const { database, drop } = await freshDatabase('postgres');
    const [one, two] = [await Store.open({ database }), await Store.open({ database })];
    const cairn = two.api(caller);
    const { trajectory_id } = await cairn.trajectories.create({ name: 't' });
    const { note_id } = await cairn.notes.create({
      note_type: 'Fact',
      title: 't',
      content: 'c',
      ttl: 'Session',
      source_trajectory_ids: [trajectory_id],
    });
    let locked = () => {};
    let end = () => {};
    const isLocked = new Promise<void>((resolve) => (locked = resolve));
    const mayEnd = new Promise<void>((resolve) => (end = resolve));
    const ending = one.driver.write('default', async (tx) => {
      await lockTrajectory(tx, trajectory_id);
      locked();
      await mayEnd;
      const holder = sessionHolder(trajectory_id);
      await addEndings(tx, [{ holder, ended_at: Date.now(), thread_id: null, box_id: null }]);
    });
    await isLocked;
    const change = cairn.notes.update({ note_id, content: 'd' });
    let settled = false;
    void change.then(
      () => (settled = true),
      () => (settled = true),
    );
    await new Promise((resolve) => setTimeout(resolve, 200));
    expect(settled).toBe(false);
    end();
    await ending;
    await expect(change).rejects.toMatchObject({ code: 'CONTENT_ERASED' });
    await one.close();
    await two.close();
    await drop();
  });
});
