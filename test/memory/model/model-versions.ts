/** The model of model.ts, continued: artifacts, notes and their versions; edges; what can be seen of them. */
import {
  type Apply,
  type End,
  isFinished,
  type Kind,
  type Model,
  type ModelEdge,
  type ModelMemory,
  type ModelScope,
  NOTHING,
  Refused,
  refuse,
  removeEdges,
  same,
  scopeOf,
  type Ttl,
  trajectoryOf,
  type Version,
} from './model.js';

export interface Changeable {
  readonly artifact_type?: string;
  readonly note_type?: string;
  readonly name?: string;
  readonly title?: string;
  readonly content?: string;
  readonly abstraction_level?: string;
  readonly confidence?: number | null;
  readonly ttl?: Ttl;
}

export interface ArtifactInput extends Changeable {
  readonly artifact_id: string;
  readonly trajectory_id?: string;
  readonly scope_id?: string;
  readonly artifact_type: string;
  readonly name: string;
  readonly content: string;
  readonly source_turn?: number;
  readonly derived_from?: string[];
}

export interface NoteInput extends Changeable {
  readonly note_id: string;
  readonly note_type: string;
  readonly title: string;
  readonly content: string;
  readonly source_trajectory_ids?: string[];
  readonly source_artifact_ids?: string[];
}

const HOUR = 3_600_000;
const TERMS: Readonly<Record<string, number>> = { ShortTerm: HOUR, MediumTerm: 24 * HOUR, LongTerm: 168 * HOUR };

/** How long a lifetime is, if that is all that it says. */
export function durationOf(ttl: Ttl): number | null {
  if (typeof ttl === 'object') return ttl.Duration;
  if (ttl.startsWith('Duration(')) return Number(ttl.slice(9, -1));
  return TERMS[ttl] ?? null;
}

export function lifetimeOf(ttl: Ttl): 'Duration' | 'Session' | 'Scope' | 'Persistent' {
  if (durationOf(ttl) !== null) return 'Duration';
  if (ttl === 'Session') return 'Session';
  return ttl === 'Scope' || ttl === 'Ephemeral' ? 'Scope' : 'Persistent';
}

const expiryOf = (ttl: Ttl, now: number): number | null => {
  const duration = durationOf(ttl);
  return duration === null ? null : now + duration;
};

function hasEnded(model: Model, { ends_with }: ModelMemory): boolean {
  if (ends_with === null) return false;
  if (ends_with.what === 'scope') return model.scopes.get(ends_with.id)!.closed_at !== null;
  const trajectory = model.trajectories.get(ends_with.id)!;
  return trajectory.deleted || (ends_with.what === 'session' && isFinished(trajectory));
}

/** Neither expired nor ended; deleted ones may live on in the past. */
export const lives = (model: Model, memory: ModelMemory, now: number): boolean =>
  !hasEnded(model, memory) && (memory.expires_at === null || memory.expires_at > now);

export const currentOf = (memory: ModelMemory): Version | undefined =>
  memory.versions.find(({ until }) => until === null);

/** The version that holds, or held at a moment. */
export const versionAt = (memory: ModelMemory, as_of?: number): Version | undefined =>
  as_of === undefined
    ? currentOf(memory)
    : memory.versions.find(({ at, until }) => at <= as_of && (until === null || until > as_of));

export function isReadable(model: Model, kind: Kind, id: string, now: number, as_of?: number): boolean {
  const memory = model.memories.get(id);
  return memory?.kind === kind && versionAt(memory, as_of) !== undefined && lives(model, memory, now);
}

const holds = (edge: ModelEdge, as_of?: number): boolean =>
  as_of === undefined
    ? edge.deleted_at === null
    : edge.created_at <= as_of && (edge.deleted_at === null || edge.deleted_at > as_of);

const idAt = (edge: ModelEdge, i: number): string => edge.ends[i]!.entity_id;
const inOrder = (a: { id: string }, b: { id: string }): number => (a.id < b.id ? -1 : 1);

/** What an entity came from, of one type, in the order of the edges. */
export const sourcesOf = (model: Model, id: string, type: End['entity_type'], as_of?: number): string[] => {
  const edges = model.edges.filter((e) => e.type === 'DerivedFrom' && idAt(e, 0) === id && holds(e, as_of));
  const ends = edges.sort(inOrder).flatMap((edge) => edge.ends.slice(1));
  return [...new Set(ends.filter((end) => end.entity_type === type).map((end) => end.entity_id))];
};

