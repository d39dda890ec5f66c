/** Plans on the wire: what a source would create, change, leave alone and delete. */
import { z } from 'zod';
import { jsonValue } from '../../kernel/contract.js';
import { KIND_NAMES } from '../checks/kind-names.js';

export const ACTIONS = ['create', 'update', 'unchanged', 'delete'] as const;
export type Action = (typeof ACTIONS)[number];

export const definitionKind = z.enum(KIND_NAMES).describe('Kind of the definition');

const target = {
  action: z.enum(ACTIONS).describe('delete only with prune'),
  kind: definitionKind,
  name: z.string().describe('Empty for settings'),
};

const fieldChange = z
  .object({
    field: z.string().describe('As in the source'),
    before: jsonValue.describe('Null if it was not set; a value above 1,000 characters is shown as a shortened text'),
    after: jsonValue.describe(
      'Null if it will not be set; a value above 1,000 characters is shown as a shortened text',
    ),
  })
  .meta({ id: 'FieldChange' });

export const plannedChange = z
  .object({ ...target, fields: z.array(fieldChange).describe('What an update changes; empty for other actions') })
  .meta({ id: 'PlannedChange' });
export type PlannedChange = z.output<typeof plannedChange>;

const counts = z
  .object({
    create: z.int().describe('Definitions that are new'),
    update: z.int().describe('Definitions that differ from what is stored'),
    unchanged: z.int().describe('Definitions that are stored as they are'),
    delete: z.int().describe('What the source does not define'),
  })
  .meta({ id: 'PlanCounts' });
export type Counts = z.output<typeof counts>;

export const plan = z
  .object({
    changes: z.array(plannedChange).describe('In the order in which they are applied'),
    counts: counts.describe('Number of definitions by action'),
    plan_hash: z.string().describe('Give it to apply, which then refuses if the plan has changed'),
  })
  .meta({ id: 'Plan' });
export type Plan = z.output<typeof plan>;

export const applied = z
  .object({
    changes: z
      .array(z.object(target))
      .describe('In the order in which they were applied; a repeated request names deleted policies by their id'),
    counts: counts.describe('Number of definitions by action'),
  })
  .meta({ id: 'AppliedPlan' });
export type Applied = z.output<typeof applied>;

export const exported = z
  .object({
    source: z.string().describe('Definitions in their canonical form; a comment if there are none'),
    definitions: z.int().describe('Number of definitions'),
    left_out: z
      .array(
        z.object({
          kind: definitionKind,
          name: z.string().describe('Name, or id of a policy without one'),
          reason: z.string().describe('Why the source cannot express it'),
        }),
      )
      .describe('What the tenant has beyond the source'),
  })
  .meta({ id: 'ExportedSource' });
export type Exported = z.output<typeof exported>;
export type LeftOut = Exported['left_out'][number];
