/** Use cases of notes. */
import type { In, LifetimeClass, Out, Ttl } from '../../engine/contract.js';
import { actsAs, type Call, checkLifetime, isAnswerOf, lifetimeClassOf, type Work } from '../../engine/index.js';
import { noteHolder, sessionHolder } from '../../engine/sql.js';
import { checkUses } from '../../identity/index.js';
import type { Json } from '../../kernel/contract.js';
import { CairnError, invalid } from '../../kernel/index.js';
import { canonical, sha256 } from '../../kernel/node.js';
import { beyondAmong } from '../entities/access.js';
import type { EntityRef } from '../entities/store.js';
import { isFinished, type TrajectoryRow } from '../trajectories/store.js';
import { type Action, perform, performBatch, refuseEmpty } from '../versions/changes.js';
import { type Links, memoryLinks } from '../versions/links.js';
import {
  createMemory,
  deleteMemory,
  type Place,
  prepareContent,
  preparePatch,
  updateMemory,
} from '../versions/service.js';
import { lockTrajectories } from '../versions/sources.js';
import { knownMemories, type Origin, type VersionRow } from '../versions/store.js';
import {
  type Entered,
  type Fields,
  historyOf,
  listOf,
  type Noun,
  readMemory,
  sharedFields,
  unknownEntity,
} from '../versions/views.js';
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

/** What a note may not be, whatever else there is. */
export function checkNote({ type, ttl }: Pick<Fields, 'type' | 'ttl'>): void {
  const lifetime = lifetimeClassOf(ttl);
  if (lifetime === 'Scope') throw invalid('a note belongs to no scope: give another ttl than Scope or Ephemeral');
  if (type === 'Procedure' && lifetime !== 'Persistent') {
    throw invalid('a note of the type Procedure is permanent: leave ttl out');
  }
}

/** What a note with this lifetime ends with: the first trajectory that it came from, or nothing. */
function holderOf(note_id: string, lifetime: LifetimeClass, source: TrajectoryRow | undefined): string {
  if (lifetime !== 'Session') return noteHolder(note_id);
  if (!source) throw invalid('a lifetime that ends with the session needs a trajectory among source_trajectory_ids');
  if (isFinished(source)) {
    throw new CairnError(
      'STATE_CONFLICT',
      `trajectory ${source.trajectory_id} is ${source.status}: its session is over`,
      { trajectory_id: source.trajectory_id, status: source.status },
    );
  }
  return sessionHolder(source.trajectory_id);
}

/** The trajectory whose session holds a note, if one does. */
const SESSION = sessionHolder('');
const sessionOf = (held_by: string | null): string | undefined =>
  held_by?.startsWith(SESSION) ? held_by.slice(SESSION.length) : undefined;

async function enter(work: Work, origin: Origin, ttl: Ttl | undefined): Promise<Entered> {
  const { tx } = work;
  const { memory_id } = origin;
  const willBe = ttl !== undefined && lifetimeClassOf(ttl) === 'Session';
  // Content must not be given to a session that ends at the same time: its erasure may already be over.
  const trajectory_id = sessionOf(origin.held_by) ?? (willBe ? await firstSource(work, memory_id) : undefined);
  const source =
    trajectory_id === undefined ? undefined : (await lockTrajectories(tx, [trajectory_id])).get(trajectory_id);
  return {
    check: (next) => {
      if (next) checkNote(next);
    },
    holder: (lifetime) => holderOf(memory_id, lifetime, source),
  };
}

async function firstSource({ call, tx }: Work, note_id: string): Promise<string | undefined> {
  const links = await memoryLinks(tx, [note_id], { now: call.driver.now(), agent: null });
  return links(note_id).source_trajectory_ids[0];
}

export const noteNoun: Noun<Note> = { kind: 'note', entity_type: 'Note', not_found: 'NOTE_NOT_FOUND', render, enter };

