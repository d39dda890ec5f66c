/** A packet: an immutable event with lineage. Envelopes of 1.0.0 and 1.0.1 are 1.1.0 without its extensions. */
import { z } from 'zod';
import { computed, instant, jsonObject, subjectIds, text, uuid } from '../../kernel/contract.js';
export const OLDER_VERSIONS = ['1.0.0', '1.0.1'] as const;
/** The fields that 1.1.0 added. */
export const EXTENSIONS = ['thread_id', 'lineage', 'tags', 'ttl'] as const;

const derivation = z.enum(['split', 'merge', 'transform', 'inference']);

export const packetInput = z.strictObject({
  packet_id: uuid.optional().describe('Default: a new UUID'),
  packet_type: text(100, 1).describe('Semantic category: event, memory_write, reasoning_trace, insight, …'),
  timestamp: instant.optional().describe('When it happened (default: now)'),
  payload: jsonObject,
  metadata: jsonObject.optional().describe('Open object: schema_version, reasoning_mode, agent, domain, …'),
  provenance: jsonObject.optional().describe('Open object: parent_packet, source, tool, …'),
  confidence: z.strictObject({ score: z.number().min(0).max(1), rationale: text(10_000).optional() }).optional(),
  reasoning_block: jsonObject.optional(),
  routing: jsonObject.optional().describe('Open object; members with simple values can be filtered by'),
  thread_id: uuid.optional(),
  lineage: z
    .strictObject({
      parent_ids: z.array(uuid).max(1000),
      derivation_type: derivation.optional(),
      generation: z.int().min(0).optional(),
      root_packet_id: uuid.optional(),
    })
    .optional(),
  tags: z.array(text(200, 1)).max(100).optional(),
  subject_ids: subjectIds.optional(),
  ttl: instant.optional().describe('Expiry time; must be in the future'),
  seq: computed,
  recorded_at: computed,
  content_hash: computed,
});
export type PacketInput = z.output<typeof packetInput>;

export const packet = z
  .object({
    packet_id: z.string(),
    packet_type: z.string(),
    timestamp: instant,
    payload: jsonObject.optional(),
    metadata: jsonObject.optional(),
    provenance: jsonObject.optional(),
    confidence: z.object({ score: z.number(), rationale: z.string().optional() }).optional(),
    reasoning_block: jsonObject.optional(),
    routing: jsonObject.optional(),
    thread_id: z.string().optional(),
    lineage: z.object({
      parent_ids: z.array(z.string()),
      derivation_type: derivation.optional(),
      generation: z.int(),
      root_packet_id: z.string(),
    }),
    tags: z.array(z.string()).optional(),
    subject_ids: z.array(z.string()).optional(),
    ttl: instant.optional(),
    seq: z.int().describe('Position in the stream of the tenant: gapless, in commit order'),
    recorded_at: instant.describe('When it was committed; rises with seq'),
    content_hash: z.string(),
    erased: z.boolean().optional().describe('True when it expired or was erased: payload and metadata are absent'),
  })
  .meta({ id: 'Packet' });
export type Packet = z.output<typeof packet>;

export const writeResult = z
  .object({
    packet_id: z.string(),
    status: z.enum(['ok', 'partial', 'error']),
    written_tables: z.array(z.string()),
    error_message: z.string().nullable(),
  })
  .meta({ id: 'WriteResult' });
export type WriteResult = z.output<typeof writeResult>;
