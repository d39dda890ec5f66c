/** How SQLite finds what a box's changes ask: by the keys they name, never by walking a whole box. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Api } from '#cairn/client/index.js';
import type { Driver, Query, WriteOptions } from '#cairn/driver/driver.js';
import { compile, type Sql } from '#cairn/driver/sql.js';
import { openSqlite } from '#cairn/driver/sqlite.js';
import { SqliteConnection } from '#cairn/driver/sqlite-open.js';
import { Store } from '#cairn/service/open.js';
import { packetJournal } from '#cairn/store/packets.js';

const folder = mkdtempSync(join(tmpdir(), 'cairn-plans-'));
const database = join(folder, 'cairn.db');
const asked: Sql[] = [];
let store: Store;
let cairn: Api;
let file: SqliteConnection;

/** The same object, and what is asked of it is noted. */
const noting = <T extends object>(target: T): T =>
  new Proxy(target, {
    get: (_, name) => {
      const value: unknown = Reflect.get(target, name);
      if (typeof value !== 'function') return value;
      const call = value.bind(target) as (...args: unknown[]) => unknown;
      if (!['all', 'get', 'run', 'send'].includes(String(name))) return call;
      return (query: Sql) => {
        asked.push(query);
        return call(query);
      };
    },
  });

const notingDriver = (real: Driver): Driver =>
  new Proxy(real, {
    get: (_, name) => {
      if (name === 'write')
        return (tenant: string, work: (tx: object) => Promise<unknown>, options?: WriteOptions) =>
          real.write(tenant, (tx) => work(noting(tx)), options);
      if (name === 'snapshot')
        return (tenant: string, read: (query: Query) => Promise<unknown>) =>
          real.snapshot(tenant, (query) => read(noting(query)));
      const value: unknown = Reflect.get(real, name);
      return typeof value === 'function' ? (value.bind(real) as unknown) : value;
    },
  });

/** How each statement of an action finds its rows, one line a table. */
async function plansOf(action: () => Promise<unknown>): Promise<string[]> {
  asked.length = 0;
  await action();
  expect(asked.length).toBeGreaterThan(1);
  return asked.flatMap((query) => {
    const { text, params } = compile(query, 'sqlite');
    return file.all<{ detail: string }>(`EXPLAIN QUERY PLAN ${text}`, params).map(({ detail }) => detail);
  });
}

/** Lines that read a table or all of a box. Lists that are given, and the links of a chain, are read as a whole. */
const walks = (plans: readonly string[]): string[] =>
  plans.filter(
    (line) =>
      (/^SCAN /.test(line) && !/^SCAN (json_each|chain|search|c|s|CONSTANT ROW)\b/.test(line)) ||
      /^SEARCH (e|box_entries) .*\(tenant_id=\?( AND box_id=\?)?\)$/.test(line),
  );

beforeAll(async () => {
  const real = await openSqlite(database, { journal: packetJournal(() => Date.now()) });
  store = await Store.on(notingDriver(real), { sweep_every_ms: 0 });
  cairn = store.api({ tenant_id: 'default', agent_id: null, role: 'admin', key_id: null });
  const cards = [...'abcdefghij'].map((card_id) => ({ card_id, content: card_id }));
  await cairn.cards.add_batch({ cards, atomic: true });
  await cairn.boxes.create({ box_id: 'x', card_ids: [...'abc'] });
  await cairn.boxes.append({ box_id: 'x', card_ids: ['d'] });
  await cairn.boxes.fork({ box_id: 'x', new_box_id: 'f' });
  await cairn.boxes.append({ box_id: 'f', card_ids: ['e'] });
  await cairn.boxes.fork({ box_id: 'f', new_box_id: 'g' });
  file = await SqliteConnection.open(database);
});

afterAll(async () => {
  file.close();
  await store.close();
  rmSync(folder, { recursive: true, force: true });
});

describe('a whole box is not walked over', () => {
  it.each<[string, () => Promise<unknown>]>([
    ['an append of one card', () => cairn.boxes.append({ box_id: 'x', card_ids: ['f'] })],
    ['an append of several', () => cairn.boxes.append({ box_id: 'x', card_ids: [...'aghi'] })],
    ['an append to a fork', () => cairn.boxes.append({ box_id: 'f', card_ids: ['g'] })],
    [
      'an append of several to a fork of a fork',
      () => cairn.boxes.append({ box_id: 'g', card_ids: [...'aghi'] }),
    ],
    ['a save', () => cairn.boxes.save({ box_id: 'g', card_ids: [...'abcdeij'] })],
    ['a fork', () => cairn.boxes.fork({ box_id: 'g' })],
    ['a fork of an earlier revision', () => cairn.boxes.fork({ box_id: 'x', revision: 1 })],
    ['a load', () => cairn.boxes.load({ box_id: 'g' })],
    ['a load of an earlier revision', () => cairn.boxes.load({ box_id: 'g', revision: 1 })],
    ['a page of cards', () => cairn.boxes.cards({ box_id: 'g', limit: 2, offset: 3 })],
  ])('by %s', async (_, action) => {
    const plans = await plansOf(action);
    expect(walks(plans)).toEqual([]);
  });

  it('since cards are looked up by the index that starts with them', async () => {
    const plans = await plansOf(() => cairn.boxes.append({ box_id: 'g', card_ids: [...'abj'] }));
    const lookups = plans.filter((line) => /^SEARCH e /.test(line));
    expect(lookups).toHaveLength(2);
    for (const line of lookups)
      expect(line).toMatch(/INDEX box_entries_by_card \(tenant_id=\? AND card_id=\?/);
  });
});
