/** The upkeep of the index under faults: processes that are killed, that fold, merge and purge at once, and full tails. */

import { fork } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { Store, type StoreOptions } from '#cairn/api/index.js';
import type { Api } from '#cairn/client/index.js';
import { sql } from '#cairn/driver/index.js';
import { indexKey, putLease } from '#cairn/engine/index.js';
import { mergeSegments, replaceSegments } from '#cairn/index/index.js';
import { listSegments, makeFold, storeFold, termCode, termSteps } from '#cairn/index/sql.js';
import { runSteps } from '#cairn/kernel/index.js';
import { measureDocs } from '#cairn/recall/folding/contents.js';
import { stem } from '#cairn/text/index.js';
import { illnesses } from '../../support/inspect/audit.js';
import { found } from '../../support/nouns/search.js';
import { foldAll, foldSome, mergeOnce, purge, segmentsOf, tailOf } from '../../support/nouns/search-index.js';
import { sleep } from '../../support/server.js';
import { InterleavingDriver } from '../../support/stand-ins/faulty-driver.js';
import { freshDatabase, targetNames } from '../../support/targets.js';

const TENANT = 'default';
const CALLER = { tenant_id: TENANT, agent_id: null, role: 'admin', key_id: null } as const;
const KILLS = 6;
const kinds = targetNames().filter((name) => name !== 'http');

/** Letters alone, so that it is one term. */
const marker = (): string =>
  `mark${[...randomBytes(12)].map((byte) => String.fromCharCode(97 + (byte % 26))).join('')}`;

/** Stores on one new database, without upkeep in the background; afterwards the doctor finds nothing. */
async function withStores(
  kind: 'sqlite' | 'postgres',
  options: Omit<StoreOptions, 'database'>,
  work: (stores: readonly Store[], apis: readonly Api[], database: string) => Promise<void>,
): Promise<void> {
  const { database, drop } = await freshDatabase(kind);
  const open = () => Store.open({ database, sweep_every_ms: 0, count_every_ms: 0, ...options });
  const stores = [await open(), await open()];
  try {
    await work(
      stores,
      stores.map((store) => store.api(CALLER)),
      database,
    );
  } finally {
    for (const store of stores) await store.close();
  }
  expect(await illnesses(database)).toEqual([]);
  await drop();
}

interface Told {
  readonly wrote: string[];
  readonly deleted: string[];
}

/** Runs something before the nth write from now. */
function beforeWrite(driver: InterleavingDriver, nth: number, run: () => Promise<unknown>): void {
  driver.beforeWrite = nth === 1 ? run : async () => beforeWrite(driver, nth - 1, run);
}

/** Runs the child until it is killed, a moment after it began. */
async function killed(database: string, name: string, tail: number): Promise<Told> {
  const told: Told = { wrote: [], deleted: [] };
  const child = fork(join(import.meta.dirname, '../../support/children/folding.mjs'), [database, name, String(tail)]);
  const ended = new Promise((done) => child.once('exit', done));
  await new Promise<void>((ready, fail) => {
    child.once('exit', (code) => fail(new Error(`the child ended with ${code}`)));
    child.on('message', (said: { ready?: true; wrote?: string; deleted?: string }) => {
      if (said.ready) ready();
      if (said.wrote) told.wrote.push(said.wrote);
      if (said.deleted) told.deleted.push(said.deleted);
    });
  });
  await sleep(150 + Math.random() * 600);
  child.kill('SIGKILL');
  await ended;
  return told;
}

/** Of all, at most so many: the last ones, and some of the others. */
const sampled = (words: readonly string[], count: number): string[] =>
  words.filter((_, i) => i >= words.length - count || i % Math.ceil(words.length / count) === 0);

