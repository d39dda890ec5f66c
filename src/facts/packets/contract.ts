/** Operations on packets (seed path: /api/v1/memory/packet). */
import { z } from 'zod';
import { makes, operation, reads } from '../../engine/contract.js';
import { anyId, instant, jsonObject, listOrder, pageInput, pageOutput, text, uuid } from '../../kernel/contract.js';
import { packet, packetInput, writeResult } from './model.js';

const A_THREAD = '11111111-2222-3333-4444-555555555555';
const A_PACKET = 'a1b2c3d4-e5f6-7890-abcd-ef1234567890';
const readsPackets = { method: 'GET', access: 'read', event: null } as const;
const byId = z.strictObject({ packet_id: uuid });
const packetPage = z.object({ packets: z.array(packet), ...pageOutput });

export const packets = {
  write: operation({
    method: 'POST',
    path: '/api/v1/memory/packet',
    input: packetInput,
    output: writeResult,
    access: 'write',
    touches: [makes('Packet', 'thread_id'), reads('Packet', 'named')],
    event: '(the packet itself)',
    status: 201,
    summary: 'Write a packet: an immutable event, with lineage if it has parents.',
    example: {
      packet_type: 'event',
      payload: { action: 'user_query', content: 'Find HDPE' },
      thread_id: A_THREAD,
      tags: ['hdpe', 'search'],
    },
  }),
  write_batch: operation({
    method: 'POST',
    path: '/api/v1/memory/batch',
    input: z.strictObject({ packets: z.array(packetInput).min(1).max(1000) }),
    output: z.object({ results: z.array(writeResult) }),
    access: 'write',
    touches: [makes('Packet'), reads('Packet', 'named')],
    event: '(the packets themselves)',
    status: 201,
    summary: 'Write up to 1,000 packets, all or none. A packet may have earlier ones of the batch as parents.',
    example: { packets: [{ packet_type: 'event', payload: {} }] },
  }),
  get: operation({
    ...readsPackets,
    path: '/api/v1/memory/packet/{packet_id}',
    input: byId,
    output: packet,
    touches: [reads('Packet', 'packet_id')],
    summary: 'Read one packet.',
    example: { packet_id: A_PACKET },
  }),
  original: operation({
    ...readsPackets,
    path: '/api/v1/memory/packet/{packet_id}/original',
    input: byId,
    output: jsonObject,
    touches: [reads('Packet', 'packet_id')],
    summary:
      'Read a packet as it was sent (after normalisation): without members that Cairn added, in its own schema version.',
    example: { packet_id: A_PACKET },
  }),
  list: operation({
    ...readsPackets,
    path: '/api/v1/memory/packets',
    input: z.strictObject({
      packet_type: text(100, 1).optional(),
      tag: text(200, 1).optional(),
      thread_id: uuid.optional(),
      parent_id: uuid.optional().describe('Only packets with this parent'),
      agent: text(200, 1).optional().describe('metadata.agent'),
      source: text(200, 1).optional().describe('provenance.source'),
      subject_id: anyId.optional(),
      routing: text(400, 3).optional().describe('`key:value`: routing has this member with this simple value'),
      written_by: z
        .enum(['users', 'cairn'])
        .optional()
        .describe('users: written through packets.write. cairn: the events of changes'),
      since: instant.optional().describe('Only packets with this timestamp or a later one'),
      until: instant.optional().describe('Only packets with an earlier timestamp'),
      ...pageInput,
      order: listOrder('desc'),
    }),
    output: packetPage,
    touches: [reads('Packet', 'listed')],
    summary: 'List packets by any of their indexed fields, in stream order.',
    example: { tag: 'hdpe' },
  }),
  thread: operation({
    ...readsPackets,
    path: '/api/v1/memory/thread/{thread_id}',
    input: z.strictObject({ thread_id: uuid, ...pageInput, limit: z.int().min(1).max(1000).optional() }),
    output: packetPage,
    touches: [reads('Packet', 'listed')],
    summary: 'Read a thread in order.',
    example: { thread_id: A_THREAD },
  }),
  lineage: operation({
    ...readsPackets,
    path: '/api/v1/memory/lineage/{packet_id}',
    input: z.strictObject({
      packet_id: uuid,
      direction: z.enum(['ancestors', 'descendants']).optional().describe('Default: ancestors'),
      max_depth: z.int().min(1).max(50).optional().describe('Default: 10'),
    }),
    output: z.object({
      packets: z.array(packet.extend({ depth: z.int() })),
      truncated: z.boolean().describe('True when max_depth or the limit of 1,000 packets cut the answer'),
    }),
    touches: [reads('Packet', 'packet_id'), reads('Packet', 'listed')],
    summary: 'Walk from a packet to its ancestors or descendants, nearest first.',
    example: { packet_id: A_PACKET, direction: 'ancestors' },
  }),
};
