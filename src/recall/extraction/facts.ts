/** A fact that was got out of a conversation: what it says, of whom, and where it came from. */

export interface ExtractedFact {
  readonly kind: 'note' | 'artifact';
  /** A note_type or an artifact_type. */
  readonly type: string;
  /** The title of a note, the name of an artifact. */
  readonly title: string;
  /** One statement that stands alone; of a Code artifact the code. */
  readonly content: string;
  readonly confidence: number;
  /** At least one, each among the sources that were given. */
  readonly source_ids: readonly string[];
  /** Whom or what it is about, in lower case. */
  readonly subject: string;
  /** What is said of the subject, as a key: the same subject and slot with another value is a contradiction. */
  readonly slot: string;
  readonly value: string;
  readonly negated: boolean;
  /** The day or moment that the statement names, ISO 8601. */
  readonly happens_at?: string;
  /** Of code. */
  readonly language?: string;
}

/** How a new fact stands to a known one. */
export type FactRelation = 'same' | 'contradicts' | 'different';

/** What is known of a fact that was stored: its content at least. */
export type ComparableFact = Pick<ExtractedFact, 'content'> &
  Partial<Pick<ExtractedFact, 'type' | 'subject' | 'slot' | 'value' | 'negated'>>;
