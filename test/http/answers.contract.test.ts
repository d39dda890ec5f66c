/** What every answer of the server carries, whatever it says. */
import { connect } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { allOperations } from '../support/contract.js';
import { type HttpTest, type Reply, requestOf, type Sent, startHttp } from '../support/http.js';

describe('headers', () => {
  let test: HttpTest;
  beforeAll(async () => {
    test = await startHttp('sqlite');
  });
  afterAll(() => test.close());

  const expectHeaders = ({ headers }: Reply, what: string) =>
    expect({ what, sniff: headers['x-content-type-options'], cache: headers['cache-control'] }).toEqual({
      what,
      sniff: 'nosniff',
      cache: 'no-store',
    });

  it.each(allOperations.map((operation) => [operation.name, operation] as const))(
    'HTTP-1 %s is answered with nosniff and no-store, whatever the answer is',
    async (name, operation) => {
      const { waits, stream, example } = operation;
      const input = waits ? { ...example, nonsense: true } : stream ? { ...example, after: '0' } : example;
      expectHeaders(await test.send(requestOf(operation, input, 'default')), name);
    },
  );

  it('HTTP-3 a deletion says that the history remains, and how to forget it', async () => {
    const api = test.store.api({ tenant_id: 'default', agent_id: null, role: 'admin', key_id: null });
    const headers = { authorization: `Bearer ${(await test.key('default')).key}` };
    const { id: note_id } = await api.memory.remember({ text: 'It stays in the history.' });
    const { card_id } = await api.cards.add({ content: 'in sealed boxes' });
    for (const path of [`/api/v1/notes/${note_id}`, `/projects/default/cards/${card_id}`]) {
      const reply = await test.send({ method: 'DELETE', path, headers });
      expect([reply.status, reply.headers['x-history']]).toEqual([204, 'kept; erase it with POST /api/v1/forget']);
    }
    expect((await api.notes.history({ note_id })).versions).toHaveLength(1);
    const { trajectory_id } = await api.trajectories.create({ name: 'gone' });
    const path = `/api/v1/trajectories/${trajectory_id}`;
    const reply = await test.send({ method: 'DELETE', path, headers });
    expect([reply.status, reply.headers['x-history']]).toEqual([204, undefined]);
  });

  it('HTTP-1 pages, figures and refusals have them, too', async () => {
    const refusals: Sent[] = [
      { method: 'GET', path: '/nowhere' },
      { method: 'PUT', path: '/api/v1/whoami' },
      { method: 'GET', path: '/%zz' },
      { method: 'GET', path: `/api/v1/notes/${'x'.repeat(5000)}` },
      { method: 'GET', path: '/api/v1/whoami', headers: { host: 'evil.example' } },
      { method: 'GET', path: '/api/v1/whoami', headers: { authorization: 'Bearer wrong' } },
      { method: 'POST', path: '/api/v1/remember', headers: { 'content-type': 'text/plain' }, body: 'x' },
      { method: 'POST', path: '/api/v1/remember', headers: { 'content-type': 'application/json' }, body: '{' },
      {
        method: 'POST',
        path: '/api/v1/remember',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ text: 'x'.repeat(9 * 1024 * 1024) }),
      },
    ];
    for (const sent of refusals) {
      const reply = await test.send(sent);
      expect(reply.status).toBeGreaterThanOrEqual(400);
      expectHeaders(reply, `${sent.method} ${sent.path.slice(0, 40)}`);
    }
    for (const path of ['/', '/reference', '/openapi.json', '/health/live', '/health/ready', '/metrics'])
      expectHeaders(await test.send({ method: 'GET', path }), path);
  });

  it('HTTP-1 what is no HTTP at all as well', async () => {
    const answer = await new Promise<string>((resolve) => {
      let text = '';
      const socket = connect(test.port, '127.0.0.1', () => socket.write('NONSENSE\r\n\r\n'));
      socket.on('data', (chunk) => (text += chunk.toString()));
      socket.on('close', () => resolve(text.toLowerCase()));
    });
    expect(answer).toContain('x-content-type-options: nosniff\r\n');
    expect(answer).toContain('cache-control: no-store\r\n');
  });
});

describe('figures', () => {
  it('HTTP-2 are of all tenants, and for an admin of the tenant default alone', async () => {
    const test = await startHttp('sqlite');
    try {
      const ask = async (key: string) =>
        test.send({ method: 'GET', path: '/metrics', headers: { authorization: `Bearer ${key}` } });
      const operator = await test.key('default');
      await test.send({ method: 'GET', path: '/api/v1/whoami', headers: { 'x-api-key': operator.key } });
      expect((await ask(operator.key)).text).toContain('cairn_requests_total{operation="auth.whoami"');
      for (const [tenant, role, agent] of [
        ['acme', 'admin', undefined],
        ['acme', 'admin', 'ann'],
        ['default', 'write', undefined],
        ['default', 'read', undefined],
        ['default', 'admin', 'ann'],
      ] as const) {
        const { key } = await test.key(tenant, role, agent);
        const reply = await ask(key);
        expect({ tenant, role, status: reply.status }).toEqual({ tenant, role, status: 403 });
        expect(reply.text).toContain('`default`');
      }
    } finally {
      await test.close();
    }
  });
});

describe('the reference page', () => {
  let test: HttpTest;
  beforeAll(async () => {
    test = await startHttp('sqlite');
  });
  afterAll(() => test.close());

  const page = async (headers: Readonly<Record<string, string>>) =>
    (await test.send({ method: 'GET', path: '/reference', headers })).text;

  it('CLI-3 names the host and port at which it was asked for, and no other', async () => {
    for (const host of [`127.0.0.1:${test.port}`, 'localhost:9000', '[::1]:7', 'localhost']) {
      const bases = new Set((await page({ host })).match(/http:\/\/[^/\s]+(?=\/(?:api|projects))/g));
      expect([...bases]).toEqual([`http://${host}`]);
    }
    const behind = await page({ host: 'localhost', 'x-forwarded-proto': 'https' });
    expect(behind.includes('curl https://localhost/')).toBe(true);
  });

  it('CLI-3 takes nothing of a Host into the page that is no host', async () => {
    await test.key('default');
    for (const host of ['<script>x</script>', 'evil"example', "e'; rm -rf ~; '", 'e vil', 'evil:http', '$(evil)']) {
      const text = await page({ host });
      expect(text.includes(host), host).toBe(false);
      expect(text.includes(`http://127.0.0.1:${test.port}/api/v1/`), host).toBe(true);
    }
  });
});
