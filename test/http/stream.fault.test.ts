/** Readers of the event stream that are slow, or come and go; and the heartbeats that tell them where they are. */
import { describe, expect, it } from 'vitest';
import { connectCairn } from '#cairn/client/index.js';
import { Follower } from '../support/inspect/follower.js';
import { HELD_MEMORY, heldAtMost, MEGABYTE } from '../support/inspect/held-memory.js';
import { Ledger, runLoad } from '../support/inspect/load.js';
import { SseReader } from '../support/inspect/sse-reader.js';
import { type ServerProcess, sleep, startServer, until } from '../support/server.js';
import { CuttingProxy } from '../support/stand-ins/cutting-proxy.js';
import { freshDatabase } from '../support/targets.js';

const SLOW_READERS = 10;

async function withServer(work: (server: ServerProcess) => Promise<void>, preload?: string): Promise<void> {
  const { database, drop } = await freshDatabase('sqlite');
  const server = await startServer({ database, preload });
  try {
    await work(server);
  } finally {
    expect(await server.end('SIGTERM')).toEqual({ code: 0, signal: null });
    await drop();
  }
}

async function openStreams({ url }: ServerProcess): Promise<number> {
  const text = await (await fetch(`${url}/metrics`)).text();
  return Number(/^\w*streams\w* (\d+)$/m.exec(text)![1]);
}

const upTo = (last: number): number[] => Array.from({ length: last }, (_, i) => i + 1);

describe.concurrent('the event stream', () => {
  it('fails a question to a server that crashes at once, not by a time-out', async () => {
    const { database, drop } = await freshDatabase('sqlite');
    const server = await startServer({ database, preload: HELD_MEMORY });
    const unanswered = expect(server.ask('unknown')).rejects.toThrow('ended before it sent a message');
    const watched = expect(heldAtMost(server, () => new Promise(() => undefined))).rejects.toThrow('ended before');
    expect(await server.end('SIGKILL')).toMatchObject({ signal: 'SIGKILL' });
    await Promise.all([unanswered, watched]);
    await expect(server.ask('held')).rejects.toThrow('ended before it sent a message');
    await drop();
  });

  it('disconnects readers that do not read, keeps little for them, and they go on without hole or double', () =>
    withServer(async (server) => {
      const cairn = connectCairn({ url: server.url });
      const packets = (n: number, bytes: number) =>
        Array.from({ length: n }, () => ({ packet_type: 'big', payload: { text: 'x'.repeat(bytes) } }));
      await cairn.packets.write_batch({ packets: packets(100, 20_000) });
      const healthy = new Follower(cairn);
      const slow = Array.from({ length: SLOW_READERS }, () => new SseReader(server.url));
      for (const reader of slow) {
        await reader.open();
        reader.pause();
      }
      await until('all streams to be open', async () => (await openStreams(server)) === SLOW_READERS + 1);

      // 40 MB that ten readers do not take: kept for each of them, it would be 400.
      let head = 100;
      const most = await heldAtMost(server, async () => {
        for (; head < 2100; head += 100) await cairn.packets.write_batch({ packets: packets(100, 20_000) });
        await until('the slow ones to be disconnected', async () => (await openStreams(server)) === 1, 60_000);
      });
      console.log(`held for ${SLOW_READERS} slow readers: ${Math.round(most / MEGABYTE)} MB`);
      expect(most).toBeLessThan(100 * MEGABYTE);
      expect(await healthy.endAt(head)).toEqual([]);
      expect(healthy.seqs).toEqual(upTo(head));

      for (const reader of slow.slice(0, 3)) {
        reader.resume();
        await until('the reader to learn that it was disconnected', () => reader.ended);
        expect(reader.seqs.length).toBeLessThan(head);
        await reader.open();
        await until('the reader to catch up', () => (reader.seqs.at(-1) ?? 0) >= head);
        expect(reader.seqs).toEqual(upTo(head));
        await reader.cut();
      }
      for (const reader of slow.slice(3)) await reader.cut();
      await cairn.close();
    }, HELD_MEMORY));

  it('gives a reader that reconnects with Last-Event-ID every packet once, though it breaks off anywhere', () =>
    withServer(async (server) => {
      const cairn = connectCairn({ url: server.url });
      await cairn.boxes.create({ box_id: 'box' });
      const stop = new AbortController();
      const ledger = new Ledger();
      const load = runLoad([cairn], { clients: 4, name: 'stream', box_ids: ['box'], ledger, stop: stop.signal });
      const reader = new SseReader(server.url);
      for (let n = 0; n < 40; n++) {
        await reader.open();
        await sleep(Math.random() * 60);
        await reader.cut();
      }
      stop.abort();
      await load;
      const head = (await cairn.packets.list({ limit: 1 })).packets[0]!.seq;
      await reader.open();
      await until('the reader to catch up', () => (reader.seqs.at(-1) ?? 0) >= head);
      expect(reader.seqs).toEqual(upTo(head));
      expect([...ledger.refusals]).toEqual([]);
      await reader.cut();
      await cairn.close();
    }));

  it('EVENT-3 a client follows on across more than ten broken connections, as long as events come between them', () =>
    withServer(async (server) => {
      const cairn = connectCairn({ url: server.url });
      const DROPS = 12;
      const write = () => cairn.packets.write({ packet_type: 'p', payload: {} });
      await write();
      const proxy = await CuttingProxy.before(server.url);
      const client = connectCairn({ url: proxy.url });
      const seqs: number[] = [];
      // Each connection is broken off behind the one event that it brings, and the next before it brings any.
      for await (const { packet } of client.events.follow({ after: '0' })) {
        if (!packet) continue;
        seqs.push(packet.seq);
        if (seqs.length > DROPS) break;
        proxy.cut();
        await write();
      }
      expect(seqs).toEqual(upTo(DROPS + 1));
      expect(proxy.failures).toBe(DROPS);
      await client.close();
      await proxy.close();
      await cairn.close();
    }));

  it('tells by heartbeats how far the stream has come, to a reader for whom nothing was', () =>
    withServer(async (server) => {
      const cairn = connectCairn({ url: server.url });
      const reader = new SseReader(server.url, '?packet_type=other');
      await reader.open();
      await until('the first heartbeat', () => reader.beats.length > 0);
      expect(reader.beats[0]).toMatch(/\.0$/);
      for (let n = 0; n < 5; n++) await cairn.packets.write({ packet_type: 'event', payload: { n } });
      await until('the next heartbeat', () => reader.beats.length > 1, 60_000);
      expect(reader.beats[1]).toMatch(/\.5$/);
      expect(reader.seqs).toEqual([]);
      await reader.cut();

      const next = new SseReader(server.url);
      await next.open(reader.lastId);
      await cairn.packets.write({ packet_type: 'event', payload: {} });
      await until('the next packet', () => next.seqs.length > 0);
      expect(next.seqs).toEqual([6]);
      await next.cut();
      await cairn.close();
    }));
});
