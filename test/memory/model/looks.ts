/** Lists with filters, page by page, in the property test of memory. */
import fc from 'fast-check';
import { expect } from 'vitest';
import { byId, expectedList, iso, type Real, seenList } from './check.js';
import type { Kind, Model } from './model.js';
import { cameFrom, lifetimeOf } from './model-versions.js';

type Of<A> = A extends fc.Arbitrary<infer T> ? T : never;
const some = <T>(one: fc.Arbitrary<T>) => fc.option(one, { nil: undefined, freq: 2 });

/** Numbers stand for entities and moments, whatever there will be. */
export const looks = fc.record({
  kind: fc.constantFrom<Kind | 'trajectory' | 'scope'>('artifact', 'note', 'trajectory', 'scope'),
  limit: fc.integer({ min: 1, max: 4 }),
  name: some(fc.constantFrom('a', 'alpha', 'alphabet', 'ば')),
  type: some(fc.constantFrom('Fact', 'Code')),
  level: some(fc.constantFrom<'L0' | 'L1' | 'L2'>('L0', 'L1', 'L2')),
  lifetime: some(
    fc.constantFrom<'Persistent' | 'Session' | 'Scope' | 'Duration'>('Persistent', 'Duration', 'Session', 'Scope'),
  ),
  trajectory: some(fc.nat(1000)),
  other: some(fc.nat(1000)),
  status: some(fc.nat(3)),
  after: some(fc.nat(1000)),
  before: some(fc.nat(1000)),
  as_of: some(fc.nat(1000)),
  include_superseded: fc.boolean(),
});
type Look = Of<typeof looks>;

const at = <T>(values: Iterable<T>, n: number | undefined): T | undefined => {
  const list = [...values];
  return n === undefined ? undefined : list[n % list.length];
};

type Page = { ids: string[]; total: number | null; next_cursor: string | null };

/** Walks the pages of a list: each id once, in order, and the total on the first page alone. */
async function walk(read: (cursor?: string) => Promise<Page>, expected: readonly string[]): Promise<void> {
  const seen: string[] = [];
  for (let cursor: string | undefined; ; ) {
    const { ids, total, next_cursor } = await read(cursor);
    expect(total).toBe(cursor === undefined ? expected.length : null);
    seen.push(...ids);
    if (next_cursor === null) break;
    cursor = next_cursor;
  }
  expect(seen).toEqual(expected);
}

const page = (limit: number, cursor: string | undefined) => (cursor === undefined ? { limit } : { limit, cursor });
const given = <T extends object>(values: T): { [K in keyof T]: Exclude<T[K], undefined> } =>
  Object.fromEntries(Object.entries(values).filter(([, value]) => value !== undefined)) as never;

const isoOf = (ms: number | undefined): string | undefined => (ms === undefined ? undefined : iso(ms));

export async function look(args: Look, model: Model, real: Real): Promise<void> {
  if (args.kind === 'trajectory') return lookAtTrajectories(args, model, real);
  if (args.kind === 'scope') return lookAtScopes(args, model, real);
  return lookAtMemories(args.kind, args, model, real);
}

async function lookAtMemories(kind: Kind, args: Look, model: Model, { api, now }: Real): Promise<void> {
  const { limit, name, type, level, lifetime, include_superseded } = args;
  const trajectory_id = at(model.trajectories.keys(), args.trajectory);
  const scope_id = kind === 'artifact' ? at(model.scopes.keys(), args.other) : undefined;
  const artifacts = [...model.memories.values()].filter((one) => one.kind === 'artifact');
  const artifact_id = kind === 'note' ? at(artifacts, args.other)?.id : undefined;
  const as_of = at(model.moments, args.as_of);
  const after = at(model.between, args.after);
  const before = at(model.between, args.before);
  const shared = given({
    trajectory_id,
    scope_id,
    artifact_id,
    abstraction_level: level,
    lifetime,
    include_superseded,
    as_of: isoOf(as_of),
    created_after: isoOf(after),
    updated_before: isoOf(before),
  });
  const own = kind === 'artifact' ? { name, artifact_type: type } : { title: name, note_type: type };
  const expected = expectedList(model, kind, now(), { as_of, include_superseded }, (memory, version) =>
    [
      name === undefined || version.name.startsWith(name),
      type === undefined || version.type === type,
      level === undefined || version.level === level,
      lifetime === undefined || lifetimeOf(memory.ttl) === lifetime,
      trajectory_id === undefined ||
        (kind === 'artifact' ? memory.trajectory === trajectory_id : cameFrom(model, memory.id, trajectory_id, as_of)),
      scope_id === undefined || memory.scope === scope_id,
      artifact_id === undefined || cameFrom(model, memory.id, artifact_id, as_of),
      after === undefined || memory.versions[0]!.at >= after,
      before === undefined || version.at < before,
    ].every(Boolean),
  );
  await walk(
    async (cursor) => {
      const { memories, ...rest } = await seenList(api, kind, { ...shared, ...given(own), ...page(limit, cursor) });
      return { ids: memories.map(({ id }) => id), ...rest };
    },
    expected.map(({ id }) => id),
  );
}

async function lookAtTrajectories(args: Look, model: Model, { api }: Real): Promise<void> {
  const { limit, name } = args;
  const status = at(['Active', 'Suspended', 'Completed', 'Failed'] as const, args.status);
  const parent_id = at(model.trajectories.keys(), args.trajectory);
  const top_level = args.include_superseded || undefined;
  const after = at(model.between, args.after);
  const before = at(model.between, args.before);
  const filters = given({
    name,
    status,
    parent_id,
    top_level,
    updated_after: isoOf(after),
    created_before: isoOf(before),
  });
  const expected = [...model.trajectories.values()].filter((one) =>
    [
      !one.deleted,
      name === undefined || one.name.startsWith(name),
      status === undefined || one.status === status,
      parent_id === undefined || one.parent === parent_id,
      top_level === undefined || one.parent === null,
      after === undefined || one.updated_at >= after,
      before === undefined || one.created_at < before,
    ].every(Boolean),
  );
  await walk(
    async (cursor) => {
      const { trajectories, ...rest } = await api.trajectories.list({ ...filters, ...page(limit, cursor) });
      return { ids: trajectories.map(({ trajectory_id }) => trajectory_id), ...rest };
    },
    expected.sort(byId).map(({ id }) => id),
  );
}

async function lookAtScopes(args: Look, model: Model, { api }: Real): Promise<void> {
  const { limit, name } = args;
  const status = at(['active', 'closed'] as const, args.status);
  const trajectory_id = at(model.trajectories.keys(), args.trajectory);
  const parent_scope_id = at(model.scopes.keys(), args.other);
  const after = at(model.between, args.after);
  const before = at(model.between, args.before);
  const filters = given({
    name,
    status,
    trajectory_id,
    parent_scope_id,
    created_after: isoOf(after),
    updated_before: isoOf(before),
  });
  const expected = [...model.scopes.values()].filter((one) =>
    [
      !one.deleted,
      name === undefined || one.name.startsWith(name),
      status === undefined || (one.closed_at === null) === (status === 'active'),
      trajectory_id === undefined || one.trajectory === trajectory_id,
      parent_scope_id === undefined || one.parent === parent_scope_id,
      after === undefined || one.created_at >= after,
      before === undefined || one.updated_at < before,
    ].every(Boolean),
  );
  await walk(
    async (cursor) => {
      const { scopes, ...rest } = await api.scopes.list({ ...filters, ...page(limit, cursor) });
      return { ids: scopes.map(({ scope_id }) => scope_id), ...rest };
    },
    expected.sort(byId).map(({ id }) => id),
  );
}
