/** What was erased is in no part of the search: not found, not in its rows, not in its index, nor in the bytes of the file. */

import { randomBytes } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { Store } from '#cairn/api/index.js';
import type { Api } from '#cairn/client/index.js';
import { sql } from '#cairn/driver/index.js';
import { indexKey, readMeta } from '#cairn/engine/index.js';
import { termCode, termSteps } from '#cairn/index/sql.js';
import { runSteps } from '#cairn/kernel/index.js';
import { stem } from '#cairn/text/index.js';
import { illnesses } from '../../support/inspect/audit.js';
import { snapshotOf, thought } from '../../support/nouns/executions.js';
import { found as foundBy } from '../../support/nouns/search.js';
import { foldAll, mergeOnce, purge, segmentsOf } from '../../support/nouns/search-index.js';
import { freshDatabase, targetNames } from '../../support/targets.js';

const TENANT = 'default';
const CALLER = { tenant_id: TENANT, agent_id: null, role: 'admin', key_id: null } as const;
const HOUR = 3_600_000;

/** Letters alone, so that it is one term. */
const marker = (): string =>
  `mark${[...randomBytes(12)].map((byte) => String.fromCharCode(97 + (byte % 26))).join('')}`;
/** Of the store at hand. */
let index_key = '';
/** The code of a word, as it is in the bytes of blocks and headers. */
const codeOf = (word: string): Buffer => {
  const bytes = Buffer.alloc(5);
  bytes.writeUIntBE(termCode(index_key, stem(word)), 0, 5);
  return bytes;
};

/** Which of these are in the bytes of a SQLite file or of its log. */
function inBytes(database: string, words: readonly string[], bytesOf: (word: string) => string | Buffer): string[] {
  const files = [database, `${database}-wal`].filter((file) => existsSync(file));
  const bytes = files.map((file) => readFileSync(file));
  return words.filter((word) => bytes.some((one) => one.includes(bytesOf(word))));
}

const asText = (word: string): string => word;

/** Which of these words have postings, or begin a block. */
async function inIndex(store: Store, words: readonly string[]): Promise<string[]> {
  const codes = new Set<number>();
  for (const segment of await segmentsOf(store, TENANT)) {
    for (const code of segment.header.codes) codes.add(code);
    for (const terms of runSteps(termSteps(segment))) for (const code of terms.codes) codes.add(code);
  }
  return words.filter((word) => codes.has(termCode(index_key, stem(word))));
}

async function rowsWith(store: Store, words: readonly string[]): Promise<string[]> {
  const rows = await store.driver.long<object>(TENANT, sql`SELECT * FROM search_docs WHERE tenant_id = ${TENANT}`);
  const text = JSON.stringify(rows);
  return words.filter((word) => text.includes(word));
}

interface Test {
  readonly store: Store;
  readonly api: Api;
  readonly database: string;
  advance(ms: number): void;
  /** A new word, which is looked for. */
  word(): string;
  readonly words: readonly string[];
}

/** With a hundred things that stay, so that the index has pages of several. */
async function withStore(kind: 'sqlite' | 'postgres', work: (test: Test) => Promise<void>): Promise<void> {
  const { database, drop } = await freshDatabase(kind);
  let offset = 0;
  const store = await Store.open({ database, sweep_every_ms: 0, clock_offset_ms: () => offset });
  index_key = indexKey((await readMeta(store.driver.at('')))!, TENANT);
  const words: string[] = [];
  try {
    const api = store.api(CALLER);
    const cards = Array.from({ length: 100 }, () => ({ content: `${marker()} stays ${marker()}` }));
    await api.cards.add_batch({ cards });
    await work({
      store,
      api,
      database,
      advance: (ms) => void (offset += ms),
      word: () => words[words.push(marker()) - 1]!,
      words,
    });
    expect(await foundBy(api, 'stays')).toHaveLength(100);
  } finally {
    await store.close();
  }
  expect(await illnesses(database, offset)).toEqual([]);
  await drop();
}

