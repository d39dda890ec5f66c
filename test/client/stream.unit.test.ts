/** Reading a stream: server-sent events cut anywhere. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { readEvents, type ServerEvent } from '#cairn/client/sse.js';

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
