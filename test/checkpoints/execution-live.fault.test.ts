/** WebSocket streams under faults: connections that break, readers that do not read, peers that are dead, servers that stop. */
import { readFileSync } from 'node:fs';
import { connect } from 'node:net';
import { describe, expect, it } from 'vitest';
import type { Snapshot } from '#cairn/checkpoints/contract.js';
import { applyChanges } from '#cairn/checkpoints/states/patch.js';
import { type CairnClient, connectCairn } from '#cairn/client/index.js';
import type { Json } from '#cairn/kernel/contract.js';
import { canonical } from '#cairn/kernel/node.js';
import { type Database, databases } from '../support/http.js';
import { Follower } from '../support/inspect/follower.js';
import { HELD_MEMORY, heldAtMost, MEGABYTE } from '../support/inspect/held-memory.js';
import { SocketReader } from '../support/inspect/socket-reader.js';
import { beginRun, thought } from '../support/nouns/executions.js';
import { type ServerProcess, sleep, startServer, until } from '../support/server.js';
import { CuttingProxy } from '../support/stand-ins/cutting-proxy.js';
import { freshDatabase, socketOption } from '../support/targets.js';

const CUTS = 25;

async function withServer(
  kind: Database,
  work: (server: ServerProcess) => Promise<void>,
  preload?: string,
): Promise<void> {
  const { database, drop } = await freshDatabase(kind);
  const server = await startServer({ database, preload });
  try {
    await work(server);
  } finally {
    expect(await server.end('SIGTERM')).toEqual({ code: 0, signal: null });
    await drop();
  }
}

async function figure({ url }: ServerProcess, pattern: RegExp): Promise<number> {
  return Number(pattern.exec(await (await fetch(`${url}/metrics`)).text())?.[1] ?? 0);
}
const openStreams = (server: ServerProcess) => figure(server, /^\w*streams\w* (\d+)$/m);

const upTo = (last: number): number[] => Array.from({ length: last }, (_, i) => i + 1);
const packets = (n: number, bytes: number) =>
  Array.from({ length: n }, () => ({ packet_type: 'big', payload: { text: 'x'.repeat(bytes) } }));

/**
 * A reader that reads again at once after it was disconnected, and so gets what was sent, and why it ended. It has 5 s for
 * that, which a busy machine may need: then another one tries.
 */
async function readerThatIsTold(server: ServerProcess): Promise<SocketReader> {
  for (let attempts = 1; ; attempts++) {
    const reader = new SocketReader(`${server.url}/api/v1/events?after=0`);
    await reader.frame();
    reader.socket.pause();
    await until('this one to be disconnected', async () => (await openStreams(server)) === 1, 60_000);
    reader.socket.resume();
    const { code } = await reader.ended();
    if (code === 4503 || attempts === 5) return reader;
  }
}

/** Rebuilds the state of a run from its live view. */
class Viewer {
  state: Snapshot | undefined;
  at: string | undefined;
  readonly ended: Promise<void>;
  readonly #stop = new AbortController();

  constructor(client: CairnClient) {
    this.ended = this.#follow(client);
  }