describe.each(kinds)('the index on %s', (kind) => {
  it('INDEX-10 after a SIGKILL an acknowledged write is found at once, in a new process and in one that was open', async () => {
    const all: string[] = [];
    await withStores(kind, {}, async ([, other], [open], database) => {
      for (let round = 0; round < KILLS; round++) {
        const name = String.fromCharCode(97 + round);
        const { wrote, deleted } = await killed(database, name, round % 2 === 0 ? 16_384 : 20);
        all.push(...wrote);
        const fresh = await Store.open({ database, sweep_every_ms: 0 });
        try {
          for (const api of [open!, fresh.api(CALLER)]) {
            for (const word of sampled(wrote, 8)) expect(await found(api, word), word).toHaveLength(1);
            for (const word of sampled(deleted, 3)) expect(await found(api, word), word).toEqual([]);
          }
        } finally {
          await fresh.close();
        }
        expect(await illnesses(database), `after kill ${round}`).toEqual([]);
      }
      expect(all.length).toBeGreaterThan(3 * KILLS);
      // What was left half done does not stand in the way.
      await foldAll(other!, TENANT, 500);
      while (await mergeOnce(other!, TENANT));
      await purge(other!, TENANT);
      for (const word of sampled(all, 10)) expect(await found(open!, word), word).toHaveLength(1);
    });
  });

  it('INDEX-7 a tail that nobody folds is never longer than half its limit and one commit, whoever writes', () =>
    withStores(kind, { search_tail: 200 }, async (stores, apis) => {
      let [left, longest] = [2000, 0];
      const caller = async (api: Api) => {
        while (left-- > 0) await api.cards.add({ content: `a card ${left}` });
      };
      const watch = async () => {
        while (left > 0) {
          longest = Math.max(longest, await tailOf(stores[0]!, TENANT));
          await sleep(2);
        }
      };
      await Promise.all([watch(), ...Array.from({ length: 64 }, (_, i) => caller(apis[i % 2]!))]);
      longest = Math.max(longest, await tailOf(stores[0]!, TENANT));
      expect(longest).toBeGreaterThan(50);
      expect(longest).toBeLessThanOrEqual(100 + 64);
      const { total } = await apis[0]!.search.query({ query: 'card 77', limit: 1 });
      expect(total === null || total >= 300).toBe(true);
      const [{ docs }] = (await stores[0]!.driver.long(
        TENANT,
        sql`SELECT COUNT(*) AS docs FROM search_docs WHERE tenant_id = ${TENANT}`,
      )) as [{ docs: number }];
      expect(Number(docs)).toBe(2000);
      // Commits of more documents than a writer folds at once.
      const items = Array.from({ length: 500 }, (_, i) => ({ content: `one of many ${i}` }));
      for (let i = 0; i < 3; i++) {
        await Promise.all(apis.map((api) => api.cards.add_batch({ cards: items })));
        expect(await tailOf(stores[0]!, TENANT)).toBeLessThanOrEqual(1100);
      }
    }));

  it('INDEX-7 writers leave half of the limit to a process that folds in the background, while it has the lease', () =>
    withStores(kind, { search_tail: 200 }, async ([store], [api]) => {
      const add = async (count: number) => {
        for (let i = 0; i < count; i++) await api!.cards.add({ content: `a card ${i}` });
        return tailOf(store!, TENANT);
      };
      const lease = (expires_at: number) =>
        store!.driver.write(TENANT, (tx) =>
          putLease(tx, { kind: 'index', subject_id: 'documents', holder: 'another', token: 0, expires_at }),
        );
      await lease(store!.driver.now() + 3_600_000);
      await add(50);
      const begun = (await store!.driver.snapshot(TENANT, (query) => makeFold(query, measureDocs, 40)))!;
      expect(await add(140)).toBe(190);
      expect(await store!.driver.write(TENANT, (tx) => storeFold(tx, begun))).toBe(true);
      expect(await tailOf(store!, TENANT)).toBe(150);
      // Beyond the limit they fold all the same.
      expect(await add(51)).toBeLessThan(200);
      // Of a process that ended, the lease does not count.
      await lease(store!.driver.now() - 1);
      expect(await add(250)).toBeLessThanOrEqual(101);
    }));

  it('INDEX-9 nothing is lost or double when two servers fold, merge and purge beside writers', () =>
    withStores(kind, { search_tail: 80 }, async (stores, apis) => {
      const live: string[] = [];
      const gone: string[] = [];
      let isWriting = true;
      const writer = async (api: Api) => {
        for (let i = 0; i < 60; i++) {
          const word = marker();
          const { card_id } = await api.cards.add({ content: `${word} is said` });
          if (i % 4 === 3) {
            await api.cards.delete({ card_id });
            gone.push(word);
          } else live.push(word);
        }
      };
      const keeper = async (store: Store) => {
        while (isWriting) {
          await foldSome(store, TENANT, 1 + Math.trunc(Math.random() * 6));
          if (Math.random() < 0.5) await mergeOnce(store, TENANT);
          if (Math.random() < 0.3) await purge(store, TENANT);
        }
      };
      const keeping = stores.map(keeper);
      await Promise.all(Array.from({ length: 8 }, (_, i) => writer(apis[i % 2]!)));
      isWriting = false;
      await Promise.all(keeping);
      for (const word of sampled(gone, 20)) expect(await found(apis[0]!, word)).toEqual([]);
      await foldAll(stores[1]!, TENANT, 50);
      await Promise.all(stores.map((store) => purge(store, TENANT)));
      const key = indexKey(stores[0]!.runtime.meta, TENANT);
      const codes: number[] = [];
      for (const segment of await segmentsOf(stores[0]!, TENANT))
        for (const terms of runSteps(termSteps(segment))) codes.push(...terms.codes);
      const codeOf = (word: string) => termCode(key, stem(word));
      const counts = new Map<number, number>();
      for (const code of codes) counts.set(code, (counts.get(code) ?? 0) + 1);
      expect(live.filter((word) => counts.get(codeOf(word)) !== 1)).toEqual([]);
      expect(gone.filter((word) => counts.has(codeOf(word)))).toEqual([]);
      for (const [i, word] of sampled(live, 20).entries()) expect(await found(apis[i % 2]!, word)).toHaveLength(1);
    }));

  it('INDEX-9 blocks that were found without a segment stay, if a merge finishes before they are deleted', () =>
    withStores(kind, {}, async ([store, other], [api]) => {
      const words = Array.from({ length: 8 }, marker);
      for (const word of words) {
        await api!.cards.add({ content: `${word} is said` });
        await foldSome(store!, TENANT, 10);
      }
      const [merging, cleaning] = [new InterleavingDriver(store!.driver), new InterleavingDriver(other!.driver)];
      const [first] = await listSegments(store!.driver.at(TENANT));
      const [segment] = await segmentsOf(store!, TENANT);
      let merged: Promise<unknown> = Promise.resolve();
      // Its own blocks are none, and what it should replace is out of date: it only cleans up.
      const cleanUp = () =>
        replaceSegments(cleaning, TENANT, [{ ...first!, revision: -1 }], { header: segment!.header, blocks: [] });
      let cleaned: Promise<unknown> = Promise.resolve();
      beforeWrite(merging, 3, () => {
        return new Promise<void>((goOn) => {
          beforeWrite(cleaning, 3, () => {
            goOn();
            return merged;
          });
          cleaned = cleanUp();
        });
      });
      merged = mergeSegments(merging, TENANT);
      await merged;
      await cleaned;
      expect(await segmentsOf(store!, TENANT)).toHaveLength(1);
      for (const word of words) expect(await found(api!, word)).toHaveLength(1);
    }));

  it('INDEX-9 a document that is hidden while it is folded does not get into the segment', () =>
    withStores(kind, {}, async ([store], [api]) => {
      const { driver } = store!;
      const [kept, hidden] = [marker(), marker()];
      await api!.cards.add({ content: `${kept} stays` });
      const { card_id } = await api!.cards.add({ content: `${hidden} goes` });
      const fold = await driver.snapshot(TENANT, (query) => makeFold(query, measureDocs, 100));
      await api!.cards.delete({ card_id });
      expect(await driver.write(TENANT, (tx) => storeFold(tx, fold!))).toBe(false);
      expect(await segmentsOf(store!, TENANT)).toEqual([]);
      await foldAll(store!, TENANT);
      const key = indexKey(store!.runtime.meta, TENANT);
      const codesOf = async () =>
        (await segmentsOf(store!, TENANT)).flatMap((segment) =>
          runSteps(termSteps(segment)).flatMap(({ codes }) => [...codes]),
        );
      expect(await codesOf()).toContain(termCode(key, stem(kept)));
      expect(await codesOf()).not.toContain(termCode(key, stem(hidden)));
      // In one commit with the fold, in any order: it is hidden, and purged like any folded document.
      const { card_id: other } = await api!.cards.add({ content: `${hidden} comes again` });
      await Promise.all([foldSome(store!, TENANT, 100), api!.cards.delete({ card_id: other })]);
      expect(await found(api!, hidden)).toEqual([]);
      await foldAll(store!, TENANT);
      await purge(store!, TENANT);
      expect(await codesOf()).not.toContain(termCode(key, stem(hidden)));
    }));
});
