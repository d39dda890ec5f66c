/** The open loopback, served without keys: local clients are let in, pages from elsewhere are not. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { allOperations, inputOf, type Planted, pathParameters } from '../support/contract.js';
import { type HttpTest, requestOf, startHttp } from '../support/http.js';

describe('the open loopback', () => {
  let test: HttpTest;
  let planted: Planted;

  beforeAll(async () => {
    test = await startHttp('sqlite');
    // Whatever has a key is planted elsewhere: this store stays without one.
    // Nothing that operations name need be there, so the ids of their examples do.
    planted = Object.fromEntries(
      allOperations.flatMap(({ path, example }) => pathParameters(path).map((name) => [name, example[name]])),
    );
    const admin = await test.admin('default');
    await admin.cards.add({ card_id: 'card-1', content: 'x' });
    await admin.boxes.create({ box_id: 'box-1' });
  });
  afterAll(() => test.close());

  type Headers = Readonly<Record<string, string>>;

  const HOSTILE: readonly Headers[] = [
    { host: 'evil.example' },
    { host: 'evil.example:8080' },
    { host: 'localhost.evil.example' },
    { host: '127.0.0.1.nip.io' },
    { host: '127.0.0.1@evil.example' },
    { host: '169.254.169.254' },
    { host: '0.0.0.0:8080' },
    { host: 'user@localhost' },
    { host: 'localhost', origin: 'http://evil.example' },
    { host: 'localhost', origin: 'https://localhost.evil.example' },
    { host: 'localhost', origin: 'null' },
    { host: 'localhost', origin: 'nonsense' },
    { host: 'localhost', origin: 'file://' },
    { host: '127.0.0.1:8080', origin: 'http://127.0.0.1.evil.example:8080' },
    { host: 'localhost:8080', 'sec-fetch-site': 'cross-site' },
  ];

  it.each(allOperations.map((operation) => [operation.name, operation] as const))(
    '%s refuses a hostile Host, Origin or Sec-Fetch-Site, and writes nothing',
    async (_, operation) => {
      const sent = requestOf(operation, inputOf(operation, planted), 'default');
      const before = await test.contents();
      for (const headers of HOSTILE) {
        const reply = await test.send({ ...sent, headers: { ...sent.headers, ...headers } });
        expect(reply.status, JSON.stringify(headers)).toBe(403);
        expect(JSON.parse(reply.text)).toMatchObject({ code: 'HOST_REFUSED' });
      }
      expect(await test.contents()).toBe(before);
    },
  );

  it.each(['/reference', '/openapi.json', '/metrics'])('%s is not for hostile pages either', async (path) => {
    for (const headers of HOSTILE)
      expect((await test.send({ method: 'GET', path, headers })).status, JSON.stringify(headers)).toBe(403);
  });

  const LOCAL: readonly Headers[] = [
    { host: 'localhost' },
    { host: 'localhost:8080' },
    { host: 'LOCALHOST:3000' },
    { host: '127.0.0.1:8080' },
    { host: '[::1]:8080' },
    { host: 'localhost:8080', origin: 'http://localhost:5173' },
    { host: 'localhost:8080', origin: 'http://[::1]:5173', 'sec-fetch-site': 'same-site' },
    { host: '127.0.0.1:8080', origin: 'http://127.0.0.1:8080', 'sec-fetch-site': 'same-origin' },
    { host: 'localhost:8080', 'sec-fetch-site': 'none' },
  ];

  it.each(LOCAL)('serves %j', async (headers) => {
    const reply = await test.send({ method: 'GET', path: '/api/v1/whoami', headers });
    expect(reply.status, reply.text).toBe(200);
    expect(JSON.parse(reply.text)).toMatchObject({ tenant_id: 'default', role: 'admin', key_id: null });
  });

  it('serves the tenant default and no other', async () => {
    const foreign = await test.send({ method: 'GET', path: '/projects/other/cards' });
    expect(JSON.parse(foreign.text)).toMatchObject({ code: 'TENANT_MISMATCH' });
    const named = await test.send({ method: 'GET', path: '/api/v1/whoami', headers: { 'x-tenant-id': 'other' } });
    expect(JSON.parse(named.text)).toMatchObject({ code: 'TENANT_MISMATCH' });
  });

  it('closes with the first key, and stays closed when that is revoked', async () => {
    const { key, key_id } = await test.key('default');
    const whoami = (headers = {}) => test.send({ method: 'GET', path: '/api/v1/whoami', headers });
    expect((await whoami()).status).toBe(401);
    const headers = { authorization: `Bearer ${key}`, host: 'cairn.example', origin: 'https://app.example' };
    expect((await whoami(headers)).status).toBe(200);
    await (await test.admin('default')).keys.revoke({ key_id });
    expect((await whoami()).status).toBe(401);
  });
});
