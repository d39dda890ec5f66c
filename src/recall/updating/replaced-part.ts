/** Where a replaced value is: its position in a card, as the body of an edge has it. */
import type { Json, JsonObject } from '../../kernel/contract.js';
import { parseDate } from '../../text/index.js';

export interface ReplacedPart {
  readonly card_id: string;
  readonly start: number;
  readonly end: number;
}

/** The part that an edge names; without a card it is in that of version 1. */
export function replacedPart(body: string | null): Partial<ReplacedPart> | undefined {
  const { replaced } = ((JSON.parse(body ?? '{}') as JsonObject).metadata ?? {}) as { readonly replaced?: Json };
  const { card_id, start, end } = (replaced ?? {}) as { readonly [name: string]: Json | undefined };
  if (!Number.isInteger(start) || !Number.isInteger(end)) return undefined;
  const part = { start: start as number, end: end as number };
  return typeof card_id === 'string' ? { card_id, ...part } : part;
}

/** The part of a version that the edge names, else its whole text. */
export function partOfVersion(
  body: string | null,
  { card_id, version }: { readonly card_id: string; readonly version: number },
): ReplacedPart {
  const whole = { card_id, start: 0, end: Number.MAX_SAFE_INTEGER };
  const part = replacedPart(body);
  return part && (part.card_id !== undefined || version === 1) ? { ...whole, ...part } : whole;
}

/** When a memory happened: `occurred_at` of its metadata, else when it was stored. */
export const happenedAt = ({ metadata, created_at }: { metadata: string | null; created_at: number }): number =>
  parseDate((JSON.parse(metadata ?? '{}') as JsonObject).occurred_at) ?? created_at;
