/** What never becomes a request: bytes that are not HTTP, or too much of a head. It is answered like any refusal. */
import { connect } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type HttpTest, startHttp } from '../support/http.js';

describe('bytes on the wire', () => {
  let test: HttpTest;
  beforeAll(async () => {
    test = await startHttp('sqlite');
  });
  afterAll(() => test.close());

  /** Everything that comes back until the server closes. */
  const exchange = (bytes: string): Promise<string> =>
    new Promise((resolve, reject) => {
      const socket = connect(test.port, '127.0.0.1', () => socket.write(bytes));
      let answer = '';
      socket.setEncoding('utf8');
      socket.on('data', (chunk) => {
        answer += chunk;
      });
      socket.on('end', () => resolve(answer));
      socket.on('error', reject);
    });

  const refusal = async (bytes: string) => {
    const answer = await exchange(bytes);
    const [head, body] = answer.split('\r\n\r\n');
    return { status: Number(head!.split(' ')[1]), body: JSON.parse(body!) as { code: string; message: string } };
  };

  it.each(['nonsense\r\n\r\n', 'GET\r\n\r\n', 'GET / HTTP/1.1\r\nbad header\r\n\r\n', '\u0016\u0003\u0001\r\n\r\n'])(
    'refuses %j, which is not HTTP',
    async (bytes) => {
      expect(await refusal(bytes)).toEqual({
        status: 400,
        body: { code: 'INVALID_INPUT', message: expect.stringContaining('HTTP') },
      });
    },
  );

  it('refuses a path or headers that are too large', async () => {
    const long = 'x'.repeat(20_000);
    for (const bytes of [
      `GET /${long} HTTP/1.1\r\nhost: localhost\r\n\r\n`,
      `GET / HTTP/1.1\r\nhost: localhost\r\nx-long: ${long}\r\n\r\n`,
    ]) {
      expect(await refusal(bytes)).toMatchObject({ status: 413, body: { code: 'TOO_LARGE' } });
    }
  });

  it('refuses a body beyond its limit though each card in it is small, and takes one of exactly the limit', async () => {
    const LIMIT = 8 * 1024 * 1024;
    const small = Array.from({ length: 500 }, (_, i) => `{"card_id":"c${i}","content":"${'x'.repeat(16_000)}"}`);
    const start = `{"cards":[${small.join(',')},{"content":"`;
    const end = '"}],"atomic":true}';
    const post = (bytes: number) =>
      test.send({
        method: 'POST',
        path: '/projects/default/cards/add-batch',
        headers: { 'content-type': 'application/json' },
        body: `${start}${'x'.repeat(bytes - start.length - end.length)}${end}`,
      });
    const refused = await post(LIMIT + 1);
    expect(refused.status).toBe(413);
    expect(JSON.parse(refused.text)).toMatchObject({ code: 'TOO_LARGE', details: { limit: LIMIT } });
    expect((await test.send({ method: 'GET', path: '/projects/default/cards/c0' })).status).toBe(404);
    const taken = await post(LIMIT);
    expect(JSON.parse(taken.text)).toMatchObject({ succeeded: 501, failed: 0 });
  });

  it('goes on serving', async () => {
    expect((await test.send({ method: 'GET', path: '/api/v1/whoami' })).status).toBe(200);
    expect(test.log).toEqual([]);
  });
});
