/** The schema of a store: the tables of all modules as one baseline, then later migrations. */
import { checkpointsSchema } from '../checkpoints/index.js';
import { coordinationSchema } from '../coordination/index.js';
import { composed, type Schema, type SchemaPart } from '../driver/index.js';
import { engineSchema } from '../engine/index.js';
import { factsSchema } from '../facts/index.js';
import { identitySchema } from '../identity/index.js';
import { indexSchema } from '../index/index.js';
import { maintenanceSchema } from '../maintenance/index.js';
import { memorySchema } from '../memory/index.js';
import { recallSchema } from '../recall/index.js';

/** By module, in the order of their references. */
export const parts = {
  engine: engineSchema,
  identity: identitySchema,
  index: indexSchema,
  facts: factsSchema,
  memory: memorySchema,
  checkpoints: checkpointsSchema,
  recall: recallSchema,
  coordination: coordinationSchema,
  maintenance: maintenanceSchema,
} as const satisfies Readonly<Record<string, SchemaPart>>;

export const schema: Schema = [{ version: 1, name: 'baseline', ...composed(Object.values(parts)) }];
