/** The form of all extraction rules: their input, their output, and helpers to build it. */
import type { ExtractedFact } from '../extractor.js';
import { wordingOf } from './wordings.js';

/** The speaker of a sentence. */
export interface Voice {
  /** As given, if it is the name of a person. */
  readonly name: string | undefined;
  /** People state facts about themselves; of an assistant only decisions and findings count. */
  readonly person: boolean;
  /** Names used in this conversation, in lower case. */
  readonly names: ReadonlySet<string>;
  /** When it was said, in ms. */
  readonly said_at: number | undefined;
}

/** A fact without its source and title. */
export type FactDraft = Omit<ExtractedFact, 'title' | 'source_ids' | 'negated' | 'language'> &
  Partial<Pick<ExtractedFact, 'negated'>>;

/** Takes a plain sentence without its full stop. */
export type FactRule = (sentence: string, voice: Voice) => FactDraft | undefined;

export const speakerKey = ({ name }: Voice): string => (name ?? 'user').toLowerCase();

/**
 * What a text is about, as a key: its stems, each once, sorted. "Before" and "after", "with" and "without" are left out,
 * so that opposites have the same key.
 */
export const keyOf = (text: string): string => [...wordingOf(text).stems].sort().join(' ');

/** A note, by default about the speaker. */
export const noteOf = (
  voice: Voice,
  type: string,
  content: string,
  rest: Pick<FactDraft, 'slot' | 'value'> & Partial<FactDraft>,
): FactDraft => ({
  kind: 'note',
  type,
  content: sentenceOf(content),
  subject: speakerKey(voice),
  confidence: 0.85,
  ...rest,
});

/** Adds a capital and a full stop. */
export function sentenceOf(text: string): string {
  const trimmed = text.trim().replace(/[,;:\s]+$/, '');
  return `${trimmed.charAt(0).toUpperCase()}${trimmed.slice(1)}${/[.!]$/.test(trimmed) ? '' : '.'}`;
}