export const cameFrom = (model: Model, id: string, source: string, as_of?: number): boolean =>
  model.edges.some(
    (edge) =>
      edge.type === 'DerivedFrom' &&
      idAt(edge, 0) === id &&
      holds(edge, as_of) &&
      edge.ends.slice(1).some(({ entity_id }) => entity_id === source),
  );

/** As far as that can be read; between cards of versions and turns, which end together or with their scope. */
export function supersededBy(model: Model, id: string, now: number, as_of?: number): string[] {
  const edges = model.edges.filter(
    (edge) =>
      edge.type === 'Supersedes' &&
      holds(edge, as_of) &&
      (edge.ends[0]!.entity_type === 'Card' || canBeLinked(model, edge.ends[0]!, now, as_of)) &&
      edge.ends.slice(1).some(({ entity_id }) => entity_id === id),
  );
  return [...new Set(edges.map((edge) => idAt(edge, 0)))].sort();
}

export function contradictedBy(model: Model, id: string, now: number, as_of?: number): string[] {
  const found = new Set<string>();
  for (const edge of model.edges) {
    if (edge.type !== 'Contradicts' || !holds(edge, as_of)) continue;
    const [first, ...others] = edge.ends;
    const against = first!.entity_id === id ? others : [first!];
    if (!edge.ends.some(({ entity_id }) => entity_id === id)) continue;
    for (const end of against) if (canBeLinked(model, end, now, as_of)) found.add(end.entity_id);
  }
  return [...found].sort();
}

/** Whether there is something to link to. */
function canBeLinked(model: Model, { entity_type, entity_id }: End, now: number, as_of?: number): boolean {
  if (entity_type === 'Artifact' || entity_type === 'Note')
    return isReadable(model, entity_type === 'Artifact' ? 'artifact' : 'note', entity_id, now, as_of);
  if (entity_type === 'Trajectory') return model.trajectories.get(entity_id)?.deleted === false;
  if (entity_type === 'Scope') return model.scopes.get(entity_id)?.deleted === false;
  const turn = model.turns.get(entity_id);
  return turn !== undefined && model.scopes.get(turn.sent.scope_id)!.closed_at === null;
}

/** What a trajectory leaves behind. */
export function producedBy(model: Model, id: string, now: number): { artifacts: string[]; notes: string[] } {
  const living = [...model.memories.values()].filter((one) => currentOf(one) && lives(model, one, now));
  const ids = (kind: Kind, belongs: (one: ModelMemory) => boolean) =>
    living
      .filter((one) => one.kind === kind && belongs(one))
      .map((one) => one.id)
      .sort();
  return {
    artifacts: ids('artifact', (one) => one.trajectory === id),
    notes: ids('note', (one) => cameFrom(model, one.id, id)),
  };
}

/** An id that is there already: true if it was made by the same request. */
function isAgain(model: Model, id: string, sent: unknown, now: number): boolean {
  const known = model.memories.get(id);
  if (!known) return false;
  refuse(!currentOf(known) || !lives(model, known, now), 'ENTITY_GONE');
  refuse(!same(known.sent, sent), 'ENTITY_ALREADY_EXISTS');
  return true;
}

function link(model: Model, from: End, to: readonly End[], at: number, estimated = false): void {
  const made = { id: '', type: 'DerivedFrom', created_at: at, estimated, deleted_at: null, sent: null };
  for (const end of to) model.edges.push({ ...made, ends: [from, end] });
}

/** Artifacts that named this turn before it was there. The answer of a turn does not tell when they were linked. */
export function linkAwaited(model: Model, scope: ModelScope, turn_id: string, at: number): void {
  for (const [id, memory] of model.memories)
    if (memory.scope === scope.id && memory.source_turn === scope.turns.length && isReadable(model, 'artifact', id, at))
      link(model, { entity_type: 'Artifact', entity_id: id }, [{ entity_type: 'Turn', entity_id: turn_id }], at, true);
}

const firstVersion = (input: ArtifactInput | NoteInput, at: number): Version => ({
  type: (input.artifact_type ?? input.note_type)!,
  name: (input.name ?? input.title)!,
  content: input.content,
  level: input.abstraction_level ?? 'L0',
  confidence: input.confidence ?? null,
  at,
  until: null,
  card: '',
});

/** What an artifact with this lifetime ends with, if it may have it. */
function artifactEnd(model: Model, trajectory: string, scope: string | null, ttl: Ttl): ModelMemory['ends_with'] {
  const lifetime = lifetimeOf(ttl);
  if (lifetime === 'Session') return { what: 'session', id: trajectory };
  if (lifetime !== 'Scope') return { what: 'trajectory', id: trajectory };
  if (scope === null) throw new Refused('INVALID_INPUT');
  refuse(model.scopes.get(scope)!.closed_at !== null, 'SCOPE_CLOSED');
  return { what: 'scope', id: scope };
}

