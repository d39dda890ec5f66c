/** Turns as they are read for a summary. */
import type { SourceRole } from '../sources.js';
import type { Correction } from './corrections.js';

export interface Sentence {
  readonly text: string;
  readonly code: boolean;
  correction?: Correction;
  /** The text, corrected, with the person whom its pronoun means. */
  named?: string;
  /** Whether an earlier sentence has what it corrects. */
  merged?: boolean;
}

export interface Turn {
  /** Index of its source. */
  readonly source: number;
  readonly role: SourceRole;
  readonly speaker: string;
  readonly text: string;
  readonly sentences: readonly Sentence[];
  /** Whether it corrects an earlier one. */
  corrects?: boolean;
}

export const isPerson = (role: SourceRole): boolean => role === 'user' || role === 'none';
