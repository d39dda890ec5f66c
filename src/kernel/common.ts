/** Shapes that every noun shares: times, roles, pages. */
import { z } from 'zod';
import { anyId } from './ids.js';
import { toMs } from './times.js';

const FIRST_MS = Date.parse('0000-01-01T00:00:00.000Z');
const LAST_MS = Date.parse('9999-12-31T23:59:59.999Z');

const HAS_ZONE = /(?:Z|[+-]\d\d:?\d\d)$/i;

/** A time on the wire. Input: ISO 8601, in UTC if it names no zone. Output: UTC with milliseconds. */
export const instant = z.iso
  .datetime({ offset: true, local: true, abort: true, error: 'must be an ISO 8601 time, such as 2026-01-31T12:00:00Z' })
  .overwrite((iso) => (HAS_ZONE.test(iso) ? iso : `${iso}Z`))
  // Near either end, a zone offset can move a time to a year without four digits in UTC.
  .refine((iso) => toMs(iso) >= FIRST_MS && toMs(iso) <= LAST_MS, 'must be in the years 0000 to 9999, in UTC')
  .meta({ format: 'date-time' });

/** A computed member of an answer: accepted and ignored, so that an answer can be posted back to any store. */
export const computed = z
  .unknown()
  .transform(() => undefined)
  .optional()
  .meta({ description: 'Computed by Cairn: ignored, so that an answer can be posted back', readOnly: true });

/** A member of an answer that has this value in every new entity: other values are refused, never ignored. */
export const initialValue = (value: string | boolean | null) =>
  z
    .literal([value, null], { error: `must be ${value} at creation: omit it, and change it afterwards` })
    .transform(() => undefined)
    .optional()
    .meta({ description: `${value} at creation`, readOnly: true });

export const role = z.enum(['user', 'assistant', 'system', 'tool']);

export type ListOrder = 'asc' | 'desc';

export const listOrder = (by_default: ListOrder = 'asc') =>
  z
    .enum(['asc', 'desc'])
    .optional()
    .describe(`Default: ${by_default}${by_default === 'desc' ? ', newest first' : ''}`);

/** Input members of every list. */
export const pageInput = {
  order: listOrder(),
  limit: z.int().min(1).max(500).optional().describe('Maximum number of items (default: 100)'),
  cursor: z.string().max(500).optional().describe('next_cursor of the previous page'),
  offset: z.int().min(0).max(10_000).optional().describe('Number of items to skip, instead of a cursor'),
};

/** Output members of every list. */
export const pageOutput = {
  next_cursor: z.string().nullable().describe('Cursor of the next page; null on the last one'),
  total: z.int().nullable().describe('Exact count, on the first page only; null with a cursor'),
};

/** The member of an input with the same meaning as the call option `user`. */
export const actingUser = anyId
  .optional()
  .describe(
    'The user that the call is made for: finds what is about this user or nobody, writes what is about this user',
  );

/** Whom an entity is about, as answers show it. */
export const subjectsShown = z.array(z.string()).describe('Ids of the people or things that it is about');

export const subjectIds = z.array(anyId).max(100).describe('Ids of the people or things that this is about');