/** In the index too: folded, in segments of which the first were merged. */
async function expectThere({ store, api, words, database }: Test): Promise<void> {
  await foldAll(store, TENANT, 12);
  expect(await mergeOnce(store, TENANT)).toBe(true);
  for (const word of words) expect((await foundBy(api, word)).length, word).toBeGreaterThan(0);
  expect(await inIndex(store, words)).toEqual(words);
  if (store.driver.dialect !== 'sqlite') return;
  expect(inBytes(database, words, asText)).toEqual(words);
  expect(inBytes(database, words, codeOf)).toEqual(words);
}

async function expectHidden({ store, api, words }: Test): Promise<void> {
  for (const word of words) expect(await foundBy(api, word)).toEqual([]);
  expect(await rowsWith(store, words)).toEqual([]);
}

/** Nor in the bytes: what the words were, and what they are in the index. */
async function expectErased(test: Test): Promise<void> {
  await expectHidden(test);
  expect(await inIndex(test.store, test.words)).toEqual([]);
  if (test.store.driver.dialect !== 'sqlite') return;
  expect(inBytes(test.database, test.words, asText)).toEqual([]);
  expect(inBytes(test.database, test.words, codeOf)).toEqual([]);
}

const kinds = targetNames().filter((name) => name !== 'http');
describe.each(kinds)('erasure from the search on %s', (kind) => {
  it('SEARCH-16 closing a scope leaves nothing of its turns', () =>
    withStore(kind, async (test) => {
      const { api, word } = test;
      const { trajectory_id } = await api.trajectories.create({ name: 'task' });
      const open = await api.scopes.create({ trajectory_id, name: 'open', retain: 'nothing' });
      const { scope_id } = await api.scopes.create({ trajectory_id, name: 'closed', retain: 'nothing' });
      const kept = marker();
      for (let i = 0; i < 10; i++) {
        await api.turns.add({ scope_id: open.scope_id, role: 'User', content: `${kept} ${i}` });
        const metadata = { speaker: word(), tags: [word()] };
        const tool_results = [{ answer: word() }];
        await api.turns.add({ scope_id, role: 'Tool', content: { a: word() }, tool_results, metadata });
      }
      await expectThere(test);
      await api.scopes.close({ scope_id, wait: true });
      await expectErased(test);
      expect(await foundBy(api, kept)).toHaveLength(10);
    }));

  it('SEARCH-16 deleting a trajectory leaves nothing of it', () =>
    withStore(kind, async (test) => {
      const { api, word } = test;
      const { trajectory_id } = await api.trajectories.create({ name: 'task' });
      const child = await api.trajectories.create({ name: 'part', parent_trajectory_id: trajectory_id });
      const { scope_id } = await api.scopes.create({
        trajectory_id: child.trajectory_id,
        name: 'scope',
        retain: 'nothing',
      });
      await api.turns.add({ scope_id, role: 'User', content: word() });
      const first = { artifact_type: 'Code', name: word(), content: word(), metadata: { tags: [word()] } };
      await api.artifacts.create({ trajectory_id, ...first });
      const { execution_id } = await api.executions.create({ trajectory_id });
      const thoughts = [{ ...thought('t-1', 0.5), content: word(), reasoning: word() }];
      await api.checkpoints.create({ execution_id, snapshot: snapshotOf({ thoughts }) });
      await expectThere(test);
      await api.trajectories.delete({ trajectory_id, wait: true });
      await expectErased(test);
    }));

  it('SEARCH-16 what expired leaves nothing after the sweep, nor do versions before it', () =>
    withStore(kind, async (test) => {
      const { api, word, store, database } = test;
      const ttl = 'ShortTerm' as const;
      const old = marker();
      const note = { note_type: 'Fact', title: word(), content: word(), ttl };
      const { note_id } = await api.notes.create({ ...note, content: old, metadata: { speaker: old } });
      await api.notes.update({ note_id, content: note.content, metadata: { speaker: word() } });
      expect(await foundBy(api, old)).toEqual([]);
      expect(await rowsWith(store, [old])).toEqual([]);
      await api.cards.add({ content: word(), metadata: { tags: [word()] }, ttl_seconds: 60 });
      const expiry = new Date(Date.now() + HOUR).toISOString();
      await api.packets.write({ packet_type: 'said', payload: { a: word() }, ttl: expiry });
      await expectThere(test);
      test.advance(2 * HOUR);
      await api.lifetime.sweep();
      await expectErased(test);
      if (kind !== 'sqlite') return;
      expect(inBytes(database, [old], asText)).toEqual([]);
      expect(inBytes(database, [old], codeOf)).toEqual([]);
    }));

  it('SEARCH-16 a purge is done beside a merge of the same segments, and beside another purge', () =>
    withStore(kind, async (test) => {
      const { api, store, word } = test;
      const { trajectory_id } = await api.trajectories.create({ name: 'task' });
      const scope_ids: string[] = [];
      for (let i = 0; i < 3; i++) {
        const { scope_id } = await api.scopes.create({ trajectory_id, name: `scope ${i}`, retain: 'nothing' });
        const items = Array.from({ length: 40 }, () => ({
          create: { scope_id, role: 'User' as const, content: `${word()} said ${word()}` },
        }));
        await api.turns.batch({ items });
        scope_ids.push(scope_id);
      }
      await foldAll(store, TENANT, 12);
      const merging = mergeOnce(store, TENANT);
      await Promise.all(scope_ids.map((scope_id) => api.scopes.close({ scope_id, wait: true })));
      await merging;
      await purge(store, TENANT);
      await api.lifetime.sweep();
      await expectErased(test);
    }));

  it('SEARCH-16 each of many erasures leaves nothing, though rows of segments share pages of the file', () =>
    withStore(kind, async (test) => {
      const { api, store, database } = test;
      const { trajectory_id } = await api.trajectories.create({ name: 'task' });
      const scopes: { scope_id: string; words: string[] }[] = [];
      for (let i = 0; i < 10; i++)
        scopes.push({
          scope_id: (await api.scopes.create({ trajectory_id, name: `scope ${i}`, retain: 'nothing' })).scope_id,
          words: [],
        });
      // Mixed, so that every segment has turns of every scope.
      for (let round = 0; round < 3; round++)
        for (const { scope_id, words } of scopes) {
          const said = Array.from({ length: 8 }, marker);
          words.push(...said);
          const items = said.map((content) => ({ create: { scope_id, role: 'User' as const, content } }));
          await api.turns.batch({ items });
        }
      await foldAll(store, TENANT, 30);
      for (const { scope_id, words } of scopes) {
        await api.scopes.close({ scope_id, wait: true });
        expect(await inIndex(store, words)).toEqual([]);
        if (kind === 'sqlite') expect(inBytes(database, words, codeOf)).toEqual([]);
        await mergeOnce(store, TENANT);
      }
      const all = scopes.flatMap(({ words }) => words);
      if (kind === 'sqlite') expect(inBytes(database, all, codeOf)).toEqual([]);
    }));

  it('SEARCH-16 what was deleted is hidden at once, and its postings are purged before the next erasure is done', () =>
    withStore(kind, async (test) => {
      const { api, word } = test;
      const { card_id } = await api.cards.add({ content: word(), metadata: { speaker: word() } });
      const { note_id } = await api.notes.create({ note_type: 'Fact', title: word(), content: word() });
      const { trajectory_id } = await api.trajectories.create({ name: 'task' });
      const fact = { artifact_type: 'Fact', name: word(), content: word() };
      const { artifact_id } = await api.artifacts.create({ trajectory_id, ...fact });
      const { execution_id } = await api.executions.create({});
      const snapshot = snapshotOf({ thoughts: [{ ...thought('t-2', 0.5), content: word() }] });
      await api.checkpoints.create({ execution_id, snapshot });
      await expectThere(test);
      await api.cards.delete({ card_id });
      await api.notes.delete({ note_id });
      await api.artifacts.delete({ artifact_id });
      await api.executions.delete({ execution_id, wait: true } as never);
      await expectHidden(test);
      const closed = await api.scopes.create({ trajectory_id, name: 'closed', retain: 'nothing' });
      await api.turns.add({ scope_id: closed.scope_id, role: 'User', content: test.word() });
      await api.scopes.close({ scope_id: closed.scope_id, wait: true });
      expect(await inIndex(test.store, test.words)).toEqual([]);
    }));
});
