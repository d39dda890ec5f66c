/** Compares what the store shows with what the model says: lists, entities by id, the past. */
import { createHash } from 'node:crypto';
import { expect } from 'vitest';
import type { Api } from '#cairn/client/index.js';
import {
  type Kind,
  type Model,
  type ModelMemory,
  type ModelScope,
  type ModelTrajectory,
  reaches,
  scopesWith,
  type Version,
} from './model.js';
import {
  contradictedBy,
  currentOf,
  lifetimeOf,
  lives,
  notFound,
  sourcesOf,
  supersededBy,
  versionAt,
} from './model-versions.js';

/** Commands are at least two of these apart, so that times within half of one belong to one command. */
export const HALF_STEP_MS = 5000;

/** What the commands run against. */
export interface Real {
  readonly api: Api;
  /** The moment at which the store's clock stands, but for the time that a call takes. */
  now(): number;
  advance(ms: number): void;
  /** Closes the store and opens it again; where a server serves it, it is not. */
  readonly reopen?: () => Promise<void>;
}

export const iso = (ms: number): string => new Date(ms).toISOString();

/** Of a moment, the half step that it is in. */
const about = (time: string | number | null): number | null =>
  time === null ? null : Math.round((typeof time === 'string' ? Date.parse(time) : time) / HALF_STEP_MS);

/** The answer, or the code that the store refused with. */
export async function outcomeOf<T>(call: Promise<T>): Promise<{ answer?: T; code: string | null }> {
  try {
    return { answer: await call, code: null };
  } catch (error) {
    const { code } = error as { code?: string };
    if (code === undefined || code === 'INTERNAL') throw error;
    return { code };
  }
}

/** How often each command came out in which way: a test that is always refused tests little. */
export const outcomes = new Map<string, number>();
export function tally(name: string, code: string | null): void {
  const key = `${name} ${code ?? 'ok'}`;
  outcomes.set(key, (outcomes.get(key) ?? 0) + 1);
}

type Shown<N extends 'trajectories' | 'scopes' | 'artifacts' | 'notes'> = Awaited<ReturnType<Api[N]['get']>>;

export function seenTrajectory(shown: Shown<'trajectories'>) {
  const { tenant_id: _tenant, agent_id: _agent, metadata: _metadata, ...rest } = shown;
  const { created_at, updated_at, finished_at } = rest;
  return { ...rest, created_at: about(created_at), updated_at: about(updated_at), finished_at: about(finished_at) };
}

export const expectedTrajectory = (one: ModelTrajectory) => ({
  trajectory_id: one.id,
  name: one.name,
  description: one.description,
  status: one.status,
  parent_trajectory_id: one.parent,
  subject_ids: [],
  outcome: one.outcome,
  created_at: about(one.created_at),
  updated_at: about(one.updated_at),
  finished_at: about(one.finished_at),
});

export function seenScope(shown: Shown<'scopes'>) {
  const { checkpoint, threshold_reached_at, created_at, updated_at, closed_at } = shown;
  return {
    scope_id: shown.scope_id,
    trajectory_id: shown.trajectory_id,
    parent_scope_id: shown.parent_scope_id,
    restored_from: shown.restored_from,
    name: shown.name,
    token_budget: shown.token_budget,
    tokens_used: shown.tokens_used,
    turns: shown.turns,
    threshold_percent: shown.threshold_percent,
    threshold_reached_at: about(threshold_reached_at),
    enforce: shown.enforce,
    is_active: shown.is_active,
    is_erased: shown.erasure !== null,
    checkpoint: checkpoint && { ...checkpoint, created_at: about(checkpoint.created_at) },
    created_at: about(created_at),
    updated_at: about(updated_at),
    closed_at: about(closed_at),
  };
}

export const expectedScope = (scope: ModelScope): ReturnType<typeof seenScope> => ({
  scope_id: scope.id,
  trajectory_id: scope.trajectory,
  parent_scope_id: scope.parent,
  restored_from: scope.restored_from,
  name: scope.name,
  token_budget: scope.budget,
  tokens_used: scope.used,
  turns: scope.turns.length,
  threshold_percent: scope.percent,
  threshold_reached_at: about(scope.reached_at),
  enforce: scope.enforce,
  is_active: scope.closed_at === null,
  is_erased: scope.closed_at !== null,
  checkpoint: scope.checkpoint && {
    context_state: scope.checkpoint.state,
    recoverable: scope.checkpoint.recoverable,
    tokens_used: scope.checkpoint.used,
    turns: scope.checkpoint.turns.length,
    created_at: about(scope.checkpoint.at),
  },
  created_at: about(scope.created_at),
  updated_at: about(scope.updated_at),
  closed_at: about(scope.closed_at),
});

