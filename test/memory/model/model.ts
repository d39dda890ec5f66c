/**
 * What the memory hierarchy should do, written a second time and as simply as possible: plain objects in memory, every
 * question answered by looking at all of them. Every operation refuses, or gives what is left to be done at the moment
 * that the store recorded. Here: trajectories, scopes, turns; the rest is in model-versions.ts.
 */
import { linkAwaited } from './model-versions.js';

/** The code that the store should refuse with. */
export class Refused extends Error {
  readonly code: string;
  constructor(code: string) {
    super(code);
    this.code = code;
  }
}

/** Refuses if it is so. */
export function refuse(when: boolean, code: string): void {
  if (when) throw new Refused(code);
}

/** Does what was planned, at the moment that the store recorded. */
export type Apply = (at: number) => void;
export const NOTHING: Apply = () => undefined;

export type Status = 'Active' | 'Suspended' | 'Completed' | 'Failed';

export interface TrajectoryInput {
  readonly trajectory_id: string;
  readonly name: string;
  readonly parent_trajectory_id?: string;
}

export interface TrajectoryPatch {
  readonly name?: string;
  readonly description?: string | null;
  readonly status?: Status;
  readonly outcome?: { readonly summary?: string; readonly produced_artifacts?: string[] };
}

export interface ModelTrajectory {
  readonly id: string;
  readonly parent: string | null;
  readonly sent: TrajectoryInput;
  name: string;
  description: string | null;
  status: Status;
  outcome: { status: string; summary: string; produced_artifacts: string[]; produced_notes: string[] } | null;
  readonly created_at: number;
  updated_at: number;
  finished_at: number | null;
  deleted: boolean;
}

export interface ScopeInput {
  readonly scope_id: string;
  readonly trajectory_id: string;
  readonly parent_scope_id?: string;
  readonly name: string;
  readonly token_budget?: number;
  readonly threshold_percent?: number;
  readonly enforce?: boolean;
}

export type ScopePatch = Partial<Pick<ScopeInput, 'name' | 'token_budget' | 'threshold_percent' | 'enforce'>>;

export interface ModelScope {
  readonly id: string;
  readonly trajectory: string;
  readonly parent: string | null;
  readonly restored_from: string | null;
  readonly sent: ScopeInput | null;
  name: string;
  budget: number;
  percent: number;
  enforce: boolean;
  used: number;
  reached_at: number | null;
  /** Ids of turns, in order; those of the checkpoint that it was restored from are the first. */
  readonly turns: string[];
  checkpoint: { turns: string[]; used: number; state: string | null; recoverable: boolean; at: number } | null;
  readonly created_at: number;
  updated_at: number;
  closed_at: number | null;
  deleted: boolean;
}

export interface TurnInput {
  readonly turn_id: string;
  readonly scope_id: string;
  readonly role: string;
  readonly content: string;
  readonly token_count: number;
  readonly sequence?: number;
}

export interface ModelTurn {
  readonly sent: TurnInput;
}

export type Kind = 'artifact' | 'note';
export type Ttl = string | { readonly Duration: number };

export interface Version {
  readonly type: string;
  readonly name: string;
  readonly content: string;
  readonly level: string;
  readonly confidence: number | null;
  /** Holds from the one until the other. */
  readonly at: number;
  until: number | null;
  /** The card of its content, which the store names. */
  card: string;
}

export interface ModelMemory {
  readonly kind: Kind;
  readonly id: string;
  readonly trajectory: string | null;
  readonly scope: string | null;
  readonly source_turn: number | null;
  readonly sent: unknown;
  readonly versions: Version[];
  ttl: Ttl;
  expires_at: number | null;
  /** What it ends with. */
  ends_with: { readonly what: 'scope' | 'session' | 'trajectory'; readonly id: string } | null;
  accesses: number;
  accessed_at: number | null;
}

export interface End {
  readonly entity_type: 'Trajectory' | 'Scope' | 'Turn' | 'Artifact' | 'Note' | 'Card';
  readonly entity_id: string;
}