export function createArtifact(model: Model, input: ArtifactInput, now: number): Apply {
  const { artifact_id: id, ttl = 'Persistent' } = input;
  if (isAgain(model, id, input, now)) return NOTHING;
  const scope = input.scope_id === undefined ? null : scopeOf(model, input.scope_id, 'UNKNOWN_ENTITY');
  const trajectory = input.trajectory_id ?? scope?.trajectory;
  if (trajectory === undefined) throw new Refused('INVALID_INPUT');
  const owner = trajectoryOf(model, trajectory, 'UNKNOWN_ENTITY');
  refuse(scope !== null && scope.trajectory !== trajectory, 'UNKNOWN_ENTITY');
  refuse(isFinished(owner), 'STATE_CONFLICT');
  const sources: End[] = [];
  if (input.source_turn !== undefined) {
    const turn = scope?.closed_at === null ? scope.turns[input.source_turn - 1] : undefined;
    if (turn !== undefined) sources.push({ entity_type: 'Turn', entity_id: turn });
  }
  for (const source of new Set(input.derived_from)) {
    refuse(!isReadable(model, 'artifact', source, now), 'UNKNOWN_ENTITY');
    sources.push({ entity_type: 'Artifact', entity_id: source });
  }
  const ends_with = artifactEnd(model, trajectory, scope?.id ?? null, ttl);
  return (at) => {
    model.memories.set(id, {
      kind: 'artifact',
      id,
      trajectory,
      scope: scope?.id ?? null,
      source_turn: input.source_turn ?? null,
      sent: input,
      versions: [firstVersion(input, at)],
      ttl,
      expires_at: expiryOf(ttl, now),
      ends_with,
      accesses: 0,
      accessed_at: null,
    });
    link(model, { entity_type: 'Artifact', entity_id: id }, sources, at);
  };
}

function checkNote(type: string, ttl: Ttl): void {
  const lifetime = lifetimeOf(ttl);
  refuse(lifetime === 'Scope', 'INVALID_INPUT');
  refuse(type === 'Procedure' && lifetime !== 'Persistent', 'INVALID_INPUT');
}

function noteEnd(model: Model, source: string | undefined, ttl: Ttl): ModelMemory['ends_with'] {
  if (lifetimeOf(ttl) !== 'Session') return null;
  if (source === undefined) throw new Refused('INVALID_INPUT');
  refuse(isFinished(model.trajectories.get(source)!), 'STATE_CONFLICT');
  return { what: 'session', id: source };
}

export function createNote(model: Model, input: NoteInput, now: number): Apply {
  const { note_id: id, ttl = 'Persistent' } = input;
  checkNote(input.note_type, ttl);
  if (isAgain(model, id, input, now)) return NOTHING;
  const trajectories = [...new Set(input.source_trajectory_ids)];
  const artifacts = [...new Set(input.source_artifact_ids)];
  for (const one of trajectories) trajectoryOf(model, one, 'UNKNOWN_ENTITY');
  refuse(!artifacts.every((one) => isReadable(model, 'artifact', one, now)), 'UNKNOWN_ENTITY');
  const ends_with = noteEnd(model, trajectories[0], ttl);
  return (at) => {
    model.memories.set(id, {
      kind: 'note',
      id,
      trajectory: null,
      scope: null,
      source_turn: null,
      sent: input,
      versions: [firstVersion(input, at)],
      ttl,
      expires_at: expiryOf(ttl, now),
      ends_with,
      accesses: 0,
      accessed_at: null,
    });
    const from: End = { entity_type: 'Note', entity_id: id };
    const to = (entity_type: 'Trajectory' | 'Artifact') => (entity_id: string) => ({ entity_type, entity_id });
    link(model, from, [...trajectories.map(to('Trajectory')), ...artifacts.map(to('Artifact'))], at);
  };
}

export const notFound = (kind: Kind): string => (kind === 'artifact' ? 'ARTIFACT_NOT_FOUND' : 'NOTE_NOT_FOUND');

/** An entity as a change meets it; undefined when it was deleted. */
function enter(model: Model, kind: Kind, id: string, now: number) {
  const memory = model.memories.get(id);
  if (memory?.kind !== kind) throw new Refused(notFound(kind));
  const current = currentOf(memory);
  refuse(current !== undefined && !lives(model, memory, now), 'CONTENT_ERASED');
  return { memory, current };
}