  async #follow(client: CairnClient): Promise<void> {
    for await (const item of client.executions.live({ execution_id: 'run' }, { signal: this.#stop.signal })) {
      if (item.snapshot) this.state = item.snapshot;
      else if (item.changes) {
        expect(item.from_checkpoint_id).toBe(this.at);
        this.state = applyChanges(this.state as unknown as Json, item.changes) as unknown as Snapshot;
      }
      this.at = item.checkpoint?.id ?? this.at;
    }
  }

  async stop(): Promise<void> {
    this.#stop.abort();
    await this.ended;
  }
}

for (const kind of databases())
  describe.concurrent(`streams over WebSocket on ${kind}`, () => {
    it.each(['websocket', 'auto'] as const)(
      `SOCKET-10 a client with the transport %s rebuilds the exact state of a run across ${CUTS} broken connections`,
      (transport) =>
        withServer(kind, async (server) => {
          const cairn = connectCairn({ url: server.url });
          const proxy = await CuttingProxy.before(server.url);
          const client = connectCairn({ url: proxy.url, transport, ...socketOption() });
          const add = await beginRun(cairn, 'run');
          const viewer = new Viewer(client);
          viewer.ended.catch(() => undefined);
          const follower = new Follower(client);
          let cuts = 0;
          const messages: string[] = [];
          for (let step = 0; step < 150; step++) {
            // Long enough that a message is often under way when the connection breaks.
            messages.push(`${step} ${'ü😀'.repeat(step % 3 ? 200 : 40_000)}`);
            if (messages.length > 20) messages.splice(0, 15);
            await add(`c${step}`, { messages, thoughts: [thought(`t${step}`, 0.5)], variables: { step } });
            if (step % 6 === 5 && cuts < CUTS) {
              await until('both streams to be open', () => proxy.open >= 2);
              await sleep(Math.random() * 20);
              proxy.cut();
              cuts++;
            }
          }
          const head = (await cairn.packets.list({ limit: 1 })).packets[0]!.seq;
          expect(await follower.endAt(head)).toEqual([]);
          expect(follower.seqs).toEqual(upTo(head));
          await until('the last checkpoint', () => viewer.at === 'c149');
          const stored = await cairn.checkpoints.get({ checkpoint_id: 'c149' });
          const canonicalOf = (state: unknown) => canonical(state as Json);
          expect(canonicalOf(viewer.state)).toBe(canonicalOf(stored.snapshot));
          expect(proxy.broken).toBeGreaterThanOrEqual(2 * CUTS);
          expect(proxy.failures).toBeGreaterThanOrEqual(CUTS - 1);
          const opened = await figure(server, /operation="events.follow",status="101"\} (\d+)$/m);
          console.log(`${transport} on ${kind}: ${proxy.broken} connections broken, ${opened} WebSockets of events`);
          expect(opened).toBeGreaterThanOrEqual(transport === 'websocket' ? CUTS / 2 : 1);
          await viewer.stop();
          await client.close();
          await proxy.close();
          await cairn.close();
        }),
      240_000,
    );

    it(
      'SOCKET-8 a reader that does not read is disconnected with a reason, and little is kept for it',
      () =>
        withServer(
          kind,
          async (server) => {
            const cairn = connectCairn({ url: server.url });
            await cairn.packets.write_batch({ packets: packets(100, 20_000) });
            const healthy = new Follower(connectCairn({ url: server.url, transport: 'websocket', ...socketOption() }));
            const slow = Array.from({ length: 10 }, () => new SocketReader(`${server.url}/api/v1/events?after=0`));
            for (const reader of slow) {
              await reader.frame();
              reader.socket.pause();
            }
            await until('all streams to be open', async () => (await openStreams(server)) === slow.length + 1);
            let head = 100;
            const most = await heldAtMost(server, async () => {
              for (; head < 2100; head += 100) await cairn.packets.write_batch({ packets: packets(100, 20_000) });
              await until('the slow ones to be disconnected', async () => (await openStreams(server)) === 1, 60_000);
            });
            console.log(`held for ${slow.length} slow readers on ${kind}: ${Math.round(most / MEGABYTE)} MB`);
            expect(most).toBeLessThan(100 * MEGABYTE);
            const told = await readerThatIsTold(server);
            expect(await told.ended()).toEqual({
              code: 4503,
              reason: 'SLOW_READER: the reader did not keep up: resume from the last event',
            });
            expect(told.refusal).toMatchObject({ code: 'SLOW_READER' });
            expect(told.seqs.length).toBeLessThan(head);
            expect(await healthy.endAt(head)).toEqual([]);
            const { id } = told.frames.findLast(({ event }) => event === 'packet')!;
            const resumed = new SocketReader(`${server.url}/api/v1/events?after=${id}`);
            await until('the rest', () => (resumed.seqs.at(-1) ?? 0) >= head);
            expect([...told.seqs, ...resumed.seqs]).toEqual(upTo(head));
            resumed.socket.close();
            // The others do not read the reason either: their connections are dropped.
            await sleep(5500);
            for (const reader of slow) reader.socket.resume();
            for (const reader of slow) expect((await reader.ended()).code).toBe(1006);
            await cairn.close();
          },
          HELD_MEMORY,
        ),
      240_000,
    );

    it(
      'SOCKET-8 a peer that answers no ping is disconnected, and one that does is not',
      () =>
        withServer(kind, async (server) => {
          const alive = new SocketReader(`${server.url}/api/v1/events`);
          const dead = new SocketReader(`${server.url}/api/v1/events`, ['cairn.v1'], { autoPong: false });
          let pings = 0;
          dead.socket.on('ping', () => pings++);
          const begun = performance.now();
          expect(await dead.ended(60_000)).toMatchObject({ code: 1006 });
          expect(performance.now() - begun).toBeGreaterThan(40_000);
          expect(pings).toBe(2);
          expect(alive.end).toBeUndefined();
          // The first message, and a heartbeat after 15, 30 and 45 seconds.
          expect(alive.frames.filter(({ event }) => event === 'heartbeat').length).toBeGreaterThanOrEqual(3);
          alive.socket.close();
          await until('the streams to end', async () => (await openStreams(server)) === 0);
        }),
      90_000,
    );

    it(
      'SOCKET-9 a thousand connections that come and go leave nothing, and those that are open do not hold up a stop',
      () =>
        withServer(kind, async (server) => {
          const { port } = new URL(server.url);
          const sockets = (): number =>
            readFileSync(`/proc/${server.pid}/net/tcp`, 'utf8')
              .split('\n')
              .filter((line) => line.includes(`:${Number(port).toString(16).toUpperCase().padStart(4, '0')} `))
              .filter((line) => line.trim().split(/\s+/)[3] === '01').length;
          for (let round = 0; round < 20; round++)
            await Promise.all(
              Array.from({ length: 50 }, async (_, i) => {
                const reader = new SocketReader(`${server.url}/api/v1/events`);
                if (i % 5 === 0) {
                  // In the middle of the handshake, or just before it.
                  await sleep(Math.random() * 10);
                  reader.socket.terminate();
                } else {
                  await reader.frame();
                  if (i % 2) reader.socket.terminate();
                  else reader.socket.close();
                }
                await reader.ended();
              }),
            );
          await until('the streams to end', async () => (await openStreams(server)) === 0);
          // One of them is the request for the figures.
          await until('the sockets to close', () => sockets() <= 4);

          // Of those that are open when it stops, some do not read and some never finish their handshake.
          const readers = Array.from({ length: 20 }, () => new SocketReader(`${server.url}/api/v1/events`));
          for (const reader of readers) await reader.frame();
          for (const reader of readers.slice(10)) reader.socket.pause();
          const half = connect(Number(port), '127.0.0.1', () =>
            half.write('GET /api/v1/events HTTP/1.1\r\nUpgrade: webs'),
          );
          half.on('error', () => undefined);
          await sleep(100);
          const begun = performance.now();
          expect(await server.end('SIGTERM')).toEqual({ code: 0, signal: null });
          expect(performance.now() - begun).toBeLessThan(7000);
          for (const reader of readers.slice(0, 10)) expect(await reader.ended()).toMatchObject({ code: 1001 });
          for (const reader of readers) reader.socket.terminate();
          half.destroy();
        }),
      90_000,
    );
  });
