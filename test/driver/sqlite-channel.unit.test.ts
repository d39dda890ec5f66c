/** A long transaction on SQLite lets the event loop turn, and keeps the order of its statements. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Driver, Table, Tx } from '#cairn/driver/driver.js';
import { sql } from '#cairn/driver/sql.js';
import { openSqlite } from '#cairn/driver/sqlite/driver.js';
import { freshDatabase } from '../support/targets.js';

const journal = { append: async () => undefined, landed: async () => false };
const lines: Table = { name: 'lines', columns: { id: 'bigint', text: 'text' } };
/** Takes several times the share of the event loop that a transaction has. */
const MANY = 20_000;
const rows = (from: number, count: number) =>
  Array.from({ length: count }, (_, i) => [from + i, 'x'.repeat(500)] as const);
const countIn = async (tx: Tx): Promise<number> =>
  (await tx.get<{ count: number }>(sql`SELECT COUNT(*) AS count FROM lines`))!.count;

describe('a long transaction on SQLite', () => {
  let driver: Driver;
  let fresh: Awaited<ReturnType<typeof freshDatabase>>;
  beforeAll(async () => {
    fresh = await freshDatabase('sqlite');
    driver = await openSqlite(fresh.database, { journal: journal as never, schema: [] });
    await driver.system((tx) => tx.run(sql`CREATE TABLE lines (id INTEGER PRIMARY KEY, text TEXT)`));
  });
  afterAll(async () => {
    await driver.close();
    await fresh.drop();
  });

  it('LOAD-1 lets the event loop turn, in an insert of many rows too', async () => {
    let turns = 0;
    const count = () => {
      turns++;
      tick = setImmediate(count);
    };
    let tick = setImmediate(count);
    await driver.system(async (tx) => {
      turns = 0;
      await tx.insert(lines, rows(0, 5 * MANY));
      expect(turns).toBeGreaterThan(1);
      await tx.run(sql`DELETE FROM lines`);
      turns = 0;
      for (let i = 0; i < MANY; i++) await tx.insert(lines, rows(i, 1));
      expect(turns).toBeGreaterThan(1);
      await tx.run(sql`DELETE FROM lines`);
    });
    clearImmediate(tick);
  });

  it('LOAD-1 runs statements in the order in which they were asked for, awaited or not', async () => {
    const seen = await driver.system(async (tx) => {
      const first = tx.insert(lines, rows(0, MANY));
      const between = countIn(tx);
      const second = tx.insert(lines, rows(MANY, MANY));
      const gone = tx.run(sql`DELETE FROM lines WHERE id >= 10`);
      const after = countIn(tx);
      await Promise.all([first, second]);
      return [await between, await gone, await after];
    });
    expect(seen).toEqual([MANY, 2 * MANY - 10, 10]);
  });

  it('LOAD-1 is undone as a whole when a row in the middle of an insert is refused', async () => {
    const refused = driver.system(async (tx) => {
      await tx.insert(lines, rows(1000, MANY));
      await tx.insert(lines, [...rows(100_000, MANY), [1000, 'again']]);
    });
    await expect(refused).rejects.toThrow();
    expect(await driver.system(countIn)).toBe(10);
  });
});