export interface ModelEdge {
  /** Empty until the store was asked, if the store made the edge by itself. */
  id: string;
  readonly type: string;
  readonly ends: readonly End[];
  created_at: number;
  /** No answer told when it was created: the id comes with the exact time. */
  readonly estimated?: boolean;
  deleted_at: number | null;
  readonly sent: unknown;
}

export interface Model {
  readonly trajectories: Map<string, ModelTrajectory>;
  readonly scopes: Map<string, ModelScope>;
  readonly turns: Map<string, ModelTurn>;
  readonly memories: Map<string, ModelMemory>;
  readonly edges: ModelEdge[];
  /** Moments of the past to ask for again and again. */
  readonly moments: number[];
  /** Those among them that are between two commands. */
  readonly between: number[];
  /** How many commands have run. */
  steps: number;
}

export const emptyModel = (): Model => ({
  trajectories: new Map(),
  scopes: new Map(),
  turns: new Map(),
  memories: new Map(),
  edges: [],
  moments: [],
  between: [],
  steps: 0,
});

export const same = (a: unknown, b: unknown): boolean => JSON.stringify(a) === JSON.stringify(b);

export const isFinished = ({ status }: ModelTrajectory): boolean => status === 'Completed' || status === 'Failed';

export function trajectoryOf(model: Model, id: string, code: string): ModelTrajectory {
  const found = model.trajectories.get(id);
  if (!found || found.deleted) throw new Refused(code);
  return found;
}

export function scopeOf(model: Model, id: string, code = 'SCOPE_NOT_FOUND'): ModelScope {
  const found = model.scopes.get(id);
  if (!found || found.deleted) throw new Refused(code);
  return found;
}

export function createTrajectory(model: Model, input: TrajectoryInput): Apply {
  const known = model.trajectories.get(input.trajectory_id);
  if (known) {
    refuse(known.deleted, 'ENTITY_GONE');
    refuse(!same(known.sent, input), 'ENTITY_ALREADY_EXISTS');
    return NOTHING;
  }
  const parent = input.parent_trajectory_id ?? null;
  if (parent !== null) refuse(isFinished(trajectoryOf(model, parent, 'UNKNOWN_ENTITY')), 'STATE_CONFLICT');
  return (at) => {
    model.trajectories.set(input.trajectory_id, {
      id: input.trajectory_id,
      parent,
      sent: input,
      name: input.name,
      description: null,
      status: 'Active',
      outcome: null,
      created_at: at,
      updated_at: at,
      finished_at: null,
      deleted: false,
    });
  };
}

const MOVES: Readonly<Record<Status, readonly Status[]>> = {
  Active: ['Completed', 'Failed', 'Suspended'],
  Suspended: ['Active', 'Failed'],
  Completed: [],
  Failed: [],
};

/** `produced` tells what a trajectory leaves behind, once what ends with it has ended. */
export function updateTrajectory(
  model: Model,
  id: string,
  patch: TrajectoryPatch,
  readable: (artifact_id: string) => boolean,
  produced: () => { artifacts: string[]; notes: string[] },
): Apply {
  const final = patch.status === 'Completed' || patch.status === 'Failed';
  refuse(Object.keys(patch).length === 0, 'INVALID_INPUT');
  refuse(patch.outcome !== undefined && !final, 'INVALID_INPUT');
  const one = trajectoryOf(model, id, 'TRAJECTORY_NOT_FOUND');
  const { name = one.name, description = one.description, status = one.status, outcome } = patch;
  const told = outcome === undefined || (one.outcome !== null && same({ ...one.outcome, ...outcome }, one.outcome));
  if (name === one.name && description === one.description && status === one.status && told) return NOTHING;
  refuse(isFinished(one), 'STATE_CONFLICT');
  const moves = status !== one.status;
  refuse(moves && !MOVES[one.status].includes(status), 'STATE_CONFLICT');
  const parent = one.parent === null ? undefined : model.trajectories.get(one.parent);
  refuse(moves && status === 'Active' && parent !== undefined && isFinished(parent), 'STATE_CONFLICT');
  const children = [...model.trajectories.values()].filter((child) => child.parent === id && !child.deleted);
  refuse(status === 'Completed' && children.some((child) => child.status === 'Active'), 'STATE_CONFLICT');
  refuse(!(outcome?.produced_artifacts ?? []).every(readable), 'UNKNOWN_ENTITY');
  return (at) => {
    Object.assign(one, { name, description, status, updated_at: at });
    if (!final) return;
    for (const scope of model.scopes.values()) if (scope.trajectory === id) endScope(scope, at);
    one.finished_at = at;
    const left = produced();
    one.outcome = {
      status: status === 'Completed' ? 'Success' : 'Failure',
      summary: outcome?.summary ?? '',
      produced_artifacts: [...new Set(outcome?.produced_artifacts ?? left.artifacts)],
      produced_notes: left.notes,
    };
  };
}

