/** Which transport a stream of the client takes: WebSocket first, server-sent events where it does not work. */
import { createServer, type Server } from 'node:http';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { type ConnectOptions, connectCairn, type StreamSocket } from '#cairn/client/index.js';
import { until } from '../support/server.js';
import { refusalOf } from '../support/targets.js';

type Listener = (event: object) => void;

/** A WebSocket in the hands of a test. */
class FakeSocket implements StreamSocket {
  static readonly all: FakeSocket[] = [];
  /** What each new one does by itself. */
  static begin: (socket: FakeSocket) => void = () => {};
  readonly url: string;
  readonly protocols: readonly string[];
  closed = false;
  readonly #listeners = new Map<string, Listener>();

  constructor(url: string, protocols: string[]) {
    this.url = url;
    this.protocols = protocols;
    FakeSocket.all.push(this);
    queueMicrotask(() => FakeSocket.begin(this));
  }

  addEventListener(type: string, listener: Listener): void {
    this.#listeners.set(type, listener);
  }

  say(event: string, id: string | undefined, data: unknown = {}): void {
    this.#listeners.get('message')!({ data: JSON.stringify({ event, id, data }) });
  }

  sayRaw(data: unknown): void {
    this.#listeners.get('message')!({ data });
  }

  end(code: number, reason = ''): void {
    this.#listeners.get('close')!({ code, reason });
  }

  close(): void {
    this.closed = true;
  }
}

const fails = (socket: FakeSocket) => socket.end(1006);