const isReadOnly = (model: Model, { trajectory }: ModelMemory): boolean =>
  trajectory !== null && isFinished(model.trajectories.get(trajectory)!);

export function updateMemory(
  model: Model,
  kind: Kind,
  id: string,
  patch: Changeable,
  now: number,
  version?: number,
): Apply {
  refuse(Object.keys(patch).length === 0, 'INVALID_INPUT');
  const { memory, current } = enter(model, kind, id, now);
  if (!current) throw new Refused(notFound(kind));
  refuse(version !== undefined && version !== memory.versions.length, 'CONCURRENT_MODIFICATION');
  refuse(isReadOnly(model, memory), 'STATE_CONFLICT');
  const ttl = patch.ttl ?? memory.ttl;
  const next = {
    type: patch.artifact_type ?? patch.note_type ?? current.type,
    name: patch.name ?? patch.title ?? current.name,
    content: patch.content ?? current.content,
    level: patch.abstraction_level ?? current.level,
    confidence: patch.confidence === undefined ? current.confidence : patch.confidence,
  };
  if (kind === 'note') checkNote(next.type, ttl);
  const { type, name, content, level, confidence } = current;
  const renewed = !same(ttl, memory.ttl);
  if (!renewed && same(next, { type, name, content, level, confidence })) return NOTHING;
  const ends_with = !renewed
    ? memory.ends_with
    : kind === 'artifact'
      ? artifactEnd(model, memory.trajectory!, memory.scope, ttl)
      : noteEnd(model, sourcesOf(model, id, 'Trajectory')[0], ttl);
  return (at) => {
    current.until = at;
    memory.versions.push({ ...next, at, until: null, card: '' });
    if (!renewed) return;
    Object.assign(memory, { ttl, ends_with, expires_at: expiryOf(ttl, now) });
  };
}

/** Once the store has said which card a new version has: it supersedes the card before. */
export function learnCard(model: Model, id: string, version: number, card: string): void {
  const { versions } = model.memories.get(id)!;
  const made = versions[version - 1]!;
  if (made.card !== '') return;
  made.card = card;
  const before = versions[version - 2];
  if (!before) return;
  const ends = [card, before.card].map((entity_id): End => ({ entity_type: 'Card', entity_id }));
  model.edges.push({ id: '', type: 'Supersedes', ends, created_at: made.at, deleted_at: null, sent: null });
}

export function deleteMemory(model: Model, kind: Kind, id: string, now: number): Apply {
  const { memory, current } = enter(model, kind, id, now);
  if (!current) return NOTHING;
  refuse(isReadOnly(model, memory), 'STATE_CONFLICT');
  return (at) => {
    current.until = at;
    removeEdges(model, new Set([id]), at);
  };
}

export interface EdgeInput {
  readonly edge_id: string;
  readonly edge_type: string;
  readonly participants: readonly End[];
}

/** Whether a way along edges of this type leads from one entity to another. */
function leads(model: Model, type: string, from: string, to: string): boolean {
  if (from === to) return true;
  const next = model.edges.filter((edge) => edge.type === type && holds(edge) && idAt(edge, 0) === from);
  return next.some((edge) => edge.ends.slice(1).some((end) => leads(model, type, end.entity_id, to)));
}

export function createEdge(model: Model, input: EdgeInput, now: number): Apply {
  const { edge_id: id, edge_type: type, participants: ends } = input;
  refuse(new Set(ends.map(({ entity_id }) => entity_id)).size < ends.length, 'INVALID_INPUT');
  const known = model.edges.find((edge) => edge.id === id);
  if (known) {
    refuse(known.deleted_at !== null, 'ENTITY_GONE');
    refuse(!same(known.sent, input), 'ENTITY_ALREADY_EXISTS');
    return NOTHING;
  }
  refuse(!ends.every((end) => canBeLinked(model, end, now)), 'UNKNOWN_ENTITY');
  if (type === 'Supersedes' || type === 'DerivedFrom') {
    const [first, ...others] = ends.map(({ entity_id }) => entity_id);
    refuse(
      others.some((other) => leads(model, type, other, first!)),
      'EDGE_CYCLE',
    );
  }
  return (at) => {
    model.edges.push({ id, type, ends, created_at: at, deleted_at: null, sent: input });
  };
}

export function deleteEdge(model: Model, id: string): Apply {
  const edge = model.edges.find((one) => one.id === id);
  if (!edge) throw new Refused('EDGE_NOT_FOUND');
  return (at) => {
    edge.deleted_at ??= at;
  };
}
