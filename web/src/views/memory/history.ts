/** The versions of a note or artifact, newest first. A history does not count as an access. */
import type { Artifact, Note } from 'cairndb/client';
import { useMemo } from 'react';
import { usePages } from '../../data/api.js';
import { textOf } from '../../data/format.js';

type Shared = Omit<Note & Artifact, 'note_id' | 'artifact_id'>;

/** Members that notes and artifacts have under different names are renamed. */
export interface Version
  extends Pick<
    Shared,
    | 'content'
    | 'card_id'
    | 'token_count'
    | 'abstraction_level'
    | 'agent_id'
    | 'subject_ids'
    | 'version'
    | 'lifetime'
    | 'expires_at'
    | 'access_count'
    | 'accessed_at'
    | 'superseded_by'
    | 'contradicted_by'
    | 'metadata'
    | 'created_at'
    | 'updated_at'
  > {
  readonly title: string;
  readonly kind: string;
  readonly text: string;
  readonly confidence: number | null;
  readonly trajectory_ids: readonly string[];
  readonly scope_id: string | null;
  readonly source_turn: number | null;
  readonly extraction_method: string | null;
  /** The answer itself. */
  readonly whole: Note | Artifact;
}

const fromNote = (note: Note): Version => ({
  ...note,
  title: note.title,
  kind: note.note_type,
  text: textOf(note.content),
  trajectory_ids: note.source_trajectory_ids,
  scope_id: null,
  source_turn: null,
  extraction_method: null,
  whole: note,
});

const fromArtifact = (artifact: Artifact): Version => ({
  ...artifact,
  title: artifact.name,
  kind: artifact.artifact_type,
  text: textOf(artifact.content),
  confidence: artifact.provenance.confidence,
  trajectory_ids: [artifact.trajectory_id],
  source_turn: artifact.provenance.source_turn,
  extraction_method: artifact.provenance.extraction_method,
  whole: artifact,
});

export interface History {
  readonly versions: readonly Version[];
  readonly total: number | undefined;
  readonly deleted_at: string | null;
  readonly isPending: boolean;
  readonly error: unknown;
  readonly hasMore: boolean;
  readonly loadMore: () => void;
  readonly retry: () => void;
}

export function useHistory(type: 'Note' | 'Artifact', id: string, limit = 50): History {
  const shared = { order: 'desc', limit } as const;
  const isNote = type === 'Note';
  const notes = usePages('notes.history', 'versions', { note_id: id, ...shared }, { enabled: isNote });
  const artifacts = usePages('artifacts.history', 'versions', { artifact_id: id, ...shared }, { enabled: !isNote });
  const versions = useMemo(
    () => (isNote ? notes.items.map(fromNote) : artifacts.items.map(fromArtifact)),
    [isNote, notes.items, artifacts.items],
  );
  const { query, total, loadMore } = isNote ? notes : artifacts;
  const first = (query.data as { pages: readonly { deleted_at: string | null }[] } | undefined)?.pages[0];
  return {
    versions,
    total,
    deleted_at: first?.deleted_at ?? null,
    isPending: query.isPending,
    error: query.error ?? undefined,
    hasMore: query.hasNextPage,
    loadMore,
    retry: () => void query.refetch(),
  };
}
