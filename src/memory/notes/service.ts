/** Use cases of notes. */
import type { In, LifetimeClass, Out, Ttl } from '../../engine/contract.js';
import { type Call, checkLifetime, lifetimeClassOf, type Subjects, type Work } from '../../engine/index.js';
import { noteHolder, sessionHolder } from '../../engine/sql.js';
import { PERMANENT_NOTE } from '../../identity/index.js';
import { CairnError, invalid } from '../../kernel/index.js';
import type { NewEdge } from '../edges/store.js';
import { unreadableAmong } from '../entities/access.js';
import { unknownEntity } from '../entities/errors.js';
import type { EntityRef } from '../entities/store.js';
import { isFinished, type TrajectoryRow } from '../trajectories/store.js';
import { type Action, prepareNew, versionUseCases } from '../versions/changes.js';
import { givenTtl, type LifetimeBounds } from '../versions/lifetimes.js';
import { type Links, memoryLinks } from '../versions/links.js';
import type { Placement } from '../versions/service.js';
import { lockTrajectories, refuseUnknownMemories } from '../versions/sources.js';
import type { Origin, VersionRow } from '../versions/store.js';
import { type ChangeRules, type Fields, listOf, type Noun, sharedFields } from '../versions/views.js';
import { notes as operations } from './contract.js';
import { type Note, type NoteInput, type NotePatch, noteInput } from './model.js';

function render(call: Call, row: VersionRow, links: Links): Note {
  const { confidence } = JSON.parse(row.provenance!) as { confidence: number | null };
  return {
    note_id: row.memory_id,
    note_type: row.type,
    title: row.name!,
    confidence,
    source_trajectory_ids: [...links.source_trajectory_ids],
    source_artifact_ids: [...links.source_artifact_ids],
    ...sharedFields(call, row, links),
  };
}

/** The rules of a note that depend on nothing else. */
export function checkNote({ type, ttl }: Pick<Fields, 'type' | 'ttl'>): void {
  const lifetime = lifetimeClassOf(ttl);
  if (lifetime === 'Scope') throw invalid('`ttl` of a note must not be Scope or Ephemeral: a note is in no scope');
  if (type === PERMANENT_NOTE && lifetime !== 'Persistent') {
    throw invalid('a note of type Procedure is permanent: omit `ttl`');
  }
}

/** The holder of a note: the session of its first source trajectory, or the note itself. */
function holderOf(note_id: string, lifetime: LifetimeClass, source: TrajectoryRow | undefined): string {
  if (lifetime !== 'Session') return noteHolder(note_id);
  if (!source) throw invalid('a lifetime of Session requires a trajectory in source_trajectory_ids');
  const { trajectory_id, status } = source;
  if (isFinished(source)) {
    throw new CairnError('STATE_CONFLICT', `trajectory ${trajectory_id} is ${status}: its session is over`, {
      trajectory_id,
      status,
    });
  }
  return sessionHolder(trajectory_id);
}

/** The bounds of a new note, whose first source is locked. */
export const noteBounds = (note_id: string, source: TrajectoryRow | undefined): LifetimeBounds => ({
  in_scope: false,
  in_session: source !== undefined && !isFinished(source),
  holder: (lifetime) => holderOf(note_id, lifetime, source),
});

const SESSION = sessionHolder('');
/** The trajectory whose session holds a note. */
const sessionOf = (held_by: string | null): string | undefined =>
  held_by?.startsWith(SESSION) ? held_by.slice(SESSION.length) : undefined;

async function lockForChange(work: Work, origin: Origin, ttl: Ttl | undefined): Promise<ChangeRules> {
  const { memory_id } = origin;
  const becomesSession = ttl !== undefined && lifetimeClassOf(ttl) === 'Session';
  // The session must not end concurrently: its erasure could miss the content.
  const trajectory_id = sessionOf(origin.held_by) ?? (becomesSession ? await firstSource(work, memory_id) : undefined);
  const source = trajectory_id && (await lockTrajectories(work.tx, [trajectory_id])).get(trajectory_id);
  return {
    check: (next) => {
      if (next) checkNote(next);
    },
    holder: (lifetime) => holderOf(memory_id, lifetime, source || undefined),
  };
}

