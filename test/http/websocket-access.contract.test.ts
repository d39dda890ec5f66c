/** Who is refused over WebSocket, for every stream of the table: whoever is over HTTP, with the same error. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { connectCairn } from '#cairn/client/index.js';
import { allOperations, inputOf, type Planted, plant, SECRET } from '../support/contract.js';
import { databases, type HttpTest, requestOf, startHttp } from '../support/http.js';
import { SocketReader } from '../support/inspect/socket-reader.js';
import { sleep } from '../support/server.js';
import { openTarget, refusalOf, socketOption } from '../support/targets.js';

const streams = allOperations.filter(({ stream }) => stream);

it('there are streams', () => {
  expect(streams.map(({ name }) => name).sort()).toEqual(['events.follow', 'executions.live', 'messages.stream']);
});

for (const database of databases()) {
  describe(`access over WebSocket on ${database}`, () => {
    let test: HttpTest;
    let planted: Planted;
    const keys: Record<string, string> = {};

    beforeAll(async () => {
      test = await startHttp(database);
      const admin = await test.admin('alpha');
      planted = await plant(admin, 'ann');
      keys.admin = (await test.key('alpha', 'admin')).key;
      keys.read = (await test.key('alpha', 'read')).key;
      keys.beta = (await test.key('beta', 'admin')).key;
      const gone = await test.key('alpha', 'admin');
      await admin.keys.revoke({ key_id: gone.key_id });
      keys.revoked = gone.key;
      keys.none = (await test.key('alpha', 'write', 'bob')).key;
      await admin.agents.update({ agent_id: 'bob', memory_access: { read: [], write: [] } });
      keys.unregistered = (await admin.keys.create({ role: 'write', agent_id: 'carl' })).key;
      await admin.agents.unregister({ agent_id: 'carl' });
    });
    afterAll(() => test.close());

    /** Answers over both, sent the same way: by headers. */
    const both = async (
      operation: (typeof streams)[number],
      headers: Readonly<Record<string, string>>,
      input: Planted,
    ) => {
      const sent = requestOf(operation, input, 'alpha');
      const reply = await test.send({ ...sent, headers: { ...sent.headers, ...headers } });
      const reader = new SocketReader(`http://127.0.0.1:${test.port}${sent.path}`, ['cairn.v1'], { headers });
      return { reply, reader };
    };

    describe.each(streams.map((operation) => [operation.name, operation] as const))('%s', (_, operation) => {
      it.each([
        ['an unknown key', () => ({ authorization: `Bearer ${keys.admin}x` })],
        ['a revoked key', () => ({ 'x-api-key': keys.revoked! })],
        ['another tenant in the header', () => ({ authorization: `Bearer ${keys.admin}`, 'x-tenant-id': 'beta' })],
        ['a stale agent_turn', () => ({ authorization: `Bearer ${keys.admin}`, 'x-agent-turn': 'nonsense' })],
      ])('SOCKET-5 refuses %s', async (_name, headers) => {
        const { reply, reader } = await both(operation, headers(), inputOf(operation, planted));
        expect(reply.status, reply.text).toBeGreaterThanOrEqual(400);
        expect(await reader.ended()).toMatchObject({ code: 4000 + reply.status });
        expect(reader.frames).toEqual([{ event: 'error', data: JSON.parse(reply.text) }]);
      });

      it.each(['beta', 'read', 'none', 'unregistered'])(
        'SOCKET-5 the key %s sees what it sees over HTTP',
        async (name) => {
          // Whoever acts for others names them; an agent acts as itself.
          const { agent_id: _agent, ...input } = inputOf(operation, planted);
          const own = name === 'beta' || name === 'read' ? inputOf(operation, planted) : input;
          const { reply, reader } = await both(operation, { authorization: `Bearer ${keys[name]}` }, own);
          if (reply.status === 200) {
            expect((await reader.frame()).event).toBe(/^event: (\w+)/.exec(reply.text)![1]);
            await sleep(100);
            expect(reader.end).toBeUndefined();
            if (name !== 'read') expect(JSON.stringify(reader.frames)).not.toContain(SECRET);
            reader.socket.close();
          } else {
            expect(await reader.ended()).toMatchObject({ code: 4000 + reply.status });
            expect(reader.refusal).toEqual(JSON.parse(reply.text));
          }
        },
      );
    });

    it('SOCKET-5 an execution of another tenant, or beyond the rights of the agent, is refused', async () => {
      const live = streams.find(({ name }) => name === 'executions.live')!;
      const codes: unknown[] = [];
      for (const name of ['beta', 'none', 'unregistered']) {
        const { reader } = await both(live, { authorization: `Bearer ${keys[name]}` }, inputOf(live, planted));
        codes.push((await reader.ended()).code);
        expect(JSON.stringify(reader.frames)).not.toContain(SECRET);
      }
      expect(codes).toEqual([4404, 4403, 4403]);
    });
  });
}

// That an agent which loses its rights sees nothing more, test/memory/memory-access.test.ts has on this transport too.
describe('a key that is revoked while a stream is open', () => {
  it('SOCKET-5 KEY-5 shows nothing more once the key is revoked', async () => {
    const test = await openTarget('http');
    try {
      const { key, key_id } = await test.cairn.keys.create({ role: 'read' });
      const reader = connectCairn({ url: test.url!, key, transport: 'websocket', ...socketOption() });
      const seen: number[] = [];
      const reading = (async () => {
        for await (const { packet } of reader.events.follow({ after: '0' })) if (packet) seen.push(packet.seq);
      })();
      reading.catch(() => undefined);
      await expect.poll(() => seen.length).toBeGreaterThan(0);
      await test.cairn.keys.revoke({ key_id });
      await sleep(1100);
      const before = seen.length;
      await test.cairn.packets.write({ packet_type: 'secret', payload: {} });
      expect(await refusalOf(reading)).toMatchObject({ code: 'UNAUTHORIZED', status: 401 });
      expect(seen).toHaveLength(before);
      await reader.close();
    } finally {
      await test.close();
    }
  });
});
