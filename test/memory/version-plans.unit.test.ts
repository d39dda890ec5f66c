/** How SQLite finds what artifacts and notes ask: by the keys they name, never by walking all versions or edges. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { sql } from '#cairn/driver/index.js';
import { notePlans, type Plans } from '../support/inspect/plans.js';

let noted: Plans;
let trajectory_id: string;
let artifact_id: string;
let note_id: string;

const input = { artifact_type: 'Fact', name: 'n', content: 'c' };
const fact = { note_type: 'Fact', title: 't', content: 'c' };

beforeAll(async () => {
  noted = await notePlans();
  const { cairn } = noted;
  ({ trajectory_id } = await cairn.trajectories.create({ name: 't' }));
  ({ artifact_id } = await cairn.artifacts.create({ ...input, trajectory_id }));
  ({ note_id } = await cairn.notes.create({ ...fact, source_artifact_ids: [artifact_id] }));
});

afterAll(() => noted.close());

/** Lines that read a table, or all that a tenant has in one; `h` are the boxes that a card was found in. */
const walks = (plans: readonly string[]): string[] =>
  plans.filter(
    (line) =>
      (/^SCAN /.test(line) && !/^SCAN (json_each|h)\b/.test(line)) ||
      (/\(tenant_id=\?\)/.test(line) && !/^SEARCH (tenants|sweeps|clock_overlaps) |INDEX endings_under_way/.test(line)),
  );

describe('all that a tenant has is not walked over', () => {
  it.each<[string, () => Promise<unknown>]>([
    ['a new artifact', () => noted.cairn.artifacts.create({ ...input, trajectory_id, ttl: 'LongTerm' })],
    [
      'one derived from another',
      () => noted.cairn.artifacts.create({ ...input, trajectory_id, derived_from: [artifact_id] }),
    ],
    ['a change', () => noted.cairn.artifacts.update({ artifact_id, content: 'd' })],
    ['a change of ttl', () => noted.cairn.artifacts.update({ artifact_id, ttl: 'MediumTerm' })],
    ['a read', () => noted.cairn.notes.get({ note_id })],
    ['a read of what was', () => noted.cairn.artifacts.get({ artifact_id, as_of: new Date().toISOString() })],
    ['the history', () => noted.cairn.artifacts.history({ artifact_id })],
    [
      'a new note',
      () =>
        noted.cairn.notes.create({
          ...fact,
          source_artifact_ids: [artifact_id],
          source_trajectory_ids: [trajectory_id],
        }),
    ],
    ['a list of a trajectory', () => noted.cairn.artifacts.list({ trajectory_id })],
    ['a list by source', () => noted.cairn.notes.list({ artifact_id, trajectory_id })],
    ['a list by type', () => noted.cairn.notes.list({ note_type: 'Fact' })],
    ['a deletion', () => noted.cairn.notes.delete({ note_id })],
    ['a sweep', () => noted.cairn.lifetime.sweep()],
  ])('by %s', async (_, action) => {
    expect(walks(await noted.plansOf(action))).toEqual([]);
  });
});

describe('a turn looks for what awaits it, and for nothing else of its scope', () => {
  const addTo = (scope_id: string) => () => noted.cairn.turns.add({ scope_id, role: 'User', content: 'x' });
  const openScope = async () => {
    const { scope_id } = await noted.cairn.scopes.create({ trajectory_id, name: 's', token_budget: 1000 });
    return scope_id;
  };
  const awaiting = (scope_id: string, source_turn: number) =>
    noted.cairn.artifacts.create({ ...input, scope_id, source_turn });

  it('ART-5 artifacts that await a later turn cost a turn one lookup by key', async () => {
    const [plain, waiting] = [await openScope(), await openScope()];
    for (const source_turn of [2, 900, 1_000_000_000]) await awaiting(waiting, source_turn);
    const usual = await noted.plansOf(addTo(plain));
    const lookup = expect.stringMatching(
      /^SEARCH awaited_turns USING .*\(tenant_id=\? AND scope_id=\? AND sequence<\?\)$/,
    );
    const added = (plans: readonly string[]) => plans.filter((line) => !usual.includes(line));
    expect(added(await noted.plansOf(addTo(waiting)))).toEqual([lookup]);
    const linking = await noted.plansOf(addTo(waiting));
    expect(walks(added(linking))).toEqual([]);
    expect(linking.filter((line) => /^SEARCH v /.test(line))).toEqual([expect.stringMatching(/\bmemory_id=\?/)]);
    expect(added(await noted.plansOf(addTo(waiting)))).toEqual([lookup]);
  });

  it('ART-5 nothing awaits a turn of a scope that has ended', async () => {
    const scope_id = await openScope();
    await awaiting(scope_id, 1);
    await awaiting(scope_id, 7);
    const left = () =>
      noted.store.driver
        .at('default')
        .all(sql`SELECT sequence FROM awaited_turns WHERE tenant_id = 'default' AND scope_id = ${scope_id}`);
    expect(await left()).toEqual([{ sequence: 1 }, { sequence: 7 }]);
    await addTo(scope_id)();
    expect(await left()).toEqual([{ sequence: 7 }]);
    await noted.cairn.scopes.close({ scope_id });
    expect(await left()).toEqual([]);
  });
});
