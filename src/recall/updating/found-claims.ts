/** A claim as the forms of sentences find it. */
import { isSolid, isState, valueAt } from './values.js';

/**
 * How many values a slot has. `one`: at a time. `many`: one more replaces none. `fixed`: one for good, so another
 * contradicts it. `named`: another replaces it only if the statement says so, such as a second appointment.
 */
export type SlotKind = 'one' | 'many' | 'fixed' | 'named';

export interface FoundClaim {
  /** Who or what it is about and which attribute: claims with the same key are compared. */
  readonly key: string;
  readonly kind: SlotKind;
  readonly value: string;
  readonly negated: boolean;
  /** The value that it says it replaces. */
  readonly replaced?: string | undefined;
  /** It holds only if it replaces a known value: "left Hamburg for Bremen", "left Siemens for Bosch". */
  readonly tentative?: boolean;
  /** Position, in UTF-16 units, of what a mark shows as the former value. */
  readonly start: number;
  readonly end: number;
  /** It says that it is new. */
  readonly changes: boolean;
  /** Values of any kind exclude each other: "monthly" and "two weeks". */
  readonly free?: boolean;
  /** Whether the sentence says more than this. */
  readonly more: boolean;
}

/** Reads a plain sentence; the first form that matches wins. */
export type ClaimForm = (sentence: string, speaker: string | null) => readonly FoundClaim[];

export const slotKey = (subject: string, slot: string): string => `${subject}\n${slot}`;

/** A claim whose value begins at `start`; undefined if what is there is no value. */
export function claimAt(
  sentence: string,
  start: number,
  claim: Pick<FoundClaim, 'key'> & Partial<FoundClaim>,
  fits: (value: string) => boolean = isSolid,
): FoundClaim | undefined {
  const { value, length, more } = valueAt(sentence.slice(start));
  if (isState(value) || !fits(value)) return undefined;
  const rest = { kind: 'one', negated: false, changes: false } as const;
  return { ...rest, value, start, end: start + length, more, ...claim };
}
