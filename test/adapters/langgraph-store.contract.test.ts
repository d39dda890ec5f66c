/** CairnStore: what LangGraph asks of a store, beside its own in memory, on every target. */
import { InMemoryStore, type Operation } from '@langchain/langgraph-checkpoint';
import { describe, expect, it } from 'vitest';
import { CairnStore } from '#cairn/adapters/langgraph/index.js';
import { noteIdOf, passes } from '#cairn/adapters/langgraph/items.js';
import type { Api } from '#cairn/client/index.js';
import { onEveryTarget } from '../support/targets.js';

const values = (items: readonly { value: unknown }[]) => items.map(({ value }) => value);

onEveryTarget('the store of LangGraph', (test) => {
  const fresh = async () => {
    const cairn = await test().freshTenant();
    return { cairn, store: new CairnStore(cairn) };
  };

  it('gives back what was put, and when it was made and changed', async () => {
    const { store } = await fresh();
    expect(await store.get(['users', 'u1'], 'prefs')).toBeNull();
    await store.put(['users', 'u1'], 'prefs', { theme: 'dark', sizes: [1, { deep: null }], gone: undefined });
    const item = await store.get(['users', 'u1'], 'prefs');
    expect(item).toMatchObject({ namespace: ['users', 'u1'], key: 'prefs' });
    expect(item!.value).toEqual({ theme: 'dark', sizes: [1, { deep: null }] });
    expect(item!.createdAt).toBeInstanceOf(Date);
    test().advance(1000);
    await store.put(['users', 'u1'], 'prefs', { theme: 'light' });
    const changed = await store.get(['users', 'u1'], 'prefs');
    expect(changed!.value).toEqual({ theme: 'light' });
    expect(changed!.createdAt).toEqual(item!.createdAt);
    expect(changed!.updatedAt.getTime()).toBeGreaterThanOrEqual(item!.updatedAt.getTime() + 1000);
  });

  it('keeps the versions of an item as those of a note', async () => {
    const { cairn, store } = await fresh();
    await store.put(['a'], 'k', { n: 1 });
    await store.put(['a'], 'k', { n: 2 });
    const { versions } = await cairn.notes.history({ note_id: noteIdOf({ namespace: ['a'], key: 'k' }, 0) });
    expect(versions.map(({ content }) => content)).toEqual([{ n: 1 }, { n: 2 }]);
    expect(versions[0]).toMatchObject({ note_type: 'langgraph.item', title: 'a."k"' });
  });

  it('puts what was first there again, though it was created with that before', async () => {
    const { cairn, store } = await fresh();
    await store.put(['a'], 'k', { n: 1 });
    await store.put(['a'], 'k', { n: 2 });
    // One that has seen nothing of it yet.
    await new CairnStore(cairn).put(['a'], 'k', { n: 1 });
    expect((await store.get(['a'], 'k'))!.value).toEqual({ n: 1 });
  });

  it('has an item again after it was deleted, any number of times, also for others', async () => {
    const { cairn, store } = await fresh();
    for (let n = 0; n < 6; n++) {
      await store.put(['a'], 'k', { n });
      // Another process, which has no memory of the generations before.
      const other = new CairnStore(cairn);
      expect((await other.get(['a'], 'k'))!.value).toEqual({ n });
      await other.put(['a'], 'k', { n, other: true });
      expect((await store.get(['a'], 'k'))!.value).toEqual({ n, other: true });
      await (n % 2 === 0 ? store : other).delete(['a'], 'k');
      expect(await store.get(['a'], 'k')).toBeNull();
      expect(await other.get(['a'], 'k')).toBeNull();
    }
    await store.delete(['a'], 'k');
    expect(await store.search(['a'])).toEqual([]);
  });

  it('takes puts of one new item from several at the same time', async () => {
    const { cairn } = await fresh();
    const stores = Array.from({ length: 5 }, () => new CairnStore(cairn));
    await Promise.all(stores.map((store, n) => store.put(['a'], 'k', { n })));
    const { value } = (await stores[0]!.get(['a'], 'k'))!;
    expect([0, 1, 2, 3, 4]).toContain(value.n);
    expect(await new CairnStore(cairn).search(['a'])).toHaveLength(1);
  });

  it('ranks by a query, and has the others follow', async () => {
    const { store } = await fresh();
    await store.put(['people'], 'anna', { likes: 'green tea in the morning' });
    await store.put(['people'], 'bob', { likes: 'long walks' });
    await store.put(['people'], 'carl', { likes: 'tea' });
    const found = await store.search(['people'], { query: 'who drinks tea in the morning?' });
    expect(found.map(({ key }) => key)).toEqual(['anna', 'carl', 'bob']);
    expect(found[0]!.score!).toBeGreaterThan(found[1]!.score!);
    expect(found[2]!.score).toBeUndefined();
  });

  it('asks for the best under the namespace, and for no more than are wanted', async () => {
    const { cairn } = await fresh();
    const asked: { limit?: number | undefined; filters?: unknown }[] = [];
    const notes: Api['notes'] = {
      ...cairn.notes,
      search: (input, options) => {
        asked.push(input);
        return cairn.notes.search(input, options);
      },
    };
    const store = new CairnStore({ ...cairn, notes });
    for (let n = 0; n < 12; n++) await store.put(['elsewhere'], `k${n}`, { likes: 'tea' });
    await store.put(['people'], 'anna', { likes: 'tea, and much besides' });
    expect(values(await store.search(['people'], { query: 'tea', limit: 1 }))).toHaveLength(1);
    expect(await store.search(['nowhere'], { query: 'tea' })).toEqual([]);
    expect(asked).toMatchObject([{ limit: 10, filters: [{ field: 'type' }, { field: 'name', value: 'people.' }] }]);
  });

  it('searches by namespace, filter, limit and offset, in the order of creation', async () => {
    const { store } = await fresh();
    for (const n of [3, 1, 2]) {
      await store.put(['docs', 'v1'], `d${n}`, { n, type: n > 1 ? 'report' : 'memo' });
      test().advance(10);
    }
    await store.put(['docs', 'v10'], 'other', { n: 4, type: 'report' });
    test().advance(10);
    await store.put(['docs'], 'top', { n: 0, type: 'memo' });
    await store.put(['elsewhere'], 'x', { n: 9 });
    expect(values(await store.search(['docs', 'v1'])).map((value) => (value as { n: number }).n)).toEqual([3, 1, 2]);
    const ns = async (options: object) => (await store.search(['docs'], options)).map(({ value }) => value.n as number);
    expect(await ns({})).toEqual([3, 1, 2, 4, 0]);
    expect(await ns({ limit: 2, offset: 1 })).toEqual([1, 2]);
    expect(await ns({ filter: { type: 'report' } })).toEqual([3, 2, 4]);
    expect(await ns({ filter: { type: 'report', n: { $gte: 3 } } })).toEqual([3, 4]);
    expect(await ns({ filter: { n: { $gt: 0, $lt: 3 } }, query: 'taken, but does not rank' })).toEqual([1, 2]);
    expect(await store.search([], { limit: 100 })).toHaveLength(6);
  });

  it('lists namespaces by prefix, suffix, wildcard and depth', async () => {
    const { store } = await fresh();
    for (const namespace of [['a', 'b', 'c'], ['a', 'b', 'd'], ['a', 'x', 'c'], ['z']])
      await store.put(namespace, 'k', {});
    await store.put(['a', 'b', 'c'], 'k2', {});
    expect(await store.listNamespaces()).toEqual([['a', 'b', 'c'], ['a', 'b', 'd'], ['a', 'x', 'c'], ['z']]);
    expect(await store.listNamespaces({ prefix: ['a', 'b'] })).toHaveLength(2);
    expect(await store.listNamespaces({ prefix: ['a', '*', 'c'] })).toEqual([
      ['a', 'b', 'c'],
      ['a', 'x', 'c'],
    ]);
    expect(await store.listNamespaces({ suffix: ['c'] })).toHaveLength(2);
    // A wildcard stands for one label, not for none.
    expect(await store.listNamespaces({ prefix: ['z', '*'] })).toEqual([]);
    expect(await store.listNamespaces({ suffix: ['*', 'z'] })).toEqual([]);
    expect(await store.listNamespaces({ prefix: ['*'], suffix: ['z'] })).toEqual([['z']]);
    expect(await store.listNamespaces({ maxDepth: 2 })).toEqual([['a', 'b'], ['a', 'x'], ['z']]);
    expect(await store.listNamespaces({ limit: 1, offset: 1 })).toEqual([['a', 'b', 'd']]);
    await store.delete(['z'], 'k');
    expect(await store.listNamespaces({ prefix: ['z'] })).toEqual([]);
  });

  it('does a batch as the store in memory does: reads see what was before, the last put counts', async () => {
    const { store } = await fresh();
    const memory = new InMemoryStore();
    for (const one of [store, memory]) await one.put(['a'], 'old', { n: 0 });
    const operations: Operation[] = [
      { namespace: ['a'], key: 'new', value: { n: 1 } },
      { namespace: ['a'], key: 'new' },
      { namespace: ['a'], key: 'new', value: { n: 2 } },
      { namespace: ['a'], key: 'old', value: null },
      { namespacePrefix: ['a'], limit: 10, offset: 0 },
      { matchConditions: [{ matchType: 'prefix', path: ['a'] }], limit: 10, offset: 0 },
    ];
    const shown = (results: unknown) =>
      JSON.parse(JSON.stringify(results), (name, value) => (name.endsWith('edAt') ? 'time' : value));
    expect(shown(await store.batch(operations))).toEqual(shown(await memory.batch(operations)));
    for (const one of [store, memory]) expect(values(await one.search(['a'])) as unknown).toEqual([{ n: 2 }]);
  });

  it('refuses a namespace that LangGraph refuses, and changes nothing', async () => {
    const { store } = await fresh();
    const wrong = [[], ['with.period'], [''], ['langgraph', 'x']];
    for (const namespace of wrong)
      await expect(
        store.batch([
          { namespace: ['fine'], key: 'k', value: {} },
          { namespace, key: 'k', value: {} },
        ]),
      ).rejects.toThrow(/namespace/);
    expect(await store.listNamespaces()).toEqual([]);
  });

  it('tells long names apart that begin alike', async () => {
    const { store } = await fresh();
    const long = 'é'.repeat(600);
    for (const end of ['a', 'b']) await store.put([`${long}${end}`, 'x'], 'k', { end });
    expect((await store.get([`${long}b`, 'x'], 'k'))!.value).toEqual({ end: 'b' });
    expect(values(await store.search([`${long}a`]))).toEqual([{ end: 'a' }]);
  });

  it('shows nothing of another tenant', async () => {
    const [one, other] = [await fresh(), await fresh()];
    await one.store.put(['a'], 'k', { whose: 'one' });
    expect(await other.store.get(['a'], 'k')).toBeNull();
    expect(await other.store.listNamespaces()).toEqual([]);
    await other.store.put(['a'], 'k', { whose: 'other' });
    expect((await one.store.get(['a'], 'k'))!.value).toEqual({ whose: 'one' });
  });
});

describe('a filter', () => {
  it('has the operators of LangGraph', () => {
    const value = { n: 5, s: 'x' };
    for (const filter of [
      { n: 5 },
      { n: { $eq: 5 }, s: { $ne: 'y' } },
      { n: { $gt: 4, $gte: 5, $lt: 6, $lte: 5 } },
      { n: { $in: [1, 5] }, s: { $nin: ['a'] } },
    ])
      expect(passes(value, filter)).toBe(true);
    for (const filter of [
      { n: '5' },
      { missing: 1 },
      { n: { $gt: 5 } },
      { n: { $lt: 5 } },
      { n: { $in: [1] } },
      { s: { $nin: ['x'] } },
      { n: { $unknown: 5 } },
      { n: { plain: 5 } },
    ])
      expect(passes(value, filter)).toBe(false);
  });
});