/** A server of server-sent events that says where it was resumed. */
const servers: Server[] = [];
async function sseServer(answer: { status: number; body: string } | undefined = undefined) {
  const asked: string[] = [];
  const server = createServer((request, response) => {
    asked.push(request.url!);
    if (answer) return response.writeHead(answer.status).end(answer.body);
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    return response.write(`event: packet\nid: s.${asked.length}\ndata: {"over":"sse"}\n\n`);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  servers.push(server);
  return { url: `http://127.0.0.1:${(server.address() as { port: number }).port}`, asked };
}

afterEach(() => {
  FakeSocket.all.length = 0;
  FakeSocket.begin = () => {};
  for (const server of servers.splice(0)) {
    server.closeAllConnections();
    server.close();
  }
});

const open = (url: string, more: Partial<ConnectOptions> = {}) =>
  connectCairn({ url, key: 'cairn_k-1', WebSocket: FakeSocket, ...more });
const follow = (client: ReturnType<typeof open>, input: object = {}, call: object = {}) =>
  client.events.follow(input, call)[Symbol.asyncIterator]();

describe('the transport of streams', () => {
  it('SOCKET-10 is WebSocket where there is one, with the key as a subprotocol and the position in the URL', async () => {
    FakeSocket.begin = (socket) => socket.say('heartbeat', 'e.7', { latest: 'e.7' });
    const client = open('https://cairn.example/base/');
    const items = follow(client, { after: 'e.7', packet_type: 'x' });
    expect((await items.next()).value).toEqual({ token: 'e.7', packet: null });
    const [socket] = FakeSocket.all;
    expect(socket!.url).toBe('wss://cairn.example/base/api/v1/events?packet_type=x&after=e.7');
    expect(socket!.protocols).toEqual(['cairn.v1', 'cairn.key.cairn_k-1']);
    expect(socket!.url).not.toContain('cairn_k');
    socket!.say('packet', 'e.8', { seq: 8 });
    expect((await items.next()).value).toEqual({ token: 'e.8', packet: { seq: 8 } });
    // It ends: the next one resumes after the last event.
    socket!.end(1001, 'SHUTTING_DOWN: the server is stopping');
    FakeSocket.begin = (next) => next.say('packet', 'e.9', { seq: 9 });
    expect((await items.next()).value).toEqual({ token: 'e.9', packet: { seq: 9 } });
    expect(FakeSocket.all[1]!.url).toMatch(/after=e\.8$/);
    const last = items.next();
    await client.close();
    expect(await last).toEqual({ value: undefined, done: true });
    expect(FakeSocket.all.every(({ closed }) => closed)).toBe(true);
  });

  it('SOCKET-10 becomes server-sent events if the first WebSocket brings nothing, for all further streams', async () => {
    FakeSocket.begin = fails;
    const { url, asked } = await sseServer();
    const client = open(url);
    for (let n = 1; n <= 3; n++) {
      const items = follow(client, { after: '0' });
      expect((await items.next()).value).toEqual({ token: `s.${n}`, packet: { over: 'sse' } });
      await items.return?.();
    }
    expect(FakeSocket.all).toHaveLength(1);
    expect(asked).toEqual(Array<string>(3).fill('/api/v1/events?after=0'));
    await client.close();
  });

  it.each([
    [1000, ''],
    [1001, ''],
    [1002, ''],
    [1005, ''],
    [1008, 'policy of the proxy'],
    [1011, 'upstream: connection refused'],
    [1012, 'RESTARTING: again later'],
    [4000, ''],
  ])(
    'SOCKET-10 becomes server-sent events if a WebSocket closes with %i "%s" before a message',
    async (code, reason) => {
      FakeSocket.begin = (socket) => socket.end(code, reason);
      const { url } = await sseServer();
      const client = open(url);
      expect((await follow(client).next()).value).toMatchObject({ packet: { over: 'sse' } });
      expect(FakeSocket.all).toHaveLength(1);
      await client.close();
    },
  );

  it('SOCKET-10 stays on WebSocket if the server stops before a message', async () => {
    FakeSocket.begin = (socket) =>
      FakeSocket.all.length <= 3
        ? socket.end(1001, 'SHUTTING_DOWN: the server is stopping')
        : socket.say('packet', 'e.1', { over: 'socket' });
    const { url, asked } = await sseServer();
    const client = open(url);
    expect((await follow(client).next()).value).toMatchObject({ packet: { over: 'socket' } });
    expect(FakeSocket.all).toHaveLength(4);
    expect(asked).toEqual([]);
    await client.close();
  });

  it('SOCKET-10 is tried again if WebSocket has worked before', async () => {
    FakeSocket.begin = (socket) => socket.say('packet', 'e.1', {});
    const { url } = await sseServer();
    const client = open(url);
    const items = follow(client, { after: '0' });
    await items.next();
    FakeSocket.begin = fails;
    FakeSocket.all[0]!.end(1006);
    expect((await items.next()).value).toMatchObject({ packet: { over: 'sse' } });
    await items.return?.();
    FakeSocket.begin = (socket) => socket.say('packet', 'e.2', { over: 'socket' });
    const again = follow(client);
    expect((await again.next()).value).toMatchObject({ packet: { over: 'socket' } });
    await client.close();
  });

  it('SOCKET-10 a refusal is that of the server, by message, by reason, or by the answer over HTTP', async () => {
    const error = { code: 'STREAM_RESET', message: 'read again from "0"', details: { latest: 'e.3' } };
    FakeSocket.begin = (socket) => {
      socket.say('error', undefined, error);
      socket.end(4409, 'STREAM_RESET: read');
    };
    const client = open('http://127.0.0.1:1');
    expect(await refusalOf(follow(client).next())).toEqual({ ...error, status: 409 });
    FakeSocket.begin = (socket) => socket.end(4401, 'UNAUTHORIZED: this key is unknown or revoked');
    expect(await refusalOf(follow(client).next())).toMatchObject({
      code: 'UNAUTHORIZED',
      message: 'this key is unknown or revoked',
    });
    await client.close();

    FakeSocket.begin = fails;
    const { url } = await sseServer({ status: 404, body: '{"code":"ROUTE_NOT_FOUND","message":"no"}' });
    const other = open(url);
    expect(await refusalOf(follow(other).next())).toMatchObject({ code: 'ROUTE_NOT_FOUND' });
    // That says nothing about WebSocket: the next stream tries it.
    await refusalOf(follow(other).next());
    expect(FakeSocket.all).toHaveLength(4);
    await other.close();
  });

  it('SOCKET-10 a consumer that falls behind gets every event once, the rest with backpressure', async () => {
    const { url, asked } = await sseServer();
    const client = open(url);
    const items = follow(client, { after: '0' });
    const first = items.next();
    await until('the socket', () => FakeSocket.all.length === 1);
    const [socket] = FakeSocket.all;
    for (let n = 1; n <= 5000; n++) socket!.say('packet', `e.${n}`, { n });
    // Closed at once: not only when the consumer has caught up.
    await until('the end', () => socket!.closed);
    expect((await first).value).toMatchObject({ token: 'e.1' });
    let count = 1;
    let item = (await items.next()).value as { token: string; packet: object };
    for (; item.token.startsWith('e.'); item = (await items.next()).value as typeof item)
      expect(item.token).toBe(`e.${++count}`);
    expect(count).toBeGreaterThanOrEqual(1000);
    expect(count).toBeLessThan(1010);
    expect(item.packet).toEqual({ over: 'sse' });
    expect(asked).toEqual([`/api/v1/events?after=e.${count}`]);
    await client.close();
  });

  it('SOCKET-10 a message of any size is delivered, and few large ones are kept', async () => {
    const client = open('http://127.0.0.1:1', { transport: 'websocket' });
    const items = follow(client, { after: '0' });
    const first = items.next();
    await until('the socket', () => FakeSocket.all.length === 1);
    const text = 'x'.repeat(9 * 1024 * 1024);
    const [socket] = FakeSocket.all;
    for (let n = 1; n <= 4; n++) socket!.say('packet', `e.${n}`, { text: n === 1 ? text + text : text });
    expect((await first).value).toMatchObject({ token: 'e.1' });
    await until('the end', () => socket!.closed);
    FakeSocket.begin = (next) => next.say('packet', 'f.1', {});
    const tokens: string[] = [];
    while (tokens.at(-1) !== 'f.1') tokens.push(((await items.next()).value as { token: string }).token);
    // Forced to stay on WebSocket, it resumes there after what was delivered.
    expect(FakeSocket.all[1]!.url).toMatch(new RegExp(`after=${tokens.at(-2) ?? 'e.1'}$`));
    await client.close();
  });

  it('SOCKET-10 is server-sent events for calls with headers, keys that fit no subprotocol, and a fetch of one’s own', async () => {
    const { url } = await sseServer();
    const overSse = async (client: ReturnType<typeof open>, call: object = {}) => {
      const { value } = await follow(client, {}, call).next();
      expect(value).toMatchObject({ packet: { over: 'sse' } });
      await client.close();
    };
    await overSse(open(url), { agent_turn: 'a:1' });
    await overSse(open(url, { key: 'a key/of:another.kind'.replaceAll(' ', '+') }));
    await overSse(open(url, { transport: 'sse' }));
    await overSse(connectCairn({ url, fetch: (...args) => fetch(...args) }));
    expect(FakeSocket.all).toEqual([]);
  });

  it('refuses options that cannot work', () => {
    expect(() => open('http://x', { transport: 'pigeon' as 'auto' })).toThrow('`transport` must be');
    if (!('WebSocket' in globalThis))
      expect(() => connectCairn({ url: 'http://x', transport: 'websocket' })).toThrow('needs a WebSocket');
  });

  it('gives up after ten failures, and says that the WebSocket failed', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    try {
      // What is no message of Cairn counts as a failure too.
      FakeSocket.begin = (socket) => (FakeSocket.all.length === 1 ? socket.sayRaw('hello') : fails(socket));
      const client = open('http://127.0.0.1:1', { transport: 'websocket' });
      const giving = refusalOf(follow(client).next());
      await vi.advanceTimersByTimeAsync(60_000);
      expect(await giving).toMatchObject({
        code: 'SERVER_UNREACHABLE',
        message: expect.stringContaining('over WebSocket'),
      });
      expect(FakeSocket.all).toHaveLength(11);
      await client.close();
    } finally {
      vi.useRealTimers();
    }
  });

  const overloaded = { code: 'OVERLOADED', message: 'later' };
  it.each<[string, (socket: FakeSocket) => void, object]>([
    ['closes', (socket) => socket.end(1000), { code: 'SERVER_UNREACHABLE' }],
    ['is refused by a message', (socket) => socket.say('error', undefined, overloaded), overloaded],
  ])(
    'waits longer from failure to failure if each WebSocket %s before an event, and gives up',
    async (_, begin, error) => {
      vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'Date'] });
      try {
        const times: number[] = [];
        FakeSocket.begin = (socket) => {
          times.push(Date.now());
          begin(socket);
        };
        const client = open('http://127.0.0.1:1', { transport: 'websocket' });
        const giving = refusalOf(follow(client).next());
        await vi.advanceTimersByTimeAsync(60_000);
        expect(await giving).toMatchObject(error);
        expect(times).toHaveLength(11);
        const waits = times.slice(1).map((time, i) => time - times[i]!);
        expect(waits).toEqual([200, 400, 800, 1600, 3200, 5000, 5000, 5000, 5000, 5000]);
        await client.close();
      } finally {
        vi.useRealTimers();
      }
    },
  );

  it('gives up a stream of server-sent events that ends ten times without an event', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    try {
      const { url, asked } = await sseServer({ status: 200, body: ': nothing\n\n' });
      const client = open(url, { transport: 'sse' });
      let given: unknown;
      void refusalOf(follow(client).next()).then((refused) => {
        given = refused;
      });
      await vi.waitFor(async () => {
        await vi.advanceTimersByTimeAsync(5000);
        expect(given).toMatchObject({ code: 'SERVER_UNREACHABLE', message: expect.stringContaining('first event') });
      });
      expect(asked).toHaveLength(11);
      await client.close();
    } finally {
      vi.useRealTimers();
    }
  });

  it('SOCKET-10 becomes server-sent events if a WebSocket opens and nothing comes through it', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    try {
      const { url } = await sseServer();
      const client = open(url);
      const first = follow(client).next();
      await vi.advanceTimersByTimeAsync(10_000);
      expect((await first).value).toMatchObject({ packet: { over: 'sse' } });
      expect(FakeSocket.all[0]!.closed).toBe(true);
      await client.close();
    } finally {
      vi.useRealTimers();
    }
  });
});
