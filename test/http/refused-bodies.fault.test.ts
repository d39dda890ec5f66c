/** A body that is refused before it has come in: every client sees the answer, never a connection that was cut. */
import { once } from 'node:events';
import { request } from 'node:http';
import { connect } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openCairn } from '#cairn/cairndb.js';
import { connectCairn } from '#cairn/client/index.js';
import { type ServerProcess, startServer } from '../support/server.js';
import { freshDatabase } from '../support/targets.js';

const MIB = 1024 * 1024;
const json = { 'content-type': 'application/json' };
const cardOf = (bytes: number): string => JSON.stringify({ content: 'x'.repeat(bytes) });

describe('bodies that are refused', () => {
  let server: ServerProcess;
  let fresh: Awaited<ReturnType<typeof freshDatabase>>;
  beforeAll(async () => {
    fresh = await freshDatabase('sqlite');
    server = await startServer({ database: fresh.database });
  });
  afterAll(async () => {
    await server.end('SIGTERM');
    await fresh.drop();
  });

  const post = (body: string | ReadableStream) =>
    fetch(`${server.url}/projects/default/cards`, {
      method: 'POST',
      headers: json,
      body,
      duplex: 'half',
    } as RequestInit);

  /** Everything that comes back over a socket until the server closes, or the answer is whole. */
  async function exchange(head: string, send: (socket: ReturnType<typeof connect>) => void): Promise<string> {
    const { hostname, port } = new URL(server.url);
    const socket = connect(Number(port), hostname);
    await once(socket, 'connect');
    let answer = '';
    socket.setEncoding('utf8').on('data', (chunk: string) => (answer += chunk));
    socket.on('error', () => undefined);
    socket.write(`${head}\r\n\r\n`);
    send(socket);
    await once(socket, 'close');
    return answer;
  }

  it('LOAD-3 fetch sees 413 every time, however far the body is over the limit', async () => {
    const seen = new Map<string, number>();
    for (const mib of [8.1, 9, 12, 20, 40])
      for (let i = 0; i < 5; i++) {
        const { status, body } = await post(cardOf(mib * MIB)).then(
          async (answer) => ({ status: answer.status, body: (await answer.json()) as { code: string } }),
          (error: Error) => ({ status: String(error.cause), body: { code: error.message } }),
        );
        const outcome = `${status} ${body.code}`;
        seen.set(outcome, (seen.get(outcome) ?? 0) + 1);
      }
    expect(Object.fromEntries(seen)).toEqual({ '413 TOO_LARGE': 25 });
  });

  it('LOAD-3 the client reports TOO_LARGE with the limit, and goes on on the same connection', async () => {
    const cairn = connectCairn({ url: server.url });
    for (let i = 0; i < 10; i++) {
      const refused = cairn.cards.add({ content: 'x'.repeat((9 + i) * MIB) });
      await expect(refused).rejects.toMatchObject({ code: 'TOO_LARGE', status: 413, details: { limit: 8 * MIB } });
      expect(await cairn.auth.whoami()).toMatchObject({ tenant_id: 'default' });
    }
    await cairn.close();
  });

  it('LOAD-3 a body of unknown length is refused in the same way', async () => {
    for (let i = 0; i < 8; i++) {
      const chunks = Array.from({ length: 12 + i }, () => Buffer.alloc(MIB, 'x'));
      const stream = new ReadableStream({
        pull: (controller) => {
          const chunk = chunks.pop();
          if (chunk) controller.enqueue(chunk);
          else controller.close();
        },
      });
      const answer = await post(stream);
      expect([answer.status, ((await answer.json()) as { code: string }).code]).toEqual([413, 'TOO_LARGE']);
    }
  });

  it('LOAD-4 with Expect: 100-continue a body over the limit is refused before it is sent', async () => {
    const answer = await exchange(
      `POST /projects/default/cards HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\n` +
        `content-length: ${20 * MIB}\r\nexpect: 100-continue`,
      () => undefined,
    );
    expect(answer).toMatch(/^HTTP\/1\.1 413 /);
    expect(answer.toLowerCase()).toContain('connection: close');
  });

  it('LOAD-4 a body within the limit is asked for, and stored', async () => {
    const body = JSON.stringify({ content: 'asked for' });
    const outgoing = request(`${server.url}/projects/default/cards`, {
      method: 'POST',
      headers: { ...json, 'content-length': String(body.length), expect: '100-continue' },
    });
    outgoing.flushHeaders();
    await once(outgoing, 'continue');
    outgoing.end(body);
    const [answer] = await once(outgoing, 'response');
    expect(answer.statusCode).toBe(201);
    answer.resume();
  });

  it('LOAD-3 a sender that never ends gets its answer, and then the end of the connection', async () => {
    const chunk = Buffer.alloc(MIB, 'x');
    const answer = await exchange(
      `POST /projects/default/cards HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\n` +
        `content-length: ${1000 * MIB}`,
      (socket) => {
        // Sends as fast as it is taken, and stops once it is answered.
        const more = () => {
          while (socket.writable && !socket.destroyed && socket.bytesRead === 0 && socket.write(chunk));
          if (socket.bytesRead > 0) socket.end();
          else if (!socket.destroyed) socket.once('drain', more);
        };
        socket.once('data', () => socket.end());
        more();
      },
    );
    expect(answer).toMatch(/^HTTP\/1\.1 413 /);
    expect(answer).toContain('TOO_LARGE');
  });

  it('LOAD-3 other refusals are seen as well: another media type, a wrong key', async () => {
    const body = cardOf(30 * MIB);
    const plain = { method: 'POST', headers: { 'content-type': 'text/plain' }, body: cardOf(7 * MIB) };
    expect((await fetch(`${server.url}/projects/default/cards`, plain)).status).toBe(415);
    const { database, drop } = await freshDatabase('sqlite');
    const cairn = await openCairn({ database });
    await cairn.keys.create({ role: 'write' });
    await cairn.close();
    const closed = await startServer({ database });
    const headers = { ...json, authorization: 'Bearer wrong' };
    for (let i = 0; i < 5; i++)
      expect((await fetch(`${closed.url}/projects/default/cards`, { method: 'POST', headers, body })).status).toBe(401);
    await closed.end('SIGTERM');
    await drop();
  });

  it('LOAD-2 a body of more than 200,000 values is 413 before it is parsed; one with fewer is taken', async () => {
    const refused = await post(`{"content":[${'[],'.repeat(1_000_000)}[]]}`);
    expect(refused.status).toBe(413);
    expect(await refused.json()).toMatchObject({ code: 'TOO_LARGE', details: { max_values: 200_000 } });
    const members = (count: number) =>
      JSON.stringify(Object.fromEntries(Array.from({ length: count }, (_, i) => [`k${i}`, 0])));
    expect((await post(members(500_000))).status).toBe(413);
    const unknown = await post(members(100_000));
    expect(unknown.status).toBe(400);
    expect((await unknown.text()).length).toBeLessThan(1000);
    // The body, content, and 199,998 items in it.
    expect((await post(`{"content":[${'0,'.repeat(199_997)}0]}`)).status).toBe(201);
    expect((await post(`{"content":[${'0,'.repeat(199_998)}0]}`)).status).toBe(413);
  });
});