function endScope(scope: ModelScope, at: number): void {
  if (scope.closed_at !== null) return;
  scope.closed_at = at;
  scope.updated_at = at;
  if (!scope.checkpoint?.recoverable) scope.checkpoint = null;
}

export function deleteTrajectory(model: Model, id: string): Apply {
  const root = model.trajectories.get(id);
  if (!root) throw new Refused('TRAJECTORY_NOT_FOUND');
  if (root.deleted) return NOTHING;
  const gone = new Set([id]);
  // A part is made after what it is a part of.
  for (const one of model.trajectories.values()) if (one.parent !== null && gone.has(one.parent)) gone.add(one.id);
  return (at) => {
    const ends = new Set<string>(gone);
    for (const one of gone) model.trajectories.get(one)!.deleted = true;
    for (const scope of model.scopes.values()) {
      if (!gone.has(scope.trajectory)) continue;
      endScope(scope, at);
      scope.deleted = true;
      scope.checkpoint = null;
      ends.add(scope.id);
    }
    for (const memory of model.memories.values()) {
      if (memory.trajectory === null || !gone.has(memory.trajectory)) continue;
      ends.add(memory.id);
      for (const { card } of memory.versions) ends.add(card);
    }
    for (const [turn_id, { sent }] of model.turns)
      if (gone.has(model.scopes.get(sent.scope_id)!.trajectory)) ends.add(turn_id);
    removeEdges(model, ends, at);
  };
}

/** Removes the edges that these take part in. */
export function removeEdges(model: Model, ids: ReadonlySet<string>, at: number): void {
  for (const edge of model.edges) if (edge.ends.some(({ entity_id }) => ids.has(entity_id))) edge.deleted_at ??= at;
}

export const reaches = (used: number, { budget, percent }: Pick<ModelScope, 'budget' | 'percent'>): boolean =>
  used >= (budget * percent) / 100;

/** To be called after whatever changes the budget or its use. */
function notice(scope: ModelScope, at: number): void {
  scope.reached_at = reaches(scope.used, scope) ? (scope.reached_at ?? at) : null;
}

export function createScope(model: Model, input: ScopeInput): Apply {
  const known = model.scopes.get(input.scope_id);
  if (known) {
    refuse(known.deleted, 'ENTITY_GONE');
    refuse(!same(known.sent, input), 'ENTITY_ALREADY_EXISTS');
    return NOTHING;
  }
  refuse(isFinished(trajectoryOf(model, input.trajectory_id, 'UNKNOWN_ENTITY')), 'STATE_CONFLICT');
  const parent = input.parent_scope_id ?? null;
  if (parent !== null) {
    const above = scopeOf(model, parent, 'UNKNOWN_ENTITY');
    refuse(above.trajectory !== input.trajectory_id, 'UNKNOWN_ENTITY');
    refuse(above.closed_at !== null, 'SCOPE_CLOSED');
  }
  return (at) => {
    model.scopes.set(input.scope_id, {
      id: input.scope_id,
      trajectory: input.trajectory_id,
      parent,
      restored_from: null,
      sent: input,
      name: input.name,
      budget: input.token_budget ?? 8000,
      percent: input.threshold_percent ?? 80,
      enforce: input.enforce ?? false,
      used: 0,
      reached_at: null,
      turns: [],
      checkpoint: null,
      created_at: at,
      updated_at: at,
      closed_at: null,
      deleted: false,
    });
  };
}

