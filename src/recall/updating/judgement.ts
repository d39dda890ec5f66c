/** Relations between a new statement and known notes that a model found, checked against the texts. */
import type { KnownNote } from './known-notes.js';
import { type Related, relationByOrder, type Statement } from './relations.js';

/** A known note was replaced or changed after the model had read it: the comparison starts again. */
export class KnownChanged extends Error {}

export interface JudgedNote {
  readonly memory_id: string;
  readonly card_id: string;
  readonly relation: 'same' | 'replaces' | 'contradicts' | 'different';
  /** Position of the former value in the text of the note. */
  readonly start: number;
  readonly end: number;
  /** The note states nothing else. */
  readonly whole: boolean;
}

export interface Judgement {
  /** Notes that it relates to the statement. */
  readonly memory_ids: readonly string[];
  /** Undefined for a note that the model has not read. */
  relationTo(own: Statement, known: KnownNote): Related | undefined;
}

export function judgementOf(judged: readonly JudgedNote[]): Judgement {
  const byId = new Map(judged.map((one) => [one.memory_id, one]));
  return {
    memory_ids: judged.filter(({ relation }) => relation !== 'different').map(({ memory_id }) => memory_id),
    relationTo(own, { row, statement }) {
      const found = byId.get(row.memory_id);
      if (!found) return undefined;
      if (found.card_id !== row.card_id) throw new KnownChanged();
      const { relation, start, end, whole } = found;
      const part = { start, end };
      return { relation: relation === 'replaces' ? relationByOrder(own, statement) : relation, part, whole };
    },
  };
}
