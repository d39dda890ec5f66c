/** Operations on edges. */
import { z } from 'zod';
import { operation, reads, writes } from '../../engine/contract.js';
import { anyId, pageInput, pageOutput, uuid } from '../../kernel/contract.js';
import { batchOf, batchResult, READ, timeFilters } from '../versions/model.js';
import { edge, edgeInput, edgeType, entityType } from './model.js';

const AN_EDGE = '0190a1b2-c3d4-7e5f-8a9b-0c1d2e3f4a60';
const AN_INPUT = {
  edge_type: 'Supports',
  participants: [
    { entity_type: 'Artifact', entity_id: '0190a1b2-c3d4-7e5f-8a9b-0c1d2e3f4a5e' },
    { entity_type: 'Note', entity_id: '0190a1b2-c3d4-7e5f-8a9b-0c1d2e3f4a5f' },
  ],
};
const byId = { edge_id: uuid };

export const edges = {
  create: operation({
    method: 'POST',
    path: '/api/v1/edges',
    input: edgeInput,
    output: edge,
    access: 'write',
    touches: [writes('Edge', 'named')],
    event: 'cairn.edge.created',
    status: 201,
    summary: 'Link entities. Supersedes and DerivedFrom edges must not form a cycle.',
    example: AN_INPUT,
  }),
  get: operation({
    ...READ,
    path: '/api/v1/edges/{edge_id}',
    input: z.strictObject(byId),
    output: edge,
    touches: [reads('Edge', 'named')],
    summary: 'Read one edge.',
    example: { edge_id: AN_EDGE },
  }),
  list: operation({
    ...READ,
    path: '/api/v1/edges',
    input: z.strictObject({
      edge_type: edgeType.optional(),
      entity_id: anyId.optional().describe('Only edges of this entity'),
      entity_type: entityType.optional().describe('Type of entity_id; not without it'),
      created_after: timeFilters.created_after,
      created_before: timeFilters.created_before,
      ...pageInput,
    }),
    output: z.object({ edges: z.array(edge), ...pageOutput }),
    touches: [reads('Edge', 'listed')],
    summary: 'List edges, in the order of their ids.',
    example: { edge_type: 'Supports' },
  }),
  traverse: operation({
    ...READ,
    path: '/api/v1/edges/traverse',
    input: z.strictObject({
      entity_id: anyId,
      entity_type: entityType,
      edge_type: edgeType.optional().describe('Follow only edges of this type'),
      direction: z.enum(['out', 'in', 'both']).optional().describe('out: from A; in: towards A; default: both'),
      max_depth: z.int().min(1).max(20).optional().describe('Default: 3'),
      limit: z.int().min(1).max(1000).optional().describe('Maximum number of entities; default: 100'),
    }),
    output: z.object({
      entities: z
        .array(z.object({ entity_type: entityType, entity_id: z.string(), depth: z.int() }))
        .describe('Nearest first, without the start'),
      edges: z.array(edge).describe('The edges that lead to them'),
      truncated: z.boolean().describe('True if max_depth, limit or the size of the answer left some out'),
    }),
    touches: [reads('Edge', 'listed')],
    summary: 'Traverse the edges of an entity.',
    example: { entity_id: '0190a1b2-c3d4-7e5f-8a9b-0c1d2e3f4a5e', entity_type: 'Artifact' },
  }),
  delete: operation({
    method: 'DELETE',
    path: '/api/v1/edges/{edge_id}',
    input: z.strictObject(byId),
    output: z.void(),
    access: 'write',
    touches: [writes('Edge', 'named')],
    event: 'cairn.edge.deleted',
    status: 204,
    summary: 'Delete an edge.',
    example: { edge_id: AN_EDGE },
  }),
  batch: operation({
    method: 'POST',
    path: '/api/v1/edges/batch',
    input: batchOf(
      z.discriminatedUnion('operation', [
        z.strictObject({ operation: z.literal('create'), create: edgeInput }),
        z.strictObject({ operation: z.literal('delete'), ...byId }),
      ]),
    ),
    output: batchResult(edge.nullable()),
    access: 'write',
    touches: [writes('Edge', 'items')],
    event: 'cairn.edge.*',
    summary: 'Create and delete up to 1,000 edges, each with its own result.',
    example: { items: [{ operation: 'create', create: AN_INPUT }] },
  }),
};
