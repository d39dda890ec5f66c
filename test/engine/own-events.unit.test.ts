/** Own events as rows: what an event was rendered to once, it is rendered to for ever. */
import { readFileSync } from 'node:fs';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { allOperations } from '#cairn/api/contract.js';
import { checksumOf, type EventColumns, renderEvent } from '#cairn/engine/writes/event-format.js';
import { type Json, type JsonObject, newId } from '#cairn/kernel/contract.js';
import { canonical, sha256 } from '#cairn/kernel/node.js';

type Fixed = EventColumns & { readonly content_hash: string };

/** An event of each kind in format 1, with the hash of the envelope that was once stored for it. Never changes. */
const fixtures = readFileSync(new URL('../fixtures/own-events-1.jsonl', import.meta.url), 'utf8')
  .trim()
  .split('\n')
  .map((line): Fixed => ({ ...(JSON.parse(line) as Fixed), format: 1 }));

/** The rendering of the versions that stored the envelope, and still that of format 1. */
function envelopeOf(event: EventColumns): string {
  const { packet_id, packet_type, agent, key_id, entity_type, entity_id, thread_id, timestamp } = event;
  const type = entity_type.replace(/(?:^|_)([a-z])/g, (_, letter: string) => letter.toUpperCase());
  return canonical({
    packet_id,
    packet_type,
    timestamp: new Date(timestamp).toISOString(),
    payload: {
      actor: { agent_id: agent, key_id },
      ...(JSON.parse(event.facts) as JsonObject),
      entity: { type, id: entity_id },
    },
    metadata: { schema_version: '1.1.0', ...(agent === null ? {} : { agent }) },
    provenance: { source: 'cairn' },
    lineage: { parent_ids: [], generation: 0, root_packet_id: packet_id },
    ...(thread_id === null ? {} : { thread_id }),
  } as Json);
}

const text = fc.string({ unit: 'binary', maxLength: 20 });
const facts = fc.dictionary(text, fc.jsonValue(), { maxKeys: 5 }).map((value) => JSON.stringify(value));
const anyEvent = fc
  .record({
    packet_type: fc.constantFrom('cairn.turn.added', 'cairn.agent_turn.lost'),
    timestamp: fc.integer({ min: 0, max: 4e12 }),
    thread_id: fc.option(fc.uuid()),
    agent: fc.option(text),
    key_id: fc.option(text),
    entity_type: fc.constantFrom('turn', 'agent_turn', 'summarization_policy'),
    entity_id: text,
    facts,
  })
  .map((columns): EventColumns => ({ ...columns, packet_id: newId(), format: 1 }));

describe('EVENT-10 an own event', () => {
  it('of format 1 has the bytes that it has always had', () => {
    for (const { content_hash, ...event } of fixtures) {
      expect(sha256(renderEvent(event)), event.packet_type).toBe(content_hash);
      expect(renderEvent(event)).toBe(envelopeOf(event));
    }
    const [first] = fixtures;
    expect(renderEvent(first!)).toBe(
      `{"lineage":{"generation":0,"parent_ids":[],"root_packet_id":"${first!.packet_id}"},` +
        '"metadata":{"agent":"ann","schema_version":"1.1.0"},' +
        `"packet_id":"${first!.packet_id}","packet_type":"cairn.agent.offline",` +
        '"payload":{"actor":{"agent_id":"ann","key_id":null},"entity":{"id":"ann","type":"Agent"},' +
        '"last_seen_at":1795034245496},"provenance":{"source":"cairn"},"timestamp":"2026-11-18T20:38:55.498Z"}',
    );
  });

  it('is fixed for every kind that an operation can append', () => {
    const fixed = new Set(fixtures.map(({ packet_type }) => packet_type));
    const kinds = allOperations.flatMap(({ event }) => event?.match(/cairn\.[a-z_]+\.[a-z_]+/g) ?? []);
    expect(kinds.length).toBeGreaterThan(50);
    expect(kinds.filter((kind) => !fixed.has(kind))).toEqual([]);
  });

  it('has the bytes of the stored envelope, whatever its facts are', () => {
    fc.assert(
      fc.property(anyEvent, (event) => {
        expect(renderEvent(event)).toBe(envelopeOf(event));
      }),
    );
  });

  it('of a format that is not known is not rendered', () => {
    expect(() => renderEvent({ ...fixtures[0]!, format: 2 })).toThrow(/format 2/);
  });

  it('has a checksum that tells when any of its columns was altered', () => {
    fc.assert(
      fc.property(anyEvent, (event) => {
        for (const name of Object.keys(event) as (keyof EventColumns)[]) {
          const value = event[name];
          const altered = typeof value === 'number' ? value + 1 : value === null ? 'x' : `${value}x`;
          expect(checksumOf({ ...event, [name]: altered })).not.toBe(checksumOf(event));
        }
      }),
    );
    for (const { content_hash: _, ...event } of fixtures) {
      const checksum = checksumOf(event);
      expect(Number.isInteger(checksum) && Math.abs(checksum) <= 2 ** 31).toBe(true);
    }
  });
});
