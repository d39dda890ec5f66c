/** Notes, artifacts, cards and turns in one form, as lists show them. */
import type { Artifact, Note, SearchResult } from 'cairndb/client';
import { textOf } from '../../data/format.js';

export type EntryType = 'Note' | 'Artifact' | 'Card' | 'Turn';

export interface Entry {
  readonly type: EntryType;
  readonly id: string;
  /** Colour and icon: summaries have their own, whatever they are stored as. */
  readonly look: 'note' | 'artifact' | 'summary' | 'card' | 'turn';
  /** Such as Fact or Decision. */
  readonly kind: string | null;
  readonly title: string;
  readonly text: string;
  readonly subjects: readonly string[];
  readonly created_at: string;
  readonly version: number;
  readonly superseded_by: readonly string[];
  readonly contradicted_by: readonly string[];
}

/** Digests, summaries and principles are made from other memories. */
export const isSummary = ({ abstraction_level }: { readonly abstraction_level: string }): boolean =>
  abstraction_level !== 'L0';

/** A title that the text begins with says nothing more. */
export const titleBeside = (title: string, text: string): string =>
  text.startsWith(title.replace(/…$/, '')) ? '' : title;

const shared = (one: Note | Artifact, title: string) => {
  const text = textOf(one.content);
  const { subject_ids: subjects, created_at, version, superseded_by, contradicted_by } = one;
  return { title: titleBeside(title, text), text, subjects, created_at, version, superseded_by, contradicted_by };
};

export const fromNote = (note: Note): Entry => ({
  type: 'Note',
  id: note.note_id,
  look: isSummary(note) ? 'summary' : 'note',
  kind: note.note_type,
  ...shared(note, note.title),
});

export const fromArtifact = (artifact: Artifact): Entry => ({
  type: 'Artifact',
  id: artifact.artifact_id,
  look: isSummary(artifact) ? 'summary' : 'artifact',
  kind: artifact.artifact_type,
  ...shared(artifact, artifact.name),
});

/** A card or turn, which only a search lists without the versions of notes and artifacts. */
export const fromHit = (hit: SearchResult): Entry => ({
  type: hit.entity_type as EntryType,
  id: hit.id,
  look: hit.entity_type === 'Turn' ? 'turn' : 'card',
  kind: hit.type ?? hit.role,
  title: '',
  text: hit.snippet,
  subjects: [],
  created_at: hit.created_at,
  version: 1,
  superseded_by: [],
  contradicted_by: [],
});