export const expectedBudget = (scope: ModelScope) => ({
  token_budget: scope.budget,
  tokens_used: scope.used,
  threshold_reached: reaches(scope.used, scope),
  over_budget: scope.used > scope.budget,
});

type ShownMemory = Shown<'artifacts'> | Shown<'notes'>;

/** Times of versions are compared to the millisecond: an as_of asks for them. */
export function seenMemory(shown: ShownMemory) {
  const own =
    'artifact_id' in shown
      ? {
          id: shown.artifact_id,
          belongs_to: [shown.trajectory_id, shown.scope_id, shown.provenance.source_turn],
          type: shown.artifact_type,
          name: shown.name,
          confidence: shown.provenance.confidence,
          sources: [],
        }
      : {
          id: shown.note_id,
          belongs_to: [],
          type: shown.note_type,
          name: shown.title,
          confidence: shown.confidence,
          sources: [shown.source_trajectory_ids, shown.source_artifact_ids],
        };
  return {
    ...own,
    content: shown.content,
    content_hash: shown.content_hash,
    card_id: shown.card_id,
    level: shown.abstraction_level,
    version: shown.version,
    ttl: shown.ttl,
    lifetime: shown.lifetime,
    expires_at: about(shown.expires_at),
    access_count: shown.access_count,
    accessed_at: about(shown.accessed_at),
    superseded_by: [...shown.superseded_by].sort(),
    contradicted_by: [...shown.contradicted_by].sort(),
    created_at: shown.created_at,
    updated_at: shown.updated_at,
  };
}

export function expectedMemory(model: Model, memory: ModelMemory, version: Version, now: number, as_of?: number) {
  const { id, kind } = memory;
  return {
    id,
    belongs_to: kind === 'artifact' ? [memory.trajectory, memory.scope, memory.source_turn] : [],
    type: version.type,
    name: version.name,
    confidence: version.confidence,
    sources:
      kind === 'artifact' ? [] : [sourcesOf(model, id, 'Trajectory', as_of), sourcesOf(model, id, 'Artifact', as_of)],
    content: version.content,
    content_hash: createHash('sha256').update(JSON.stringify(version.content)).digest('hex'),
    card_id: version.card,
    level: version.level,
    version: memory.versions.indexOf(version) + 1,
    ttl: memory.ttl,
    lifetime: lifetimeOf(memory.ttl),
    expires_at: about(memory.expires_at),
    access_count: memory.accesses,
    accessed_at: about(memory.accessed_at),
    superseded_by: supersededBy(model, id, now, as_of),
    contradicted_by: contradictedBy(model, id, now, as_of),
    created_at: iso(memory.versions[0]!.at),
    updated_at: iso(version.at),
  };
}

export const byId = (a: { id: string }, b: { id: string }): number => (a.id < b.id ? -1 : 1);

/** The artifacts or notes that a list should show. */
export function expectedList(
  model: Model,
  kind: Kind,
  now: number,
  { as_of, include_superseded = false }: { as_of?: number | undefined; include_superseded?: boolean },
  fits: (memory: ModelMemory, version: Version) => boolean = () => true,
) {
  return [...model.memories.values()]
    .filter((one) => one.kind === kind && lives(model, one, now))
    .sort(byId)
    .flatMap((one) => {
      const version = versionAt(one, as_of);
      if (!version || !fits(one, version)) return [];
      if (!include_superseded && supersededBy(model, one.id, now, as_of).length > 0) return [];
      return [expectedMemory(model, one, version, now, as_of)];
    });
}

type ListInput = NonNullable<Parameters<Api['artifacts']['list']>[0]> &
  NonNullable<Parameters<Api['notes']['list']>[0]>;

export async function seenList(api: Api, kind: Kind, input: ListInput) {
  if (kind === 'artifact') {
    const { artifacts, total, next_cursor } = await api.artifacts.list({ limit: 500, ...input });
    return { memories: artifacts.map(seenMemory), total, next_cursor };
  }
  const { notes, total, next_cursor } = await api.notes.list({ limit: 500, ...input });
  return { memories: notes.map(seenMemory), total, next_cursor };
}

export async function checkPast(real: Real, model: Model, as_of: number): Promise<void> {
  const kinds = ['artifact', 'note'] as const;
  const check = async (kind: Kind) => {
    const expected = expectedList(model, kind, real.now(), { as_of, include_superseded: true });
    const { memories, total } = await seenList(real.api, kind, { as_of: iso(as_of), include_superseded: true });
    expect(memories, `${kind}s as of ${iso(as_of)}`).toEqual(expected);
    expect(total).toBe(expected.length);
  };
  await Promise.all(kinds.map(check));
}

const nameEdge = (type: string, ends: readonly { entity_type: string; entity_id: string }[]): string =>
  [type, ...ends.map((end) => `${end.entity_type} ${end.entity_id}`)].join(', ');