function openScope(model: Model, id: string): ModelScope {
  const scope = scopeOf(model, id);
  refuse(scope.closed_at !== null, 'SCOPE_CLOSED');
  return scope;
}

export function updateScope(model: Model, id: string, patch: ScopePatch): Apply {
  refuse(Object.keys(patch).length === 0, 'INVALID_INPUT');
  const scope = openScope(model, id);
  const next = {
    name: patch.name ?? scope.name,
    budget: patch.token_budget ?? scope.budget,
    percent: patch.threshold_percent ?? scope.percent,
    enforce: patch.enforce ?? scope.enforce,
  };
  const { name, budget, percent, enforce } = scope;
  if (same(next, { name, budget, percent, enforce })) return NOTHING;
  return (at) => {
    Object.assign(scope, next, { updated_at: at });
    notice(scope, at);
  };
}

/** The open scopes that close with one: itself and those nested in it. */
export function closingWith(model: Model, id: string): ModelScope[] {
  const nested = new Set([id]);
  for (const one of model.scopes.values()) if (one.parent !== null && nested.has(one.parent)) nested.add(one.id);
  return [...model.scopes.values()].filter((one) => nested.has(one.id) && one.closed_at === null);
}

export function closeScope(model: Model, id: string): Apply {
  scopeOf(model, id);
  const closing = closingWith(model, id);
  return (at) => {
    for (const scope of closing) endScope(scope, at);
  };
}

export function checkpoint(model: Model, id: string, state: string | null, recoverable: boolean): Apply {
  const scope = openScope(model, id);
  return (at) => {
    scope.checkpoint = { turns: [...scope.turns], used: scope.used, state, recoverable, at };
  };
}

/** The store names the new scope, so that is told as well. */
export function restore(
  model: Model,
  id: string,
  more: { readonly name?: string; readonly token_budget?: number },
): (at: number, new_id: string) => void {
  const scope = scopeOf(model, id);
  refuse(isFinished(model.trajectories.get(scope.trajectory)!), 'STATE_CONFLICT');
  const kept = scope.checkpoint;
  if (!kept?.recoverable) throw new Refused('NOT_RECOVERABLE');
  return (at, new_id) => {
    const restored: ModelScope = {
      ...scope,
      id: new_id,
      parent: null,
      restored_from: id,
      sent: null,
      name: more.name ?? scope.name,
      budget: more.token_budget ?? scope.budget,
      used: kept.used,
      reached_at: null,
      turns: [...kept.turns],
      checkpoint: null,
      created_at: at,
      updated_at: at,
      closed_at: null,
    };
    notice(restored, at);
    model.scopes.set(new_id, restored);
  };
}

/** Where a turn is read: the open scopes that hold it. */
export const scopesWith = (model: Model, turn_id: string): ModelScope[] =>
  [...model.scopes.values()].filter((one) => one.closed_at === null && one.turns.includes(turn_id));

export function addTurn(model: Model, input: TurnInput): Apply {
  const known = model.turns.get(input.turn_id);
  if (known) {
    refuse(model.scopes.get(known.sent.scope_id)!.closed_at !== null, 'ENTITY_GONE');
    refuse(!same(known.sent, input), 'ENTITY_ALREADY_EXISTS');
    return NOTHING;
  }
  const scope = openScope(model, input.scope_id);
  refuse(input.sequence !== undefined && input.sequence !== scope.turns.length + 1, 'SEQUENCE_CONFLICT');
  const used = scope.used + input.token_count;
  refuse(scope.enforce && used > scope.budget, 'BUDGET_EXCEEDED');
  return (at) => {
    model.turns.set(input.turn_id, { sent: input });
    scope.turns.push(input.turn_id);
    linkAwaited(model, scope, input.turn_id, at);
    scope.used = used;
    scope.updated_at = at;
    notice(scope, at);
  };
}
