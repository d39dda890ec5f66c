/** What the nouns of the memory hierarchy share: levels, lifetimes, provenance, filters of their lists. */
import { z } from 'zod';
import { anyId, instant, jsonValue, text, uuid } from '../../kernel/contract.js';
/** Of a trajectory, scope, artifact or note: it can be found by its first letters. */
export const name = text(500, 1);
export const content = jsonValue.describe('Text, or any JSON');

export const abstractionLevel = z.enum(['L0', 'L1', 'L2']).describe('L0 raw, L1 summary, L2 principle');

/** Sequence of the turn that something came from. */
export const sourceTurn = z.int().min(1).max(1_000_000_000).nullish();

export const extractionMethod = z.enum(['Explicit', 'Inferred', 'UserProvided']);

export const confidence = z.number().min(0).max(1);
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
