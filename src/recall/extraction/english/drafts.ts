/** What the rules of extraction share: what they are told of a sentence, and what they make of it. */
import { wordingOf } from './wordings.js';

/** Who says it. */
export interface Voice {
  /** As given, where it is the name of somebody. */
  readonly name: string | undefined;
  /** A person speaks for himself; of an assistant only what was decided and found out counts. */
  readonly person: boolean;
  /** Names that this conversation is known to speak of, in lower case. */
  readonly names: ReadonlySet<string>;
  /** When it was said, in ms. */
  readonly said_at: number | undefined;
}

/** What a rule has found. Without a source, which is known to whoever asked. */
export interface FactDraft {
  readonly kind: 'note' | 'artifact';
  readonly type: string;
  readonly content: string;
  readonly subject: string;
  readonly slot: string;
  readonly value: string;
  readonly negated?: boolean;
  readonly confidence: number;
  readonly happens_at?: string;
}

/** Gets a sentence that is tidied, plain, and without its full stop. */
export type FactRule = (sentence: string, voice: Voice) => FactDraft | undefined;

export const speakerKey = ({ name }: Voice): string => (name ?? 'user').toLowerCase();

/**
 * What a text is about, as a key: its stems, each once, in the order of the alphabet. Before and after, with and without
 * are about the same, so that the one is known as the contrary of the other.
 */
export const keyOf = (text: string): string => [...wordingOf(text).stems].sort().join(' ');

/** A note about the speaker, unless another subject is given. */
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

/** With a capital and a full stop. */
export function sentenceOf(text: string): string {
  const trimmed = text.trim().replace(/[,;:\s]+$/, '');
  return `${trimmed.charAt(0).toUpperCase()}${trimmed.slice(1)}${/[.!]$/.test(trimmed) ? '' : '.'}`;
}