/** Edges that the store made by itself have ids that the model learns here. */
async function checkEdges({ api }: Real, model: Model): Promise<void> {
  const { edges, total } = await api.edges.list({ limit: 500 });
  const known = new Set(model.edges.map(({ id }) => id));
  for (const shown of edges) {
    if (known.has(shown.edge_id)) continue;
    const name = nameEdge(shown.edge_type, shown.participants);
    const made = model.edges.find(
      (edge) => edge.id === '' && edge.deleted_at === null && nameEdge(edge.type, edge.ends) === name,
    );
    expect(made, `an edge that should not be: ${name}`).toBeDefined();
    made!.id = shown.edge_id;
    if (made!.estimated) {
      const at = Date.parse(shown.created_at);
      expect(Math.abs(at - made!.created_at), 'linked when the turn was added').toBeLessThan(HALF_STEP_MS / 2);
      made!.created_at = at;
    }
  }
  const seen = edges.map((one) => [one.edge_id, nameEdge(one.edge_type, one.participants), one.created_at]);
  const expected = model.edges
    .filter(({ deleted_at }) => deleted_at === null)
    .sort(byId)
    .map((one) => [one.id, nameEdge(one.type, one.ends), iso(one.created_at)]);
  expect(seen).toEqual(expected);
  expect(total).toBe(expected.length);
}

/** All that is listed, now. */
export async function checkLists(real: Real, model: Model): Promise<void> {
  // First, since what the model learns of edges tells in which order sources come.
  await checkEdges(real, model);
  await Promise.all([
    checkTrajectories(real, model),
    checkScopes(real, model),
    checkMemories(real, model, 'artifact'),
    checkMemories(real, model, 'note'),
  ]);
}

async function checkTrajectories({ api }: Real, model: Model): Promise<void> {
  const { trajectories, total } = await api.trajectories.list({ limit: 500 });
  const expected = [...model.trajectories.values()].filter(({ deleted }) => !deleted).sort(byId);
  expect(trajectories.map(seenTrajectory)).toEqual(expected.map(expectedTrajectory));
  expect(total).toBe(expected.length);
}

async function checkScopes({ api }: Real, model: Model): Promise<void> {
  const { scopes, total } = await api.scopes.list({ limit: 500 });
  const expected = [...model.scopes.values()].filter(({ deleted }) => !deleted).sort(byId);
  expect(scopes.map(seenScope)).toEqual(expected.map(expectedScope));
  expect(total).toBe(expected.length);
}

/** Those that nothing supersedes, and all. */
async function checkMemories({ api, now }: Real, model: Model, kind: Kind): Promise<void> {
  for (const include_superseded of [false, true]) {
    const expected = expectedList(model, kind, now(), { include_superseded });
    const { memories, total } = await seenList(api, kind, { include_superseded });
    expect(memories, `${include_superseded ? 'all ' : ''}${kind}s`).toEqual(expected);
    expect(total).toBe(expected.length);
  }
}

export async function checkTurns({ api }: Real, model: Model, scope: ModelScope): Promise<void> {
  const { answer, code } = await outcomeOf(api.scopes.turns({ scope_id: scope.id, limit: 500 }));
  expect(code).toBe(scope.deleted ? 'SCOPE_NOT_FOUND' : null);
  if (!answer) return;
  const ids = scope.closed_at === null ? scope.turns : [];
  const expected = ids.map((id, i) => {
    const { role, content, token_count } = model.turns.get(id)!.sent;
    return { turn_id: id, scope_id: scope.id, sequence: i + 1, role, content, token_count };
  });
  expect(answer.turns).toMatchObject(expected);
  expect(answer.turns.length).toBe(expected.length);
  expect(answer.total).toBe(expected.length);
}

/** An artifact or note by its id: now, which counts, or as of a moment. */
export async function checkMemory(real: Real, model: Model, memory: ModelMemory, as_of?: number): Promise<void> {
  const { id, kind } = memory;
  const now = real.now();
  const version = versionAt(memory, as_of);
  const past = as_of === undefined ? {} : { as_of: iso(as_of) };
  const { answer, code } = await outcomeOf<ShownMemory>(
    kind === 'artifact'
      ? real.api.artifacts.get({ artifact_id: id, ...past })
      : real.api.notes.get({ note_id: id, ...past }),
  );
  const refused = !version ? notFound(kind) : lives(model, memory, now) ? null : 'CONTENT_ERASED';
  expect(code, `${kind} ${id} as of ${as_of === undefined ? 'now' : iso(as_of)}`).toBe(refused);
  if (!answer || !version) return;
  // Whether a read counts itself is not said; that it counts for those after it is.
  const { access_count: _count, accessed_at: _at, ...shown } = seenMemory(answer);
  const {
    access_count: _counted,
    accessed_at: _then,
    ...expected
  } = expectedMemory(model, memory, version, now, as_of);
  expect(shown).toEqual(expected);
  if (as_of !== undefined) return;
  memory.accesses += 1;
  memory.accessed_at = now;
}

