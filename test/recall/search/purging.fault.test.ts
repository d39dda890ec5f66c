/** What purging the search index costs, by counts, and what it leaves when it is cut off. */
import { randomUUID } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { openDriver, Store } from '#cairn/api/index.js';
import type { Api } from '#cairn/client/index.js';
import { purgeHidden } from '#cairn/index/index.js';
import { deadDocs, extentOf, termSteps } from '#cairn/index/sql.js';
import { runSteps } from '#cairn/kernel/index.js';
import { illnesses } from '../../support/inspect/audit.js';
import { found } from '../../support/nouns/search.js';
import { foldAll, mergeOnce, purge, segmentsOf } from '../../support/nouns/search-index.js';
import { sleep, until } from '../../support/server.js';
import { PurgeWatch } from '../../support/stand-ins/purge-watch.js';
import { freshDatabase, targetNames } from '../../support/targets.js';

const TENANT = 'default';
const CALLER = { tenant_id: TENANT, agent_id: null, role: 'admin', key_id: null } as const;
const kinds = targetNames().filter((name) => name !== 'http');

/** Letters alone, so that it is one term. */
const word = (number: number): string =>
  `run${[...String(number)].map((digit) => 'bcdfghjklm'[Number(digit)]).join('')}`;

interface Test {
  readonly store: Store;
  readonly api: Api;
  readonly watch: PurgeWatch;
}

/** A store on a watched driver, without background work; afterwards the doctor finds nothing. */
async function withStore(kind: 'sqlite' | 'postgres', work: (test: Test) => Promise<void>): Promise<void> {
  const { database, drop } = await freshDatabase(kind);
  const watch = new PurgeWatch(await openDriver({ database }));
  const store = await Store.on(watch, { sweep_every_ms: 0, count_every_ms: 0 });
  try {
    await work({ store, api: store.api(CALLER), watch });
  } finally {
    await store.close();
  }
  expect(await illnesses(database)).toEqual([]);
  await drop();
}

/** Cards with one common word and one of their own each; gives their ids. */
async function addCards(api: Api, count: number): Promise<string[]> {
  const cards = Array.from({ length: count }, (_, i) => ({ card_id: randomUUID(), content: `heron ${word(i)}` }));
  for (let at = 0; at < count; at += 500) await api.cards.add_batch({ cards: cards.slice(at, at + 500) });
  return cards.map(({ card_id }) => card_id);
}

async function someScope(api: Api, trajectory_id: string, turns: number): Promise<string> {
  const { scope_id } = await api.scopes.create({ trajectory_id, name: 'scope', retain: 'nothing' });
  for (let at = 0; at < turns; at += 500) {
    const items = Array.from({ length: Math.min(500, turns - at) }, (_, i) => ({
      create: { scope_id, role: 'User' as const, content: `heron ${word(at + i)}`, token_count: 1 },
    }));
    await api.turns.batch({ items, atomic: true });
  }
  return scope_id;
}

const hide = async (api: Api, card_ids: readonly string[]): Promise<void> => {
  for (const card_id of card_ids) await api.cards.delete({ card_id });
};

async function blocksOf(store: Store): Promise<number> {
  return (await segmentsOf(store, TENANT)).reduce((sum, { blocks }) => sum + blocks.length, 0);
}

/** Documents that have postings. */
async function indexed(store: Store): Promise<number> {
  let docs = 0;
  for (const segment of await segmentsOf(store, TENANT))
    docs += runSteps(termSteps(segment)).filter(({ codes }) => codes.length > 0).length;
  return docs;
}

const hidden = ({ driver }: Store): Promise<number[]> => deadDocs(driver.at(TENANT));

