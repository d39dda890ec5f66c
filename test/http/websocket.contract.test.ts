/** Streams over WebSocket as they are on the wire: handshake, messages, keys, pages of other sites, what clients may not do. */
import { connect } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { ClientOptions } from 'ws';
import { Store } from '#cairn/api/index.js';
import { createServer } from '#cairn/http/index.js';
import { databases, type HttpTest, startHttp } from '../support/http.js';
import { SocketReader } from '../support/inspect/socket-reader.js';
import { beginRun } from '../support/nouns/executions.js';
import { sleep, until } from '../support/server.js';
import { freshDatabase } from '../support/targets.js';

/** Sends bytes as they are; gives what was answered when the connection ended, or after `ms`. */
function rawAnswer(port: number, bytes: string, ms = 1000): Promise<string> {
  return new Promise((resolve, reject) => {
    const socket = connect(port, '127.0.0.1', () => socket.write(bytes, 'latin1'));
    let text = '';
    socket.setEncoding('latin1').on('data', (chunk) => {
      text += chunk;
    });
    const timer = setTimeout(() => socket.destroy(), ms);
    socket.on('error', reject).on('close', () => {
      clearTimeout(timer);
      resolve(text);
    });
  });
}

const handshake = (path: string, more: Readonly<Record<string, string>> = {}): string => {
  const headers = {
    Host: 'localhost',
    Connection: 'Upgrade',
    Upgrade: 'websocket',
    'Sec-WebSocket-Version': '13',
    'Sec-WebSocket-Key': 'dGhlIHNhbXBsZSBub25jZQ==',
    ...more,
  };
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}`);
  return `GET ${path} HTTP/1.1\r\n${lines.join('\r\n')}\r\n\r\n`;
};

describe.each(databases())('streams over WebSocket on %s', (kind) => {
  let test: HttpTest;
  let url: string;
  const open = (path: string, protocols?: readonly string[], options?: ClientOptions) =>
    new SocketReader(`${url}${path}`, protocols, options);

  beforeAll(async () => {
    test = await startHttp(kind);
    url = `http://127.0.0.1:${test.port}`;
    const admin = await test.admin('default');
    const add = await beginRun(admin, 'run');
    await add('a', { messages: ['eins 😀'] });
    await admin.packets.write({ packet_type: 'event', payload: { text: 'ü "quoted" \n 😀' } });
    await admin.agents.register({ agent_id: 'bob', agent_type: 'x', capabilities: ['x'] });
    await admin.messages.send({ from_agent_id: 'bob', to_agent_id: 'bob', message_type: 'info', payload: 'hello' });
  });
  afterAll(() => test.close());

  it.each([
    ['/api/v1/events?after=0', 3],
    ['/api/v1/executions/run/live', 1],
  ])('SOCKET-1 %s sends the events, ids and data of server-sent events', async (path, count) => {
    const { text } = await test.send({ method: 'GET', path }, path.includes('live') ? '\n\n' : '"packet_type":"event"');
    const events = text
      .split('\n\n')
      .slice(0, count)
      .map((frame) => {
        const [, event, id, data] = /^event: (\w+)\nid: (\S+)\ndata: (.*)$/.exec(frame)!;
        return `{"event":"${event}","id":"${id}","data":${data}}`;
      });
    expect(events).toHaveLength(count);
    const reader = open(path);
    const messages: string[] = [];
    reader.socket.on('message', (data, binary) => messages.push(binary ? 'binary' : String(data)));
    await reader.frame(count);
    expect(messages.slice(0, count)).toEqual(events);
    expect(reader.socket.protocol).toBe('cairn.v1');
    expect(reader.socket.extensions).toBe('');
    reader.socket.close();
    await reader.ended();
  });

  it('SOCKET-1 a message of every stream arrives; the id of one resumes after it, by `after` and by Last-Event-ID', async () => {
    const mailbox = open('/api/v1/messages/stream?agent_id=bob');
    await until('the message', () => mailbox.frames.some(({ event }) => event === 'message'));
    mailbox.socket.close();

    const all = open('/api/v1/events?after=0');
    const second = await all.frame(2);
    const third = await all.frame(3);
    all.socket.close();
    for (const resumed of [
      open(`/api/v1/events?after=${second.id}`),
      open('/api/v1/events', undefined, { headers: { 'last-event-id': second.id! } }),
    ]) {
      expect((await resumed.frame(1)).event).toBe('heartbeat');
      expect(await resumed.frame(2)).toEqual(third);
      resumed.socket.close();
    }
  });

  it('SOCKET-1 a large message arrives whole', async () => {
    const admin = await test.admin('default');
    const add = await beginRun(admin, 'large');
    const messages = Array.from({ length: 40 }, (_, i) => `${i} ${'ü😀'.repeat(20_000)}`);
    await add('large-1', { messages });
    const reader = open('/api/v1/executions/large/live');
    const { event, data } = await reader.frame();
    expect(event).toBe('snapshot');
    expect(data).toMatchObject({ snapshot: { context: { messages: messages.map((content) => ({ content })) } } });
    reader.socket.close();
  });

  it('SOCKET-4 a refusal is an error message and a close code, with the error of the same request over HTTP', async () => {
    for (const path of [
      '/api/v1/events?after=nonsense',
      '/api/v1/events?after=0123456789abcdef.7',
      '/api/v1/events?unknown=1',
      '/api/v1/executions/none/live',
      `/api/v1/executions/${'ü'.repeat(100)}/live`,
      '/api/v1/messages/stream?agent_id=bob&lease_ms=soon',
    ]) {
      const encoded = encodeURI(path);
      const answer = await test.send({ method: 'GET', path: encoded });
      const error = JSON.parse(answer.text) as { code: string; message: string };
      const reader = open(encoded);
      const { code, reason } = await reader.ended();
      expect(reader.frames).toEqual([{ event: 'error', data: error }]);
      expect(code).toBe(4000 + answer.status);
      expect(Buffer.byteLength(reason!)).toBeLessThanOrEqual(123);
      expect(`${error.code}: ${error.message}`.startsWith(reason!)).toBe(true);
      expect(reason!.length).toBeGreaterThan(20);
    }
  });

  it('SOCKET-6 a malformed handshake is 400, with the version that is spoken', async () => {
    const refused = async (headers: Readonly<Record<string, string>>) => {
      const text = await rawAnswer(test.port, handshake('/api/v1/events', headers));
      expect(text).toMatch(/^HTTP\/1\.1 400 /);
      expect(text.toLowerCase()).toContain('connection: close');
      expect(text.toLowerCase()).toContain('x-content-type-options: nosniff');
      return JSON.parse(text.split('\r\n\r\n')[1]!) as { code: string; message: string };
    };
    for (const version of ['8', '12', '013', '13, 8', ''])
      expect(await refused({ 'Sec-WebSocket-Version': version })).toMatchObject({ code: 'INVALID_INPUT' });
    expect(await rawAnswer(test.port, handshake('/api/v1/events', { 'Sec-WebSocket-Version': '8' }))).toMatch(
      /^sec-websocket-version: 13\r$/im,
    );
    for (const key of ['', 'short', 'dGhlIHNhbXBsZSBub25jZQ', 'x'.repeat(1000)])
      expect((await refused({ 'Sec-WebSocket-Key': key })).message).toMatch(/Sec-WebSocket-Key/);
    for (const protocols of ['other', 'cairn.v1, cairn.v1', 'cairn.v1,,', 'cairn v1', 'cairn.key.x'])
      expect((await refused({ 'Sec-WebSocket-Protocol': protocols })).message).toMatch(/Sec-WebSocket-Protocol/);
    // No body belongs to a handshake, and none is waited for.
    const begun = performance.now();
    await refused({ 'Sec-WebSocket-Version': '8', 'Content-Length': '100' });
    expect(performance.now() - begun).toBeLessThan(900);
  });

  it('SOCKET-6 other paths answer as without the offer to upgrade, and the connection closes', async () => {
    const answers = async (path: string) => (await open(path).ended()).answer!;
    expect(await answers('/api/v1/nothing')).toMatchObject({ status: 404, text: expect.stringContaining('ROUTE_NOT') });
    expect(await answers('/api/v1/executions')).toMatchObject({ status: 200, headers: { connection: 'close' } });
    expect((await answers('/api/v1/remember')).status).toBe(405);
    expect((await answers('/health/live')).status).toBe(200);
  });

  it('SOCKET-6 an offer of another protocol is ignored, with a body and on a connection that is kept', async () => {
    const body = JSON.stringify({ packet_type: 'h2c', payload: { text: 'ü'.repeat(50_000) } });
    const bytes = Buffer.from(body).toString('latin1');
    const request =
      'POST /api/v1/memory/packet HTTP/1.1\r\nHost: localhost\r\nConnection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\n' +
      `HTTP2-Settings: AAMAAABkAAQ\r\nContent-Type: application/json\r\nContent-Length: ${bytes.length}\r\n\r\n${bytes}`;
    const warnings: string[] = [];
    const warn = (warning: Error) => warnings.push(warning.message);
    process.on('warning', warn);
    const statuses = await new Promise<string[]>((resolve, reject) => {
      const seen: string[] = [];
      const socket = connect(test.port, '127.0.0.1', () => socket.write(request, 'latin1'));
      socket.on('error', reject).on('data', (chunk) => {
        seen.push(...(String(chunk).match(/HTTP\/1\.1 \d+/g) ?? []));
        if (seen.length < 15) socket.write(request, 'latin1');
        else socket.end(() => resolve(seen));
      });
    });
    expect(statuses).toEqual(Array<string>(15).fill('HTTP/1.1 201'));
    expect(await rawAnswer(test.port, request.replace('POST', 'PATCH'))).toMatch(/^HTTP\/1\.1 405/);
    // With another method a WebSocket is not offered.
    expect(await rawAnswer(test.port, handshake('/api/v1/events').replace('GET', 'DELETE'))).toMatch(/^HTTP\/1\.1 405/);
    process.off('warning', warn);
    expect(warnings).toEqual([]);
  });

  it('SOCKET-7 a stream takes no messages', async () => {
    const invalid = { code: 4400, reason: expect.stringMatching(/^INVALID_INPUT: a stream takes no messages/) };
    for (const message of ['hello', '{"key":"cairn_x"}', Buffer.from([1, 2, 3]), '']) {
      const reader = open('/api/v1/events');
      await reader.frame();
      reader.socket.send(message);
      expect(await reader.ended()).toEqual(invalid);
      expect(reader.refusal).toMatchObject({ code: 'INVALID_INPUT' });
    }
    // Also if it comes before the stream is open, and if many do.
    const eager = open('/api/v1/events');
    eager.socket.on('open', () => {
      for (let i = 0; i < 1000; i++) eager.socket.send('x');
    });
    expect(await eager.ended()).toEqual(invalid);
  });

  it('SOCKET-7 violations of the protocol close with the code for them', async () => {
    const huge = open('/api/v1/events');
    await huge.frame();
    huge.socket.send('x'.repeat(1024 * 1024));
    expect((await huge.ended()).code).toBe(1009);

    const ends = async (...bytes: number[]) => {
      const reader = open('/api/v1/events');
      await reader.frame();
      (reader.socket as unknown as { _socket: { write(data: Buffer): void } })._socket.write(Buffer.from(bytes));
      return (await reader.ended()).code;
    };
    expect(await ends(0x81, 0x01, 0x61)).toBe(1002); // not masked
    expect(await ends(0xf1, 0x81, 0, 0, 0, 0, 0x61)).toBe(1002); // reserved bits
    expect(await ends(0x83, 0x80, 0, 0, 0, 0)).toBe(1002); // an unknown opcode
    expect(await ends(0x81, 0x81, 0, 0, 0, 0, 0xff)).toBe(1007); // not UTF-8
    expect(await ends(0x81, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0, 0, 0, 0)).toBe(1009); // 2^64 bytes
  });

  it('leaves no stream open that a client has left, and counts streams by status', async () => {
    await expect.poll(() => test.store.figures()).toMatchObject({ streams: 0 });
    const { text } = await test.send({ method: 'GET', path: '/metrics' });
    for (const status of [101, 400])
      expect(text).toMatch(
        new RegExp(`^cairn_requests_total\\{operation="events.follow",status="${status}"\\} \\d+$`, 'm'),
      );
    expect(text).toMatch(/^cairn_requests_total\{operation="executions.live",status="404"\} \d+$/m);
    expect(test.log).toEqual([]);
  });

  it('SOCKET-3 without keys, only pages of this machine are served', async () => {
    const hostile: Record<string, string>[] = [
      { host: 'evil.example' },
      { host: 'localhost.evil.example' },
      { origin: 'https://evil.example' },
      { origin: 'null' },
      { origin: 'file://' },
      { host: 'evil.example', origin: 'https://evil.example' },
      { 'sec-fetch-site': 'cross-site' },
    ];
    for (const headers of hostile) {
      const { answer } = await open('/api/v1/events', undefined, { headers }).ended();
      expect(answer, JSON.stringify(headers)).toMatchObject({ status: 403 });
      expect(JSON.parse(answer!.text)).toMatchObject({ code: 'HOST_REFUSED' });
    }
    for (const origin of ['http://localhost:5173', 'http://127.0.0.1', 'http://[::1]:8080']) {
      const reader = open('/api/v1/events', undefined, { origin });
      await reader.frame();
      reader.socket.close();
    }
  });
});

