/** Shapes that every noun shares: times, roles, pages. */
import { z } from 'zod';
import { anyId } from './ids.js';
import { toMs } from './times.js';

const FIRST_MS = Date.parse('0000-01-01T00:00:00.000Z');
const LAST_MS = Date.parse('9999-12-31T23:59:59.999Z');

const HAS_ZONE = /(?:Z|[+-]\d\d:?\d\d)$/i;

/** A moment on the wire: ISO 8601 on the way in, in UTC where it names no zone; UTC with milliseconds on the way out. */
export const instant = z.iso
  .datetime({ offset: true, local: true, abort: true, error: 'must be an ISO 8601 time, such as 2026-01-31T12:00:00Z' })
  .overwrite((iso) => (HAS_ZONE.test(iso) ? iso : `${iso}Z`))
  // Near either end, a zone can move a time to a year that has no four digits in UTC.
  .refine((iso) => toMs(iso) >= FIRST_MS && toMs(iso) <= LAST_MS, 'must be in the years 0000 to 9999, in UTC')
  .meta({ format: 'date-time' });

/**
 * A member of an answer that the store computes. It is taken and dropped, so that an answer can be posted back, to this
 * store or another.
 */
export const computed = z
  .unknown()
  .transform(() => undefined)
  .optional()
  .meta({ description: 'Computed by Cairn: ignored, so that an answer can be posted back', readOnly: true });

/** A member of an answer that has this value in everything new: another one is refused, never dropped. */
export const startsAs = (value: string | boolean | null) =>
  z
    .literal([value, null], { error: `is ${value} when it is made: leave it out, and change it afterwards` })
    .transform(() => undefined)
    .optional()
    .meta({ description: `${value} when it is made`, readOnly: true });

export const role = z.enum(['user', 'assistant', 'system', 'tool']);

export type ListOrder = 'asc' | 'desc';

/** The direction of a list, which has an order of its own. */
export const listOrder = (by_default: ListOrder = 'asc') =>
  z
    .enum(['asc', 'desc'])
    .optional()
    .describe(`Default: ${by_default}${by_default === 'desc' ? ', the newest first' : ''}`);

/** The part of a list's input that every list takes. */
export const pageInput = {
  order: listOrder(),
  limit: z.int().min(1).max(500).optional().describe('How many to return, 100 unless given'),
  cursor: z.string().max(500).optional().describe('next_cursor of the page before'),
  offset: z.int().min(0).max(10_000).optional().describe('How many to skip, instead of a cursor'),
};

/** The part of a list's output that every list has. */
export const pageOutput = {
  next_cursor: z.string().nullable().describe('Where to go on; null at the end'),
  total: z.int().nullable().describe('Exact, on the first page only; null with a cursor'),
};

export const subjectIds = z.array(anyId).max(100).describe('Whom or what this is about');