export async function checkHistory(real: Real, model: Model, memory: ModelMemory): Promise<void> {
  const { id, kind } = memory;
  const { answer, code } = await outcomeOf<{
    versions: (ShownMemory & { superseded_at: string | null })[];
    deleted_at: string | null;
    total: number | null;
  }>(kind === 'artifact' ? real.api.artifacts.history({ artifact_id: id }) : real.api.notes.history({ note_id: id }));
  const now = real.now();
  expect(code).toBe(lives(model, memory, now) ? null : 'CONTENT_ERASED');
  if (!answer) return;
  // What was deleted is shown with the links that it had until then.
  const until = currentOf(memory) ? undefined : memory.versions.at(-1)!.until! - 1;
  expect(answer.versions.map(seenMemory)).toEqual(
    memory.versions.map((version) => expectedMemory(model, memory, version, now, until)),
  );
  const ends = memory.versions.map(({ until }) => (until === null ? null : iso(until)));
  expect(answer.versions.map(({ superseded_at }) => superseded_at)).toEqual(ends);
  expect(answer.deleted_at).toBe(currentOf(memory) ? null : ends.at(-1));
  expect(answer.total).toBe(memory.versions.length);
}

async function checkTurn({ api }: Real, model: Model, turn_id: string): Promise<void> {
  const places = scopesWith(model, turn_id);
  const { answer, code } = await outcomeOf(api.turns.get({ turn_id }));
  expect(code, `turn ${turn_id}`).toBe(places.length > 0 ? null : 'TURN_NOT_FOUND');
  if (!answer) return;
  const { scope_id, content, token_count } = model.turns.get(turn_id)!.sent;
  const ids = places.map(({ id }) => id);
  if (ids.includes(scope_id)) expect(answer.scope_id).toBe(scope_id);
  expect(ids).toContain(answer.scope_id);
  const sequence = model.scopes.get(answer.scope_id)!.turns.indexOf(turn_id) + 1;
  expect(answer).toMatchObject({ content, token_count, sequence });
}

/** The cards of turns and versions that are listed: those that can be read and that nothing supersedes. */
async function checkCards({ api }: Real, model: Model, now: number): Promise<void> {
  const turns = [...model.turns.entries()]
    .filter(([, { sent }]) => model.scopes.get(sent.scope_id)!.closed_at === null)
    .map(([id]) => id);
  const versions = [...model.memories.values()]
    .filter((memory) => currentOf(memory) && lives(model, memory, now))
    .flatMap((memory) => memory.versions.map(({ card }) => card));
  const expected = [...turns, ...versions].filter((id) => supersededBy(model, id, now).length === 0).sort();
  const { cards, total } = await api.cards.list({ limit: 500 });
  expect(cards.map(({ card_id }) => card_id)).toEqual(expected);
  expect(total).toBe(expected.length);
}

const spread = <T>(values: readonly T[], count: number): T[] =>
  values.filter((_, i) => i % Math.ceil(values.length / count) === 0);

/** Everything by its id, and every moment that was remembered. */
export async function checkAll(real: Real, model: Model): Promise<void> {
  const { api } = real;
  await checkLists(real, model);
  for (const one of model.trajectories.values()) {
    const { answer, code } = await outcomeOf(api.trajectories.get({ trajectory_id: one.id }));
    expect(code).toBe(one.deleted ? 'TRAJECTORY_NOT_FOUND' : null);
    if (answer) expect(seenTrajectory(answer)).toEqual(expectedTrajectory(one));
  }
  for (const scope of model.scopes.values()) {
    const { answer, code } = await outcomeOf(api.scopes.get({ scope_id: scope.id }));
    expect(code).toBe(scope.deleted ? 'SCOPE_NOT_FOUND' : null);
    if (answer) expect(seenScope(answer)).toEqual(expectedScope(scope));
    await checkTurns(real, model, scope);
  }
  for (const id of model.turns.keys()) await checkTurn(real, model, id);
  for (const memory of model.memories.values()) {
    await checkMemory(real, model, memory);
    await checkHistory(real, model, memory);
    for (const { at } of memory.versions) {
      await checkMemory(real, model, memory, at);
      await checkMemory(real, model, memory, at - 1);
    }
  }
  for (const edge of model.edges) {
    // Made and removed by one command, it was never seen.
    if (edge.id === '') continue;
    const { code } = await outcomeOf(api.edges.get({ edge_id: edge.id }));
    expect(code).toBe(edge.deleted_at === null ? null : 'EDGE_NOT_FOUND');
  }
  await checkCards(real, model, real.now());
  for (const moment of spread(model.moments, 12)) await checkPast(real, model, moment);
}
