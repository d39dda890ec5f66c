/** What was erased is in no part of the search: not found, not in its rows, not in its index, nor in the bytes of the file. */
import { randomBytes } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { Store } from '#cairn/api/index.js';
import type { Api } from '#cairn/client/index.js';
import { SqliteConnection, sql } from '#cairn/driver/index.js';
import { indexKey, readMeta } from '#cairn/engine/index.js';
import { termCode } from '#cairn/index/sql.js';
import { stem } from '#cairn/text/index.js';
import { illnesses } from '../../support/inspect/audit.js';
import { snapshotOf, thought } from '../../support/nouns/executions.js';
import { found as foundBy } from '../../support/nouns/search.js';
import { freshDatabase, targetNames } from '../../support/targets.js';

const TENANT = 'default';
const CALLER = { tenant_id: TENANT, agent_id: null, role: 'admin', key_id: null } as const;
const HOUR = 3_600_000;

/** Letters alone, so that it is one term. */
const marker = (): string =>
  `mark${[...randomBytes(12)].map((byte) => String.fromCharCode(97 + (byte % 26))).join('')}`;
/** Of the store at hand. */
let index_key = '';
const codeOf = (word: string): string => termCode(index_key, stem(word));

/** Which of these are in the bytes of a SQLite file or of its log. */
function inBytes(database: string, texts: readonly string[]): string[] {
  const files = [database, `${database}-wal`].filter((file) => existsSync(file));
  const bytes = files.map((file) => readFileSync(file));
  return texts.filter((text) => bytes.some((one) => one.includes(text)));
}

/**
 * Which of these words the index has, by a question and by its list of terms. Read by the library that the store uses:
 * a second one in the same process does not see its locks, and would take the log away when it closes.
 */
async function inIndex(database: string, words: readonly string[]): Promise<string[]> {
  const db = await SqliteConnection.open(database);
  try {
    db.exec("CREATE VIRTUAL TABLE temp.terms USING fts5vocab(main, search_index, 'row')");
    const listed = 'SELECT 1 FROM temp.terms WHERE term = ?';
    const matched = 'SELECT rowid FROM search_index WHERE search_index MATCH ?';
    return words.filter((word) => [listed, matched].some((query) => db.all(query, [codeOf(word)]).length > 0));
  } finally {
    db.close();
  }
}

async function rowsWith(store: Store, words: readonly string[]): Promise<string[]> {
  const rows = await store.driver.long<object>(TENANT, sql`SELECT * FROM search_docs WHERE tenant_id = ${TENANT}`);
  const text = JSON.stringify(rows);
  return words.filter((word) => text.includes(word) || text.includes(codeOf(word)));
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

async function expectThere({ store, api, words, database }: Test): Promise<void> {
  for (const word of words) expect((await foundBy(api, word)).length, word).toBeGreaterThan(0);
  if (store.driver.dialect !== 'sqlite') return;
  expect(await inIndex(database, words)).toEqual(words);
  expect(inBytes(database, words)).toEqual(words);
  expect(inBytes(database, words.map(codeOf))).toEqual(words.map(codeOf));
}

async function expectGone({ store, api, words, database }: Test): Promise<void> {
  for (const word of words) expect(await foundBy(api, word)).toEqual([]);
  expect(await rowsWith(store, words)).toEqual([]);
  if (store.driver.dialect === 'sqlite') return expect(await inIndex(database, words)).toEqual([]);
  const index = sql`SELECT terms::text AS terms FROM search_index WHERE tenant_id = ${TENANT}`;
  const left = JSON.stringify(await store.driver.long<object>(TENANT, index));
  expect(words.filter((word) => left.includes(codeOf(word)))).toEqual([]);
}

/** Nor in the bytes: what the words were, and what they are in the index. */
async function expectErased(test: Test): Promise<void> {
  await expectGone(test);
  if (test.store.driver.dialect !== 'sqlite') return;
  expect(inBytes(test.database, test.words)).toEqual([]);
  expect(inBytes(test.database, test.words.map(codeOf))).toEqual([]);
}

const kinds = targetNames().filter((name) => name !== 'http');
describe.each(kinds)('erasure from the search on %s', (kind) => {
  it('SEARCH-16 closing a scope leaves nothing of its turns', () =>
    withStore(kind, async (test) => {
      const { api, word } = test;
      const { trajectory_id } = await api.trajectories.create({ name: 'task' });
      const open = await api.scopes.create({ trajectory_id, name: 'open' });
      const { scope_id } = await api.scopes.create({ trajectory_id, name: 'closed' });
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
      const { scope_id } = await api.scopes.create({ trajectory_id: child.trajectory_id, name: 'scope' });
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
      if (kind === 'sqlite') expect(await inIndex(database, [old])).toEqual([]);
      await api.cards.add({ content: word(), metadata: { tags: [word()] }, ttl_seconds: 60 });
      const expiry = new Date(Date.now() + HOUR).toISOString();
      await api.packets.write({ packet_type: 'said', payload: { a: word() }, ttl: expiry });
      await expectThere(test);
      test.advance(2 * HOUR);
      await api.lifetime.sweep();
      await expectErased(test);
      if (kind === 'sqlite') expect(inBytes(database, [old, codeOf(old)])).toEqual([]);
    }));

  it('SEARCH-16 what was deleted is out of the index at once', () =>
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
      await expectGone(test);
    }));
});