async function firstSource({ call, tx }: Work, note_id: string): Promise<string | undefined> {
  const links = await memoryLinks(tx, [note_id], { now: call.driver.now(), agent: null });
  return links(note_id).source_trajectory_ids[0];
}

export const noteNoun: Noun<Note> & { readonly id: 'note_id' } = {
  kind: 'note',
  entity_type: 'Note',
  id: 'note_id',
  input: noteInput,
  render,
  lockForChange,
};

/** Edges of a new note besides those to its sources, whose subjects it gets. Runs after the locks of its sources. */
type NoteEdges = (work: Work, note_id: string, inherited: readonly Subjects[]) => Promise<readonly NewEdge[]>;

const noEdges: NoteEdges = async () => [];

async function placeOf(work: Work, input: NoteInput, note_id: string, edgesOf: NoteEdges): Promise<Placement> {
  const { call, tx, now } = work;
  const trajectory_ids = [...new Set(input.source_trajectory_ids)];
  const artifact_ids = [...new Set(input.source_artifact_ids)];
  const trajectories = await lockTrajectories(tx, trajectory_ids);
  // The sources decide who reaches a note, so the author must be able to read them.
  const hidden = await unreadableAmong(call, tx, 'Trajectory', trajectory_ids);
  const unknown = trajectory_ids.filter((id) => !trajectories.has(id) || hidden.includes(id));
  if (unknown.length > 0) throw unknownEntity('source_trajectory_ids', 'trajectory', unknown);
  const memories = { call, query: tx, now };
  const inherited = await refuseUnknownMemories(memories, 'artifact', 'source_artifact_ids', artifact_ids);
  const [first] = trajectory_ids;
  const source = trajectories.get(first ?? '');
  const subjects = [...inherited, ...[...trajectories.values()].map(({ subject_ids }) => subject_ids)];
  return {
    trajectory_id: null,
    scope_id: null,
    thread_id: first ?? null,
    bounds: noteBounds(note_id, source),
    subjects,
    sources: [
      ...trajectory_ids.map((entity_id): EntityRef => ({ entity_type: 'Trajectory', entity_id })),
      ...artifact_ids.map((entity_id): EntityRef => ({ entity_type: 'Artifact', entity_id })),
    ],
    edges: await edgesOf(work, note_id, subjects),
  };
}

/** A note that is validated, hashed and counted, and needs only a transaction. */
export async function prepareNote(call: Call, input: NoteInput, edgesOf: NoteEdges = noEdges): Promise<Action<Note>> {
  const { note_type: type, title: name, confidence = null } = input;
  const ttl = givenTtl(input);
  const check = () => {
    if (ttl === undefined) return;
    checkNote({ type, ttl });
    checkLifetime(input.lifetime, ttl);
  };
  const columns = { type, name, provenance: { confidence }, check };
  return prepareNew(call, noteNoun, input, columns, (work, id) => placeOf(work, input, id, edgesOf));
}

const useCases = versionUseCases(noteNoun, {
  operations,
  create: (call, input: NoteInput) => prepareNote(call, input),
  columns: ({ note_type, title, ...shared }: NotePatch) => ({ type: note_type, name: title, ...shared }),
});

export const { create, get, update, history, batch } = useCases;
const { delete: remove } = useCases;

export { remove as delete };

export async function list(call: Call, input: In<'notes.list'>): Promise<Out<'notes.list'>> {
  const { memories, ...page } = await listOf(call, noteNoun, input, {
    type: input.note_type,
    name_prefix: input.title,
    source_ids: [input.trajectory_id, input.artifact_id].filter((id) => id !== undefined),
  });
  return { notes: memories, ...page };
}
