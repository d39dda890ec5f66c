/** `cairn tail`: one readable line for each packet. */
import { describe, expect, it } from 'vitest';
import { describeEvent } from '#cairn/cli/tail.js';
import type { Packet } from '#cairn/facts/contract.js';

describe('an event on one line', () => {
  const packet = (more: Partial<Packet>): Packet => ({
    packet_id: '0197a000-0000-7000-8000-000000000001',
    packet_type: 'event',
    timestamp: '2026-01-31T12:00:00.000Z',
    lineage: { parent_ids: [], generation: 0, root_packet_id: '0197a000-0000-7000-8000-000000000001' },
    seq: 7,
    recorded_at: '2026-01-31T12:00:01.234Z',
    content_hash: 'h',
    ...more,
  });

  it('says when, where in the stream, what and about what', () => {
    const payload = { entity: { type: 'Box', id: 'b1' }, actor: { agent_id: 'ann', key_id: null }, revision: 2 };
    expect(describeEvent(packet({ packet_type: 'cairn.box.appended', payload }))).toBe(
      '12:00:01.234 #7 cairn.box.appended Box b1 {"revision":2} by ann',
    );
  });

  it('leaves out what is not there', () => {
    expect(describeEvent(packet({}))).toBe('12:00:01.234 #7 event');
    expect(describeEvent(packet({ payload: {} }))).toBe('12:00:01.234 #7 event');
    const tenant = { entity: { type: 'Card', id: 'c' }, actor: { agent_id: null, key_id: null } };
    expect(describeEvent(packet({ payload: tenant }))).toBe('12:00:01.234 #7 event Card c');
    expect(describeEvent(packet({ erased: true }))).toBe('12:00:01.234 #7 event (erased)');
  });

  it('shows tags and the beginning of a payload of any kind', () => {
    const line = describeEvent(packet({ tags: ['a', 'b'], payload: { text: 'x'.repeat(500) } }));
    expect(line).toMatch(/^12:00:01\.234 #7 event \[a, b\] \{"text":"x+…$/);
    expect(line.length).toBeLessThan(160);
    expect(describeEvent(packet({ payload: { entity: 'mine', actor: 7 } }))).toContain('#7 event');
  });

  it('stays one line, whatever a packet is called', () => {
    const line = describeEvent(
      packet({
        packet_type: 'a\nb\u001b[2J',
        tags: ['x\r\ny'],
        payload: { a: '\n\u009b2J', entity: { type: '\u001b', id: '\n' }, actor: { agent_id: '\r' } },
      }),
    );
    // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what must not reach a terminal
    expect(line).not.toMatch(/[\u0000-\u001f\u007f-\u009f]/);
  });
});