describe.each(kinds)('purging the index on %s', (kind) => {
  it('INDEX-12 overwrites each block once at most, though documents are hidden meanwhile', () =>
    withStore(kind, async ({ store, api, watch }) => {
      const cards = await addCards(api, 900);
      await foldAll(store, TENANT, 300);
      const first = cards.filter((_, i) => i % 90 === 0);
      await hide(api, first);
      const later = cards.filter((_, i) => i % 15 === 1);
      const blocks = await blocksOf(store);
      watch.beforeLook = () => hide(api, later.splice(0, 2));
      await purge(store, TENANT);
      watch.beforeLook = async () => undefined;
      expect(watch.looks).toBeLessThanOrEqual(4);
      expect(watch.blocks).toBeGreaterThan(0);
      expect(watch.blocks).toBeLessThanOrEqual(blocks);
      // All that was hidden when it began is purged.
      expect(await indexed(store)).toBeLessThanOrEqual(900 - first.length);
      await purge(store, TENANT);
      expect(await hidden(store)).toEqual([]);
      expect(await indexed(store)).toBe((await extentOf(store.driver.at(TENANT))).docs);
    }));

  it('INDEX-12 overwrites each block nine times at most while a scope is erased and upkeep purges', () =>
    withStore(kind, async ({ store, api, watch }) => {
      const { trajectory_id } = await api.trajectories.create({ name: 'task' });
      const scope_id = await someScope(api, trajectory_id, 3000);
      await addCards(api, 200);
      await foldAll(store, TENANT, 4096);
      const blocks = await blocksOf(store);
      let isErasing = true;
      const closed = api.scopes.close({ scope_id, wait: true }).finally(() => (isErasing = false));
      // As upkeep does, which purges what is mostly hidden.
      while (isErasing) await purgeHidden(store.driver, TENANT, 0.125);
      expect((await closed).erasure).toMatchObject({ state: 'done', erased: 3000 });
      expect(watch.blocks).toBeLessThanOrEqual(9 * blocks);
      expect(await hidden(store)).toEqual([]);
      expect(await indexed(store)).toBe(200);
    }));

  it('INDEX-12 is done once for all scopes of a trajectory that are erased together', () =>
    withStore(kind, async ({ store, api, watch }) => {
      const { trajectory_id } = await api.trajectories.create({ name: 'task' });
      for (let i = 0; i < 12; i++) await someScope(api, trajectory_id, 20);
      await addCards(api, 200);
      await foldAll(store, TENANT, 4096);
      const blocks = await blocksOf(store);
      await api.trajectories.delete({ trajectory_id, wait: true });
      expect(watch.blocks).toBeGreaterThan(0);
      expect(watch.blocks).toBeLessThanOrEqual(blocks);
      expect(await indexed(store)).toBe(200);
      const { packets } = await api.packets.list({ packet_type: 'cairn.lifetime.erased', limit: 100 });
      const scopes = packets.filter(({ payload }) => (payload!.entity as { type: string }).type === 'Scope');
      expect(scopes).toHaveLength(12);
    }));

  it('INDEX-12 is shared by erasures that end while another purge runs', () =>
    withStore(kind, async ({ store, api, watch }) => {
      const { trajectory_id } = await api.trajectories.create({ name: 'task' });
      const scope_ids: string[] = [];
      for (let i = 0; i < 12; i++) scope_ids.push(await someScope(api, trajectory_id, 20));
      await addCards(api, 200);
      await foldAll(store, TENANT, 4096);
      const blocks = await blocksOf(store);
      let others: Promise<unknown> | undefined;
      // The first purge does not begin before the contents of the others are erased.
      watch.beforeLook = async () => {
        if (others) return;
        others = Promise.all(scope_ids.slice(1).map((scope_id) => api.scopes.close({ scope_id, wait: true })));
        for (const scope_id of scope_ids.slice(1))
          await until('the contents', async () => (await api.scopes.get({ scope_id })).erasure?.erased === 20);
        await sleep(200);
      };
      await api.scopes.close({ scope_id: scope_ids[0]!, wait: true });
      await others;
      // Two, of two looks each; some more if one was very late.
      expect(watch.blocks).toBeLessThanOrEqual(4 * blocks);
      expect(watch.looks).toBeLessThanOrEqual(8);
      expect(await indexed(store)).toBe(200);
    }));

  it.each([
    ['a part', 4400, 4200],
    ['all', 4200, 4200],
  ])('INDEX-10 cut off after any write, having to purge %s of a segment, it changes no answer', (_, all, gone) =>
    withStore(kind, async ({ store, api, watch }) => {
      const { trajectory_id } = await api.trajectories.create({ name: 'task' });
      await addCards(api, 100);
      await foldAll(store, TENANT, 4096);
      const scope_id = await someScope(api, trajectory_id, gone);
      await addCards(api, all - gone);
      await foldAll(store, TENANT, 10_000);
      const left = 100 + all - gone;
      // Hidden as an erasure does it, which is cut off before it purges.
      watch.beforeLook = () => Promise.reject(new Error('the process was killed'));
      await api.scopes.close({ scope_id, wait: true });
      watch.beforeLook = async () => undefined;
      expect(await hidden(store)).toHaveLength(gone);
      const purgedBut = (write: number) => {
        watch.failing = write;
        return purge(store, TENANT).then(
          () => watch.failing > 0,
          () => false,
        );
      };
      let rounds = 0;
      for (; !(await purgedBut(2)); rounds++) {
        expect((await extentOf(store.driver.at(TENANT))).docs).toBe(left);
        expect(await found(api, word(1))).toHaveLength(all > gone ? 2 : 1);
        const { total } = await api.search.query({ query: 'heron', limit: 1 });
        expect(total).toBe(left);
      }
      watch.failing = 0;
      expect(rounds).toBeGreaterThanOrEqual(3);
      expect(watch.forgotten).toBeLessThanOrEqual(2000);
      expect(await hidden(store)).toEqual([]);
      expect(await indexed(store)).toBe(left);
    }),
  );

  it('INDEX-10 a merge drops what a purge had removed that was cut off', () =>
    withStore(kind, async ({ store, api, watch }) => {
      const { trajectory_id } = await api.trajectories.create({ name: 'task' });
      for (let i = 0; i < 7; i++) {
        await addCards(api, 200);
        await foldAll(store, TENANT, 4096);
      }
      const scope_id = await someScope(api, trajectory_id, 4200);
      await foldAll(store, TENANT, 10_000);
      watch.beforeLook = () => Promise.reject(new Error('the process was killed'));
      await api.scopes.close({ scope_id, wait: true });
      watch.beforeLook = async () => undefined;
      watch.failing = 3;
      await expect(purge(store, TENANT)).rejects.toThrow('killed');
      expect(await hidden(store)).toHaveLength(200);
      expect(await mergeOnce(store, TENANT)).toBe(true);
      expect(await segmentsOf(store, TENANT)).toHaveLength(1);
      expect(await hidden(store)).toEqual([]);
      expect(await indexed(store)).toBe(1400);
      expect((await extentOf(store.driver.at(TENANT))).docs).toBe(1400);
      expect(await found(api, word(1))).toHaveLength(7);
    }));
});
