/** What the operations on artifacts and on notes share. */
import { z } from 'zod';
import { asPatch, lifetimeClass } from '../../engine/contract.js';
import { instant, pageInput, uuid } from '../../kernel/contract.js';
import { abstractionLevel, agentFilter, batchOf, timeFilters } from './model.js';

export const asOf = instant
  .optional()
  .describe('As it was known at this moment; the same answer every time, unless it was erased since');

export const listFilters = {
  agent_id: agentFilter,
  trajectory_id: uuid.optional(),
  abstraction_level: abstractionLevel.optional(),
  lifetime: lifetimeClass.optional(),
  include_superseded: z.boolean().optional().describe('Also those that another supersedes; hidden unless true'),
  as_of: asOf,
  ...timeFilters,
  ...pageInput,
};

/** The input of a batch that creates, updates and deletes entities by their id. */
export const batchInput = <C extends z.ZodType, U extends z.ZodType, K extends string>(
  id: Record<K, typeof uuid>,
  create: C,
  update: U,
) =>
  batchOf(
    z.discriminatedUnion('operation', [
      z.strictObject({ operation: z.literal('create'), create }),
      z.strictObject({ operation: z.literal('update'), ...id, update: asPatch(update) }),
      z.strictObject({ operation: z.literal('delete'), ...id }),
    ]),
  );

export const versionPage = { order: pageInput.order, limit: pageInput.limit, cursor: pageInput.cursor };
