/** How SQLite finds what is below a trajectory: by the keys of the tree, never by walking all that the tenant has. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { schema } from '#cairn/api/index.js';
import { openSqlite, type Sql, SqliteConnection, type Tx } from '#cairn/driver/index.js';
import { compile } from '#cairn/driver/sql.js';
import { packetJournal } from '#cairn/engine/index.js';
import { lockScopesOf } from '#cairn/memory/scopes/store.js';
import { artifactsOf, notesFrom } from '#cairn/memory/trajectories/outputs.js';
import {
  clearTrajectories,
  deleteEdgesBelow,
  endedBelow,
  endTrajectories,
} from '#cairn/memory/trajectories/removal-store.js';
import { activeChildren } from '#cairn/memory/trajectories/store.js';
import {
  artifactLeaves,
  branchesOf,
  noteLeaves,
  scopeLeaves,
  sizesOf,
  trajectoryLeaves,
} from '#cairn/memory/trajectories/tree-store.js';
import { existingMemories } from '#cairn/memory/versions/store.js';

const folder = mkdtempSync(join(tmpdir(), 'cairn-plans-'));
const database = join(folder, 'cairn.db');
const ids = ['a', 'b'];
const wanted = { trajectory_ids: ids, last: 'b', limit: 10 };
let file: SqliteConnection;
let plans: string[] = [];

const explain = async (query: Sql): Promise<never[]> => {
  const { text, params } = compile(query, 'sqlite');
  plans.push(...file.all<{ detail: string }>(`EXPLAIN QUERY PLAN ${text}`, params).map(({ detail }) => detail));
  return [];
};
const tx = { all: explain, send: explain } as unknown as Tx;

beforeAll(async () => {
  const driver = await openSqlite(database, { journal: packetJournal(() => Date.now(), 8192), schema });
  await driver.migrate();
  await driver.close();
  file = await SqliteConnection.open(database);
});

afterAll(() => {
  file.close();
  rmSync(folder, { recursive: true, force: true });
});

/** Lines that read all of a table, or all that the tenant has in it. What is under way of endings is short. */
const walks = (): string[] =>
  plans.filter(
    (line) =>
      (/^SCAN /.test(line) && !/^SCAN (json_each|below|b|n|CONSTANT ROW)\b/.test(line)) ||
      (/\(tenant_id=\?( AND (kind|status)=\?)?\)$/.test(line) && !line.includes('endings_under_way')),
  );

describe('no statement walks over all that a tenant has', () => {
  it.each<[string, () => Promise<unknown>]>([
    ['what is finished', () => activeChildren(tx, 'a', 1)],
    ['what is closed', () => lockScopesOf(tx, ids)],
    ['artifacts', () => artifactsOf(tx, 'a', 1, 1)],
    ['notes', () => notesFrom(tx, 'a', 1, 1)],
    ['named ones', () => existingMemories(tx, ids, 1, { kind: 'note' })],
    ['what has ended', () => endedBelow(tx, 'a')],
    ['endings', () => endTrajectories(tx, ids, 1)],
    ['clearing', () => clearTrajectories(tx, ids, 1)],
    ['edges', () => deleteEdgesBelow(tx, ids)],
    ['the branches of a tree', () => branchesOf(tx, 'a', 1, {})],
    ['their sizes', () => sizesOf(tx, ids, 1)],
    ['their trajectories', () => trajectoryLeaves(tx, wanted)],
    ['their scopes', () => scopeLeaves(tx, wanted)],
    ['their artifacts', () => artifactLeaves(tx, wanted, 1)],
    ['their notes', () => noteLeaves(tx, wanted, 1)],
  ])('%s', async (_, ask) => {
    plans = [];
    await ask();
    expect(plans.length).toBeGreaterThan(0);
    expect(walks()).toEqual([]);
  });
});
