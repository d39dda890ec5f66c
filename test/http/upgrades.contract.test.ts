/** Upgrades that wait: behind the answers to pipelined requests, for a key, or for a reader while the server stops. */
import { connect, type Socket } from 'node:net';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { Store } from '#cairn/api/index.js';
import { createServer } from '#cairn/http/index.js';
import { SocketReader } from '../support/inspect/socket-reader.js';
import { sleep, until } from '../support/server.js';
import { freshDatabase } from '../support/targets.js';

const WEBSOCKET = {
  Connection: 'Upgrade',
  Upgrade: 'websocket',
  'Sec-WebSocket-Version': '13',
  'Sec-WebSocket-Key': 'dGhlIHNhbXBsZSBub25jZQ==',
};
const H2C = { Connection: 'Upgrade', Upgrade: 'h2c' };

const get = (path: string, headers: Readonly<Record<string, string>> = {}): string =>
  `GET ${path} HTTP/1.1\r\nHost: localhost\r\n${Object.entries(headers)
    .map(([name, value]) => `${name}: ${value}\r\n`)
    .join('')}\r\n`;

describe('upgrades', () => {
  let server: ReturnType<typeof createServer>;
  let store: Store;
  let port: number;
  let drop: () => Promise<void>;
  let closed: boolean;
  const sockets: Socket[] = [];
  const warnings: string[] = [];
  const log: string[] = [];
  const warn = (warning: Error) => warnings.push(warning.message);

  beforeEach(async () => {
    const fresh = await freshDatabase('sqlite');
    drop = fresh.drop;
    store = await Store.open({ database: fresh.database, sweep_every_ms: 0 });
    server = createServer(store, { version: 'test', log: (line) => log.push(line) });
    port = await server.listen({ host: '127.0.0.1', port: 0 });
    closed = false;
    process.on('warning', warn);
  });
  const stop = async () => {
    closed = true;
    await server.close();
  };
  afterEach(async () => {
    for (const socket of sockets.splice(0)) socket.destroy();
    if (!closed) await server.close();
    await store.close();
    await drop();
    process.off('warning', warn);
    expect(warnings.splice(0)).toEqual([]);
    expect(log.splice(0).filter((line) => !line.includes('already wait for their key'))).toEqual([]);
  });
  const admin = () => store.api({ tenant_id: 'default', agent_id: null, role: 'admin', key_id: null });
  const at = (path: string) => `http://127.0.0.1:${port}${path}`;

  /** Sends bytes on one connection; `text` grows with the answers. */
  const send = (bytes: string): { text: string; readonly socket: Socket } => {
    const socket = connect(port, '127.0.0.1', () => socket.write(bytes, 'latin1'));
    const seen = { text: '', socket };
    socket.setEncoding('latin1').on('error', () => undefined);
    socket.on('data', (chunk) => {
      seen.text += String(chunk);
    });
    sockets.push(socket);
    return seen;
  };
  const statuses = (text: string): string[] => text.match(/(?<=HTTP\/1\.1 )\d+/g) ?? [];

  it.each([
    ['three offers', [H2C, H2C, H2C]],
    ['a request, then offers', [{}, H2C, H2C]],
    ['offers between requests', [{}, {}, H2C, {}, H2C, {}]],
    ['many offers', Array<typeof H2C>(60).fill(H2C)],
  ])('SOCKET-6 pipelined requests are all answered, in order: %s', async (_, headers) => {
    const paths = headers.map((_one, i) => `/api/v1/nothing-${i}`);
    const seen = send(headers.map((one, i) => get(paths[i]!, one)).join(''));
    await until('all answers', () => statuses(seen.text).length === headers.length);
    expect(seen.text.match(/\/api\/v1\/nothing-\d+/g)).toEqual(paths);
    expect(seen.socket.destroyed).toBe(false);
    // The connection is still of use.
    seen.socket.write(get('/health/live'));
    await until('one more', () => statuses(seen.text).at(-1) === '200');
  });

  it('SOCKET-6 a body that is pipelined behind an offer is read', async () => {
    const body = '{"packet_type":"event","payload":{}}';
    const post = `POST /api/v1/memory/packet HTTP/1.1\r\nHost: localhost\r\nConnection: Upgrade\r\nUpgrade: h2c\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body}`;
    const seen = send(post.repeat(5));
    await until('all answers', () => statuses(seen.text).length === 5);
    expect(statuses(seen.text)).toEqual(Array<string>(5).fill('201'));
    expect((await admin().packets.list({})).total).toBe(5);
  });

  it('SOCKET-6 a WebSocket may be pipelined behind requests', async () => {
    const seen = send(get('/health/live') + get('/health/live', H2C) + get('/api/v1/events', WEBSOCKET));
    await until('the first message', () => seen.text.includes('"heartbeat"'));
    expect(statuses(seen.text)).toEqual(['200', '200', '101']);
  });

  it('SOCKET-6 a client that leaves or a server that stops leaves no pipelined upgrade behind', async () => {
    const waits = get('/api/v1/events') + get('/api/v1/events', WEBSOCKET) + get('/health/live', H2C);
    const gone = send(waits);
    await until('the stream', () => gone.text.includes('heartbeat'));
    gone.socket.resetAndDestroy();
    const stays = send(waits);
    await until('the stream', () => stays.text.includes('heartbeat'));
    await expect.poll(() => store.figures()).toMatchObject({ streams: 1 });
    const begun = performance.now();
    await stop();
    expect(performance.now() - begun).toBeLessThan(3000);
  });

  it('SOCKET-9 a reader that takes nothing does not delay a server that stops', async () => {
    const packet = { packet_type: 'big', payload: { text: 'x'.repeat(900_000) } };
    for (let n = 0; n < 15; n++) await admin().packets.write(packet);
    const slow = [send(get('/api/v1/events?after=0')), send(get('/api/v1/events?after=0', WEBSOCKET))];
    for (const { socket } of slow) socket.pause();
    await expect.poll(() => store.figures()).toMatchObject({ streams: 2 });
    // Until the buffers of the system are full.
    await sleep(500);
    const begun = performance.now();
    await stop();
    expect(performance.now() - begun).toBeLessThan(3000);
  });

  it('SOCKET-9 does not pile up listeners for sockets that neither send a key nor answer a close frame', async () => {
    await admin().keys.create({});
    const silent = Array.from({ length: 15 }, () => send(get('/api/v1/events', WEBSOCKET)));
    const refused = () => silent.every(({ text }) => text.includes('UNAUTHORIZED'));
    await until('the refusals', refused, 10_000);
    const begun = performance.now();
    await stop();
    expect(performance.now() - begun).toBeLessThan(3000);
  });

  it('SOCKET-11 256 WebSockets wait for a key at once; further ones are 503, unless they bring one', async () => {
    const { key } = await admin().keys.create({});
    const waiting = Array.from({ length: 256 }, () => send(get('/api/v1/events', WEBSOCKET)));
    await until('the handshakes', () => waiting.every(({ text }) => text.includes(' 101 ')));
    const over = send(get('/api/v1/events', WEBSOCKET));
    await until('the refusal', () => over.text.includes('OVERLOADED'));
    expect(over.text).toMatch(/^HTTP\/1\.1 503 /);
    const keyed = new SocketReader(at('/api/v1/events'), ['cairn.v1', `cairn.key.${key}`]);
    await keyed.frame();
    keyed.socket.close();
    // One that leaves makes room, and so does one whose key is accepted.
    waiting[0]!.socket.destroy();
    const sends = async () => {
      const reader = new SocketReader(at('/api/v1/events'));
      await until('an end or a handshake', () => reader.end !== undefined || reader.socket.readyState === 1);
      if (reader.end) return undefined;
      reader.socket.send(JSON.stringify({ key }));
      await reader.frame();
      return reader;
    };
    await until('room', async () => (await sends()) !== undefined);
    const again = await sends();
    expect(again?.frames[0]).toMatchObject({ event: 'heartbeat' });
    again!.socket.close();
  });
});
