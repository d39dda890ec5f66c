/** The schema of a store: the modules' tables as one baseline, then the migrations that were released after it. */
import { checkpointsSchema } from '../checkpoints/schema.js';
import { coordinationSchema } from '../coordination/schema.js';
import { composed, type Schema, type SchemaPart } from '../driver/schema.js';
import { engineSchema } from '../engine/schema.js';
import { factsSchema } from '../facts/schema.js';
import { identitySchema } from '../identity/schema.js';
import { indexSchema } from '../index/schema.js';
import { memorySchema } from '../memory/schema.js';
import { recallSchema } from '../recall/schema.js';

/** By module, each behind those whose tables it refers to. */
export const parts = {
  engine: engineSchema,
  identity: identitySchema,
  index: indexSchema,
  facts: factsSchema,
  memory: memorySchema,
  checkpoints: checkpointsSchema,
  recall: recallSchema,
  coordination: coordinationSchema,
} as const satisfies Readonly<Record<string, SchemaPart>>;

export const schema: Schema = [{ version: 1, name: 'baseline', ...composed(Object.values(parts)) }];
