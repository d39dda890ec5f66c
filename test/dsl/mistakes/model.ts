/** A mistake of people and what they are told. */
import type { ParsedSource } from '#cairn/dsl/language/model.js';

export interface MistakeCase {
  readonly title: string;
  readonly source: string;
  /** Whole, in order. */
  readonly errors: ParsedSource['errors'];
}
