/** Operations that artifacts and notes share, and members of their inputs. */
import { z } from 'zod';
import { asPatch, lifetimeClass, operation, reads, writes } from '../../engine/contract.js';
import { anyId, instant, pageInput, pageOutput, uuid } from '../../kernel/contract.js';
import { abstractionLevel, agentFilter, batchOf, batchResult, READ, timeFilters } from './model.js';

const asOf = instant
  .optional()
  .describe('The state at this moment: the same answer every time, unless it was erased since');

export const listFilters = {
  agent_id: agentFilter,
  subject_id: anyId.optional().describe('Only what is about this subject'),
  trajectory_id: uuid.optional(),
  abstraction_level: abstractionLevel.optional(),
  lifetime: lifetimeClass.optional(),
  include_superseded: z.boolean().optional().describe('Include superseded entities; default: false'),
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

interface Schemas<M, H, I, P, U> {
  readonly model: M;
  readonly version: H;
  readonly input: I;
  readonly patch: P;
  readonly update: U;
  readonly examples: { readonly id: string; readonly create: Readonly<Record<string, unknown>> };
}

/** The operations on artifacts or notes by their id: read, update, delete, history, and batches. */
export function versionOperations<
  K extends 'artifact' | 'note',
  M extends z.ZodType,
  H extends z.ZodType,
  I extends z.ZodType,
  P extends z.ZodType,
  U extends z.ZodObject,
>(kind: K, { model, version, input, patch, update, examples }: Schemas<M, H, I, P, U>) {
  const type = kind === 'artifact' ? 'Artifact' : 'Note';
  const article = kind === 'artifact' ? 'an artifact' : 'a note';
  const id = `${kind}_id` as const;
  const byId = { [id]: uuid } as Record<typeof id, typeof uuid>;
  const example = { [id]: examples.id } as Record<typeof id, string>;
  const base = `/api/v1/${kind}s`;
  const path = `${base}/{${id}}`;
  return {
    get: operation({
      ...READ,
      path,
      input: z.strictObject({ ...byId, as_of: asOf }),
      output: model,
      touches: [reads(type, id)],
      summary: `Read ${article}, now or at a moment. Counts as an access.`,
      example,
    }),
    update: operation({
      method: 'PATCH',
      path,
      input: update,
      output: model,
      access: 'write',
      touches: [writes(type, id)],
      event: `cairn.${kind}.updated`,
      summary: `Update ${article}: the new version supersedes the previous one.`,
      example: { ...example, content: 'Use tokens.' },
    }),
    delete: operation({
      method: 'DELETE',
      path,
      input: z.strictObject(byId),
      output: z.void(),
      access: 'write',
      touches: [writes(type, id)],
      event: `cairn.${kind}.deleted`,
      status: 204,
      keeps_history: true,
      summary: `Delete ${article}. Its history stays: an earlier as_of still finds it, until it is forgotten.`,
      example,
    }),
    history: operation({
      ...READ,
      path: `${path}/history`,
      input: z.strictObject({ ...byId, order: pageInput.order, limit: pageInput.limit, cursor: pageInput.cursor }),
      output: z.object({ versions: z.array(version), deleted_at: instant.nullable(), ...pageOutput }),
      touches: [reads(type, id)],
      summary: `Read all versions of ${article}, oldest first, also after it was deleted.`,
      example,
    }),
    batch: operation({
      method: 'POST',
      path: `${base}/batch`,
      also: [`/api/v1/batch/${kind}s`],
      input: batchInput(byId, input, patch),
      output: batchResult(z.nullable(model)),
      access: 'write',
      touches: [writes(type, 'items')],
      event: `cairn.${kind}.*`,
      summary: `Create, update and delete up to 1,000 ${kind}s, each with its own result.`,
      example: { items: [{ operation: 'create', create: examples.create }] },
    }),
  };
}