async function placeOf({ call, tx, now }: Work, input: NoteInput, ttl: Ttl, note_id: string): Promise<Place> {
  const trajectory_ids = [...new Set(input.source_trajectory_ids)];
  const artifact_ids = [...new Set(input.source_artifact_ids)];
  const trajectories = await lockTrajectories(tx, trajectory_ids);
  // Where a note was learned decides who reaches it: it must not be said of a trajectory that its maker cannot read.
  const hidden = await beyondAmong(call, tx, 'Trajectory', trajectory_ids);
  const unknown = trajectory_ids.filter((id) => !trajectories.has(id) || hidden.includes(id));
  if (unknown.length > 0) throw unknownEntity('source_trajectory_ids', 'trajectory', unknown);
  const artifacts = await knownMemories(tx, artifact_ids, now, { kind: 'artifact' });
  const beyond = await beyondAmong(call, tx, 'Artifact', artifact_ids);
  const missing = artifact_ids.filter((id) => !artifacts.has(id) || beyond.includes(id));
  if (missing.length > 0) throw unknownEntity('source_artifact_ids', 'artifact', missing);
  const first = trajectory_ids[0];
  return {
    trajectory_id: null,
    scope_id: null,
    thread_id: first ?? null,
    held_by: holderOf(note_id, lifetimeClassOf(ttl), first === undefined ? first : trajectories.get(first)),
    sources: [
      ...trajectory_ids.map((entity_id): EntityRef => ({ entity_type: 'Trajectory', entity_id })),
      ...artifact_ids.map((entity_id): EntityRef => ({ entity_type: 'Artifact', entity_id })),
    ],
  };
}

async function prepareCreate(call: Call, input: NoteInput): Promise<Action<Note>> {
  const agent_id = actsAs(call, input.agent_id, 'agent_id') ?? input.agent_id ?? null;
  const { note_id, ttl = 'Persistent' } = input;
  checkNote({ type: input.note_type, ttl });
  checkLifetime(input.lifetime, ttl);
  const { bytes, ...prepared } = await prepareContent(call, input.content, input.title, input.metadata);
  const sent = { ...input, note_id: null } as unknown as Json;
  const memory = {
    memory_id: note_id,
    sent_hash: note_id === undefined ? null : sha256(canonical(sent)),
    agent_id,
    fields: {
      type: input.note_type,
      name: input.title,
      abstraction_level: input.abstraction_level ?? 'L0',
      provenance: { confidence: input.confidence ?? null },
      metadata: input.metadata ?? {},
      ttl,
    },
    expires_at: input.expires_at,
    isAnswered: (answer: object) => isAnswerOf(noteInput, answer, input),
    prepared,
    place: (work: Work, id: string) => placeOf(work, input, ttl, id),
  };
  return { bytes, work: (work) => createMemory(work, noteNoun, memory) };
}

const CHANGEABLE = ['note_type', 'title', 'content', 'abstraction_level', 'confidence', 'ttl', 'metadata'];

async function prepareUpdate(call: Call, note_id: string, patch: NotePatch): Promise<Action<Note>> {
  refuseEmpty(patch, CHANGEABLE);
  const { note_type, title, ...shared } = patch;
  const { bytes, ...change } = await preparePatch(call, note_id, { type: note_type, name: title, ...shared });
  return { bytes, work: (work) => updateMemory(work, noteNoun, change) };
}

const prepareDelete = (note_id: string): Action<null> => ({
  bytes: 0,
  work: (work) => deleteMemory(work, noteNoun, note_id),
});

export const create = async (call: Call, input: In<'notes.create'>): Promise<Note> =>
  perform(call, noteNoun, input, await prepareCreate(call, input));

export const get = (call: Call, input: In<'notes.get'>): Promise<Note> =>
  readMemory(call, noteNoun, input.note_id, input.as_of);

export async function list(call: Call, input: In<'notes.list'>): Promise<Out<'notes.list'>> {
  const { trajectory_id, artifact_id } = input;
  const { memories, ...page } = await listOf(call, noteNoun, input, {
    type: input.note_type,
    name_prefix: input.title,
    source_ids: [trajectory_id, artifact_id].filter((id) => id !== undefined),
  });
  return { notes: memories, ...page };
}

export async function update(call: Call, input: In<'notes.update'>): Promise<Note> {
  const { note_id, ...patch } = input;
  return perform(call, noteNoun, input, await prepareUpdate(call, note_id, patch));
}

async function remove(call: Call, input: In<'notes.delete'>): Promise<void> {
  await perform(call, noteNoun, input, prepareDelete(input.note_id));
}

export { remove as delete };

export const history = (call: Call, input: In<'notes.history'>): Promise<Out<'notes.history'>> =>
  historyOf(call, noteNoun, input.note_id, input);

export const batch = (call: Call, input: In<'notes.batch'>): Promise<Out<'notes.batch'>> =>
  performBatch<Note, In<'notes.batch'>['items'][number]>(call, noteNoun, input, {
    prepare: async (own, item): Promise<Action<Note | null>> => {
      const alone = item.operation === 'create' ? item.create : item;
      await checkUses(own, operations[item.operation].touches, alone);
      if (item.operation === 'create') return prepareCreate(own, item.create);
      if (item.operation === 'update') return prepareUpdate(own, item.note_id, item.update);
      return prepareDelete(item.note_id);
    },
    about: (item) => ({ changes: item.operation === 'create' ? item.create.note_id : item.note_id }),
  });
