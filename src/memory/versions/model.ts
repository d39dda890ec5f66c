/** What the nouns of the memory hierarchy share: levels, lifetimes, provenance, filters of their lists. */
import { z } from 'zod';
import { instant } from '../../kernel/common.js';
import { anyId, uuid } from '../../kernel/ids.js';
import { type Json, type JsonObject, jsonObject, jsonValue, text } from '../../kernel/json.js';

export const MAX_METADATA_BYTES = 64 * 1024;

/** Of a trajectory, scope, artifact or note: it can be found by its first letters. */
export const name = text(500, 1);

/** Kept beside rows that are written often, so it is smaller than what a card takes. */
export const smallMetadata = jsonObject
  .superRefine((value, ctx) => {
    // What is not JSON is refused already; a value that cannot be measured must not end the check.
    const bytes = new TextEncoder().encode(JSON.stringify(value) ?? '').length;
    if (bytes > MAX_METADATA_BYTES)
      ctx.addIssue({ code: 'custom', message: `is ${bytes} bytes, the limit is ${MAX_METADATA_BYTES}` });
  })
  .meta({ type: 'object', additionalProperties: true }) as unknown as z.ZodType<JsonObject>;

export const content = jsonValue.describe('Text, or any JSON') as z.ZodType<Json>;

export const abstractionLevel = z.enum(['L0', 'L1', 'L2']).describe('L0 raw, L1 summary, L2 principle');

/** Sequence of the turn that something came from. */
export const sourceTurn = z.int().min(1).max(1_000_000_000).nullish();

export const extractionMethod = z.enum(['Explicit', 'Inferred', 'UserProvided']);

export const confidence = z.number().min(0).max(1);

/** A hundred years. */
const MAX_DURATION_MS = 3_153_600_000_000;

const TTL_FORMS = `must be Persistent, Permanent, Session, Scope, Ephemeral, ShortTerm, MediumTerm, LongTerm, Duration(ms) or {"Duration": ms}, with ms from 1 to ${MAX_DURATION_MS}`;

const TTL_NAMES = [
  'Persistent',
  'Permanent',
  'Session',
  'Scope',
  'Ephemeral',
  'ShortTerm',
  'MediumTerm',
  'LongTerm',
];
const DURATION_TEXT = /^Duration\(([1-9]\d{0,12})\)$/i;

/** A name as seed 004 spells it, whatever its case. */
const spelledTtl = (text: string): string =>
  text.replace(DURATION_TEXT, 'Duration($1)').replace(/^[a-z]+$/i, (given) => {
    const known = TTL_NAMES.find((name) => name.toLowerCase() === given.toLowerCase());
    return known ?? given;
  });

/** Every form that the lifetime of an artifact or note is given in. */
export const ttl = z
  .union(
    [
      z
        .string()
        .regex(new RegExp(`^(?:${TTL_NAMES.join('|')}|Duration\\([1-9]\\d{0,12}\\))$`, 'i'), {
          message: TTL_FORMS,
          abort: true,
        })
        .overwrite(spelledTtl)
        .refine(
          (text) =>
            !text.startsWith('Duration(') || Number(text.slice('Duration('.length, -1)) <= MAX_DURATION_MS,
          TTL_FORMS,
        ),
      z.strictObject({ Duration: z.int().min(1).max(MAX_DURATION_MS).describe('Milliseconds') }),
    ],
    TTL_FORMS,
  )
  .describe(
    'Persistent, Session, Scope, ShortTerm (1 h), MediumTerm (24 h), LongTerm (7 days), or a Duration in ms',
  );
export type Ttl = z.output<typeof ttl>;

/** What a lifetime ends with: nothing, the trajectory, the scope, or a moment. */
export const lifetimeClass = z.enum(['Persistent', 'Session', 'Scope', 'Duration']);
export type LifetimeClass = z.output<typeof lifetimeClass>;

/** Filters by time that every list of the hierarchy takes. */
export const timeFilters = {
  created_after: instant.optional().describe('Created at this moment or later'),
  created_before: instant.optional().describe('Created before this moment'),
  updated_after: instant.optional().describe('Changed at this moment or later'),
  updated_before: instant.optional().describe('Changed before this moment'),
};

export const namePrefix = name.optional().describe('Only those whose name starts with this');
export const agentFilter = anyId.optional().describe('Only those of this agent');
export const trajectoryId = uuid.describe('The trajectory that it belongs to');

/** The answer of a batch: each item in its place. */
export const batchResult = <T extends z.ZodType>(data: T) =>
  z.object({
    results: z.array(
      z.union([
        z.object({ status: z.literal('success'), data }),
        z.object({ status: z.literal('error'), code: z.string(), message: z.string() }),
      ]),
    ),
    succeeded: z.int(),
    failed: z.int(),
  });

export const batchOptions = {
  stop_on_error: z.boolean().optional().describe('Leave out what comes after the first failure'),
  atomic: z.boolean().optional().describe('All or nothing; else each item commits alone'),
};

export const MAX_BATCH_ITEMS = 1000;