describe.each(databases())('WebSocket with keys on %s', (kind) => {
  let server: ReturnType<typeof createServer>;
  let store: Store;
  let url: string;
  let key: string;
  let drop: () => Promise<void>;
  const log: string[] = [];
  const open = (protocols: readonly string[], headers: Record<string, string> = {}, path = '/api/v1/events') =>
    new SocketReader(`${url}${path}`, protocols, { headers });

  beforeAll(async () => {
    const fresh = await freshDatabase(kind);
    drop = fresh.drop;
    store = await Store.open({ database: fresh.database, sweep_every_ms: 0 });
    server = createServer(store, {
      version: 'test',
      log: (line) => log.push(line),
      allowed_origins: ['https://app.example'],
      wrong_keys_per_minute: 3,
    });
    url = `http://127.0.0.1:${await server.listen({ host: '127.0.0.1', port: 0 })}`;
    const admin = store.api({ tenant_id: 'default', agent_id: null, role: 'admin', key_id: null });
    key = (await admin.keys.create({ role: 'read' })).key;
  });
  afterAll(async () => {
    await server.close();
    await store.close();
    await drop();
  });

  it('SOCKET-2 the key is in a header, in a subprotocol or in the first message, and is never repeated', async () => {
    const byHeader = open([], { authorization: `Bearer ${key}` });
    const byOther = open(['cairn.v1'], { 'x-api-key': key });
    const byProtocol = open(['cairn.v1', `cairn.key.${key}`]);
    const byBoth = open([`cairn.key.${key}`, 'cairn.v1'], { 'x-api-key': key });
    const byMessage = open(['cairn.v1']);
    byMessage.socket.on('open', () => byMessage.socket.send(JSON.stringify({ key })));
    for (const reader of [byHeader, byOther, byProtocol, byBoth, byMessage]) {
      expect((await reader.frame()).event).toBe('heartbeat');
      expect(JSON.stringify(reader.frames)).not.toContain(key);
    }
    expect(byHeader.socket.protocol).toBe('');
    expect(byProtocol.socket.protocol).toBe('cairn.v1');
    expect(byBoth.socket.protocol).toBe('cairn.v1');
    // The key was the one message.
    byMessage.socket.send(JSON.stringify({ key }));
    expect(await byMessage.ended()).toMatchObject({ code: 4400 });
    for (const reader of [byHeader, byOther, byProtocol, byBoth]) reader.socket.close();
  });

  it('SOCKET-2 different keys, and a key in the URL, are refused', async () => {
    for (const reader of [
      open(['cairn.v1', `cairn.key.${key}`], { 'x-api-key': `${key}x` }),
      open(['cairn.v1', `cairn.key.${key}`, `cairn.key.${key}x`]),
    ])
      expect((await reader.ended()).answer).toMatchObject({ status: 401 });
    for (const name of ['key', 'token', 'access_token', 'api_key', 'authorization']) {
      const reader = open(['cairn.v1', `cairn.key.${key}`], {}, `/api/v1/events?${name}=${key}`);
      expect(await reader.ended()).toMatchObject({ code: 4400 });
      expect(reader.refusal).toMatchObject({ code: 'INVALID_INPUT' });
    }
  });

  it('SOCKET-2 a key that does not come within five seconds, or is no key, is 4401', async () => {
    const begun = performance.now();
    const silent = open(['cairn.v1']);
    const unauthorized = { code: 4401, reason: expect.stringMatching(/^UNAUTHORIZED: /) };
    for (const message of ['hello', '"key"', '{}', '{"key":7}', '{"key":"x","more":1}', 'null', '[]']) {
      const reader = open(['cairn.v1']);
      reader.socket.on('open', () => reader.socket.send(message));
      expect(await reader.ended(), message).toEqual(unauthorized);
      expect(reader.refusal).toMatchObject({ message: 'the first message must be {"key": "<key>"}' });
    }
    expect(await silent.ended(8000)).toEqual(unauthorized);
    expect(performance.now() - begun).toBeGreaterThan(4900);
    expect(silent.refusal).toMatchObject({ message: expect.stringContaining('within 5 s') });
  });

  it('SOCKET-3 with keys, pages of this machine, of the same host and of allowed origins may connect', async () => {
    const protocols = ['cairn.v1', `cairn.key.${key}`];
    const welcome: Record<string, string>[] = [
      { origin: 'https://app.example' },
      { origin: 'http://localhost:3000' },
      { host: 'cairn.example', origin: 'https://cairn.example' },
      { host: 'cairn.example:8443', origin: 'https://cairn.example:8443' },
      { host: 'cairn.example' },
    ];
    for (const headers of welcome) {
      const reader = open(protocols, headers);
      await reader.frame();
      reader.socket.close();
    }
    const foreign: Record<string, string>[] = [
      { origin: 'https://evil.example' },
      { origin: 'http://app.example' },
      { origin: 'https://app.example:8443' },
      { origin: 'https://app.example.evil.example' },
      { host: 'cairn.example', origin: 'https://cairn.example.evil.example' },
    ];
    const refusal = async (headers: Record<string, string>) => {
      const { answer } = await open(protocols, headers).ended();
      expect(answer, JSON.stringify(headers)).toMatchObject({ status: 403 });
      return answer!.text;
    };
    for (const headers of foreign) expect(await refusal(headers)).toContain(`--allowed-origins ${headers.origin}`);
    // These cannot be allowed.
    for (const origin of ['null', 'file://', 'HTTPS://app.example', 'https://app.example/', 'https://a, https://b'])
      expect(await refusal({ host: 'cairn.example', origin })).toContain('serve the page from a site');
  });

  it('SOCKET-5 AUTH-1 AUTH-2 wrong keys are logged and slowed down, and a valid one is not', async () => {
    log.length = 0;
    const wrong = (n: number) => {
      const reader = open(n % 2 ? ['cairn.v1'] : ['cairn.v1', `cairn.key.wrong-${n}`]);
      if (n % 2) reader.socket.on('open', () => reader.socket.send(`{"key":"wrong-${n}"}`));
      return reader;
    };
    const readers = Array.from({ length: 24 }, (_, n) => wrong(n));
    const reader = open(['cairn.v1', `cairn.key.${key}`]);
    await reader.frame();
    reader.socket.close();
    const codes = await Promise.all(readers.map(async (one) => (await one.ended()).code));
    expect(new Set(codes)).toEqual(new Set([4401, 4429]));
    expect(codes.filter((code) => code === 4401).length).toBeGreaterThanOrEqual(8);
    expect(readers.find(({ end }) => end?.code === 4429)!.refusal).toMatchObject({
      code: 'TOO_MANY_ATTEMPTS',
      details: { retry_after_s: expect.any(Number) },
    });
    expect(log[0]).toBe('wrong key from 127.0.0.1 for GET /api/v1/events (1 within a minute)');
    expect(log.join()).not.toContain('wrong-');
  });

  it('SOCKET-9 a server that stops closes all sockets as going away, also those that wait for a key', async () => {
    const fresh = await freshDatabase(kind);
    const own = await Store.open({ database: fresh.database, sweep_every_ms: 0 });
    const stopped = createServer(own, { version: 'test' });
    const at = `http://127.0.0.1:${await stopped.listen({ host: '127.0.0.1', port: 0 })}/api/v1/events`;
    const reading = new SocketReader(at);
    await reading.frame();
    const deaf = new SocketReader(at);
    await deaf.frame();
    deaf.socket.pause();
    const admin = own.api({ tenant_id: 'default', agent_id: null, role: 'admin', key_id: null });
    await admin.keys.create({});
    const waiting = new SocketReader(at);
    await until('the handshake', () => waiting.socket.readyState === waiting.socket.OPEN);
    await sleep(50);
    const begun = performance.now();
    await stopped.close();
    // The deaf one does not answer the close frame: it is given a second.
    expect(performance.now() - begun).toBeLessThan(3000);
    const away = { code: 1001, reason: 'SHUTTING_DOWN: the server is stopping' };
    expect(await reading.ended()).toEqual(away);
    expect(await waiting.ended()).toEqual(away);
    deaf.socket.resume();
    expect(await deaf.ended()).toEqual(away);
    await own.close();
    await fresh.drop();
  });
});
