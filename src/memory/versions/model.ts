/** Members that the nouns of the memory hierarchy share: levels, provenance, filters, batches. */
import { z } from 'zod';
import { clearable, lifetimeClass, ttl } from '../../engine/contract.js';
import {
  anyId,
  computed,
  instant,
  jsonObject,
  jsonValue,
  smallMetadata,
  subjectsShown,
  text,
} from '../../kernel/contract.js';

export const name = text(500, 1);
export const content = jsonValue.describe('Text, or any JSON');

export const abstractionLevel = z.enum(['L0', 'L1', 'L2']).describe('L0 raw, L1 summary, L2 principle');

/** Sequence of the source turn in its scope. */
export const sourceTurn = z.int().min(1).max(1_000_000_000).nullish();

export const extractionMethod = z.enum(['Explicit', 'Inferred', 'UserProvided']);

export const confidence = z.number().min(0).max(1);

/** Members of artifacts and notes that an update can change. */
export const changeableFields = {
  content: content.optional(),
  abstraction_level: clearable(abstractionLevel, 'L0'),
  confidence: confidence.nullish(),
  ttl: clearable(ttl, 'Persistent').describe(
    `${ttl.description}. Default at creation: that of the settings for its type, else Persistent`,
  ),
  metadata: clearable(smallMetadata, {}),
};

export const patchedVersion = clearable(z.int().min(1), undefined).describe('Refused unless it is the current version');

/** Members of an answer that a create accepts when it is posted back: only lifetime and expires_at count. */
export const answerFields = {
  card_id: computed,
  content_hash: computed,
  token_count: computed,
  version: computed,
  access_count: computed,
  accessed_at: computed,
  superseded_by: computed,
  contradicted_by: computed,
  created_at: computed,
  updated_at: computed,
  lifetime: lifetimeClass.nullish().describe('Must match ttl'),
  expires_at: instant.nullish().describe('Only with a ttl that names a time, and no later than that from now'),
};

/** Members that artifacts and notes show alike. */
export const versionFields = {
  card_id: z.string().describe('The card with the content of this version'),
  content_hash: z.string(),
  token_count: z.int(),
  abstraction_level: abstractionLevel,
  agent_id: z.string().nullable(),
  subject_ids: subjectsShown,
  version: z.int(),
  ttl,
  lifetime: lifetimeClass,
  expires_at: instant.nullable(),
  access_count: z.int(),
  accessed_at: instant.nullable(),
  superseded_by: z.array(z.string()).describe('Entities that supersede it'),
  contradicted_by: z.array(z.string()).describe('Entities that contradict it, or that it contradicts'),
  metadata: jsonObject,
  created_at: instant,
  updated_at: instant.describe('When this version was recorded'),
};

/** Filters of every list of the hierarchy. */
export const timeFilters = {
  created_after: instant.optional().describe('Created at this moment or later'),
  created_before: instant.optional().describe('Created before this moment'),
  updated_after: instant.optional().describe('Changed at this moment or later'),
  updated_before: instant.optional().describe('Changed before this moment'),
};

export const namePrefix = name.optional().describe('Prefix of the name');
export const agentFilter = anyId.optional().describe('Only entities of this agent');

/** The members of an operation that reads. */
export const READ = { method: 'GET', access: 'read', event: null } as const;

/** The answer of a batch: the results in the order of the items. */
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

export const batchOf = <I extends z.ZodType>(item: I) =>
  z.strictObject({
    items: z.array(item).min(1).max(1000),
    stop_on_error: z.boolean().optional().describe('Skip the items after the first failure'),
    atomic: z.boolean().optional().describe('All or nothing; default: each item commits on its own'),
  });
