/** Reading a stream: server-sent events cut anywhere, and one readable line for each packet. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { describeEvent } from '#cairn/cli/tail.js';
import { readEvents, type ServerEvent } from '#cairn/client/sse.js';
import type { Packet } from '#cairn/facts/contract.js';

/** A body that comes in the given pieces. */
function bodyOf(pieces: readonly Uint8Array[]): ReadableStream<Uint8Array> {
  return new ReadableStream({
    start(controller) {
      for (const piece of pieces) controller.enqueue(piece);
      controller.close();
    },
  });
}

async function read(pieces: readonly Uint8Array[]): Promise<ServerEvent[]> {
  const events: ServerEvent[] = [];
  for await (const event of readEvents(bodyOf(pieces))) events.push(event);
  return events;
}

const bytes = (text: string): Uint8Array => new TextEncoder().encode(text);

describe('server-sent events', () => {
  const text =
    'event: heartbeat\nid: e.0\ndata: {"latest":"e.0"}\n\n' +
    'event: packet\nid: e.1\ndata: {"text":"ü 😀 \\n\\n data: x"}\n\n' +
    ': a comment\n\n' +
    'data:first\ndata: second\n\n' +
    'event: error\ndata: {"code":"SLOW_READER"}\n\n';
  const events: ServerEvent[] = [
    { event: 'heartbeat', id: 'e.0', data: '{"latest":"e.0"}' },
    { event: 'packet', id: 'e.1', data: '{"text":"ü 😀 \\n\\n data: x"}' },
    { event: 'message', id: undefined, data: 'first\nsecond' },
    { event: 'error', id: undefined, data: '{"code":"SLOW_READER"}' },
  ];

  it('are read whole', async () => {
    expect(await read([bytes(text)])).toEqual(events);
  });

  it('are read byte by byte, and cut in two anywhere, within a character too', async () => {
    const all = bytes(text);
    expect(await read([...all].map((byte) => Uint8Array.of(byte)))).toEqual(events);
    for (let cut = 0; cut <= all.length; cut++) expect(await read([all.slice(0, cut), all.slice(cut)])).toEqual(events);
  });

  it('are read in any pieces', async () => {
    const all = bytes(text);
    await fc.assert(
      fc.asyncProperty(fc.array(fc.nat(all.length), { maxLength: 10 }), async (cuts) => {
        const edges = [0, ...cuts.sort((a, b) => a - b), all.length];
        const pieces = edges.slice(1).map((edge, i) => all.slice(edges[i], edge));
        expect(await read(pieces)).toEqual(events);
      }),
    );
  });

  it('that did not arrive whole are not given', async () => {
    expect(await read([bytes('event: packet\nid: e.1\ndata: {"a":1}\n')])).toEqual([]);
    expect(await read([])).toEqual([]);
    expect(await read([bytes('id: e.2\n\n\n\ndata: x\n\n')])).toEqual([{ event: 'message', id: undefined, data: 'x' }]);
  });
});

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
