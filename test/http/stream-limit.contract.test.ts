/** The limit of open streams, as it is on every transport. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Api } from '#cairn/client/index.js';
import { databases, type HttpTest, startHttp } from '../support/http.js';
import { SocketReader } from '../support/inspect/socket-reader.js';
import { beginRun } from '../support/nouns/executions.js';
import { refusalOf } from '../support/targets.js';

describe.each(databases())('open streams on %s', (kind) => {
  let test: HttpTest;
  let admin: Api;
  let url: string;
  beforeAll(async () => {
    test = await startHttp(kind);
    url = `http://127.0.0.1:${test.port}`;
    admin = await test.admin('default');
    await beginRun(admin, 'run');
  });
  afterAll(() => test.close());

  it('SOCKET-5, EVENT-12 beyond 1,000 streams another is refused on every transport, until one ends', async () => {
    const opened = Array.from({ length: 1000 }, () => admin.events.follow({})[Symbol.asyncIterator]());
    try {
      await Promise.all(opened.map((stream) => stream.next()));
      const refused = { code: 'OVERLOADED', message: expect.stringMatching(/^1,000 streams are already open: /) };
      expect(await refusalOf(admin.events.follow({})[Symbol.asyncIterator]().next())).toMatchObject(refused);
      for (const path of ['/api/v1/events', '/api/v1/executions/run/live']) {
        const { status, text } = await test.send({ method: 'GET', path });
        expect({ status, ...(JSON.parse(text) as object) }).toMatchObject({ status: 503, ...refused });
        const reader = new SocketReader(`${url}${path}`);
        expect(await reader.ended()).toMatchObject({
          code: 4503,
          reason: expect.stringMatching(/^OVERLOADED: 1,000 /),
        });
        expect(reader.refusal).toMatchObject(refused);
      }
      expect(test.store.figures()).toMatchObject({ streams: 1000 });
      await opened[0]!.return?.();
      const last = new SocketReader(`${url}/api/v1/events`);
      expect((await last.frame()).event).toBe('heartbeat');
      expect((await new SocketReader(`${url}/api/v1/events`).ended()).code).toBe(4503);
      last.socket.close();
      await last.ended();
    } finally {
      await Promise.all(opened.map((stream) => stream.return?.()));
    }
  });
});
