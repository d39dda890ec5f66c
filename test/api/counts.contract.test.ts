/** What hot operations cost, in counts that do not depend on the machine: see counts.md. */
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { type Counts, countIn } from '../support/counts/children.mjs';
import { differences, parse, render } from '../support/counts/table.mjs';
import { targetNames } from '../support/targets.js';

const text = readFileSync(join(import.meta.dirname, 'counts.md'), 'utf8');
const table = parse(text);
/** About a minute on an idle machine. */
const COUNTING_MS = 1_200_000;

async function onSqlite(): Promise<Counts> {
  const folder = mkdtempSync(join(tmpdir(), 'cairn-counts-'));
  try {
    return await countIn(folder);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

const ADVICE = 'if this is intended, or a gain to keep: npm run counts -- --write, and say why in the commit';

describe('counts of hot operations', () => {
  it.runIf(targetNames().includes('sqlite'))(
    'are those of counts.md on SQLite',
    async () => {
      const counted = await onSqlite();
      expect(differences(table, 'sqlite', counted), ADVICE).toEqual([]);
    },
    COUNTING_MS,
  );

  it.runIf(targetNames().includes('postgres'))(
    'are those of counts.md on PostgreSQL',
    async () => {
      const counted = await countIn(process.env.CAIRN_TEST_POSTGRES!);
      expect(differences(table, 'postgres', counted), ADVICE).toEqual([]);
    },
    COUNTING_MS,
  );

  it('a checkpoint takes as many statements, transactions and rows at step 1,000 as at step 10', () => {
    for (const counts of Object.values(table.counts)) {
      for (const [late, early] of [
        ['checkpoints.create, step 1,000', 'checkpoints.create, step 10'],
        ['checkpoints.create over HTTP, step 1,000', 'checkpoints.create over HTTP, step 10'],
        ['langgraph put, step 900', 'langgraph put, step 10'],
      ]) {
        const { statements, transactions, rows } = counts[late!]!;
        expect({ statements, transactions, rows }).toEqual({
          statements: counts[early!]!.statements,
          transactions: counts[early!]!.transactions,
          rows: counts[early!]!.rows,
        });
      }
    }
  });

  it('a checkpoint over HTTP has as many bytes at step 1,000 as at step 10, but for longer numbers', () => {
    const wireOf = (step: string) => table.counts.sqlite[`checkpoints.create over HTTP, step ${step}`]!.wire!;
    expect(wireOf('10')).toBeGreaterThan(2048);
    expect(Math.abs(wireOf('1,000') - wireOf('10'))).toBeLessThan(50);
  });

  it('erasing 500 turns takes less than five times the statements of 100, and few more transactions', () => {
    for (const counts of Object.values(table.counts)) {
      const [few, many] = ['100', '500'].map((turns) => counts[`scopes.close, ${turns} turns erased`]!);
      expect(many!.statements!).toBeLessThan(5 * few!.statements!);
      expect(many!.transactions!).toBeLessThan(1.5 * few!.transactions!);
    }
  });

  it('the table is read as it is written, and tells what rose and what fell', () => {
    expect(render(table.counts).replace(/Written on .*/, '')).toBe(text.replace(/Written on .*/, ''));
    const { sqlite } = table.counts;
    const name = 'turns.add';
    const { statements } = sqlite[name]!;
    const changed = (by: number) => ({ ...sqlite, [name]: { ...sqlite[name], statements: statements! + by } });
    expect(differences(table, 'sqlite', sqlite)).toEqual([]);
    expect(differences(table, 'sqlite', changed(1))).toEqual([
      `turns.add on sqlite: statements rose from ${statements} to ${statements! + 1}`,
    ]);
    expect(differences(table, 'sqlite', changed(-1))).toEqual([
      `turns.add on sqlite: statements fell from ${statements} to ${statements! - 1}`,
    ]);
    const group = 'packets.write, 64 at once';
    const holding = (objects: number) => ({ ...sqlite, [group]: { ...sqlite[group], objects } });
    expect(differences(table, 'sqlite', holding(sqlite[group]!.objects! + 1))).toEqual([]);
    // Objects differ between versions of Node.
    const isSameNode = text.includes(`Written on Node ${process.versions.node.split('.')[0]}.`);
    expect(differences(table, 'sqlite', holding(sqlite[group]!.objects! * 2))).toHaveLength(isSameNode ? 1 : 0);
    const { [name]: _, ...rest } = sqlite;
    expect(differences(table, 'sqlite', rest)).toEqual(['turns.add is in the table, and no operation']);
    expect(differences(table, 'sqlite', { ...sqlite, new: {} })).toEqual(['new is not in the table']);
  });
});
