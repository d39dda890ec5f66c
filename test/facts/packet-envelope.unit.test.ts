/** Building an envelope from the texts of its members, and restoring the packet as it was sent. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { completedTexts, differenceOf, memberTexts, originalOf, textOf } from '#cairn/facts/packets/envelope.js';
import type { PacketInput } from '#cairn/facts/packets/model.js';
import type { Json, JsonObject } from '#cairn/kernel/contract.js';
import { canonical } from '#cairn/kernel/node.js';

const TIME = Date.parse('2026-01-01T00:00:00Z');
const object = fc.dictionary(fc.string({ unit: 'binary', maxLength: 5 }), fc.jsonValue(), { maxKeys: 3 });
const time = fc.constantFrom('2026-01-01T00:00:00Z', '2026-01-01T00:00:00.000Z', '2026-01-01T01:00:00+01:00');
const metadata = fc
  .record(
    { schema_version: fc.constantFrom('1.0.1', '1.1.0'), agent: fc.constantFrom('ann', null), more: object },
    { requiredKeys: [] },
  )
  .map((value) => value as JsonObject);
const sentPacket = fc
  .record(
    {
      packet_id: fc.uuid(),
      packet_type: fc.string({ unit: 'binary', minLength: 1 }),
      timestamp: time,
      payload: object,
      metadata,
      routing: object,
      thread_id: fc.uuid(),
      lineage: fc.record({ parent_ids: fc.array(fc.uuid(), { maxLength: 2 }) }),
      tags: fc.array(fc.string()),
      subject_ids: fc.array(fc.string(), { maxLength: 2 }),
      ttl: time,
    },
    { requiredKeys: ['packet_type', 'payload'] },
  )
  .map((value) => value as unknown as PacketInput);

describe('an envelope', () => {
  it('is the canonical JSON of the completed packet, and PACKET-15 gives back what was sent', () => {
    fc.assert(
      fc.property(sentPacket, fc.uuid(), fc.option(fc.constant('ann')), (sent, id, agent) => {
        const packet_id = sent.packet_id ?? id;
        const metadata = { ...sent.metadata, ...(agent === null ? {} : { agent }), schema_version: '1.1.0' };
        const subject_ids = [...(sent.subject_ids ?? []), 'inherited'].slice(0, 2);
        const parent_ids = sent.lineage?.parent_ids ?? [];
        const expires_at = sent.ttl === undefined ? null : TIME;
        const place = { generation: 2, parent_ids, root_packet_id: id };
        const texts = memberTexts(sent);
        const own = { packet_id, timestamp: TIME, expires_at, subject_ids, derivation: 'split', ...place };
        const completed = completedTexts({ ...own, metadata: canonical(metadata) });
        const envelope = textOf(texts, completed);
        expect(textOf(texts)).toBe(canonical(sent as unknown as Json));
        const iso = new Date(TIME).toISOString();
        const whole = {
          ...sent,
          ...{ packet_id, metadata, subject_ids, timestamp: iso, lineage: { derivation_type: 'split', ...place } },
          ...(expires_at === null ? {} : { ttl: iso }),
        };
        expect(envelope).toBe(canonical(whole as unknown as Json));
        const difference = differenceOf(sent, texts, { ...sent, metadata }, completed);
        expect(canonical(originalOf(envelope, difference))).toBe(canonical(sent as unknown as Json));
      }),
      { numRuns: 500 },
    );
  });
});
