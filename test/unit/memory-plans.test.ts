/** How SQLite finds what artifacts and notes ask: by the keys they name, never by walking all versions or edges. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { notePlans, type Plans } from '../support/plans.js';

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
      (/\(tenant_id=\?\)/.test(line) &&
        !/^SEARCH (tenants|sweeps|clock_overlaps) |INDEX endings_under_way/.test(line)),
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
