/** Who is refused, for every operation of the table on both databases: a new operation cannot be forgotten. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { isErrorCode } from '#cairn/kernel/index.js';
import {
  allOperations,
  inputOf,
  inputWithEveryId,
  type NamedOperation,
  namesProject,
  type Planted,
  pathParameters,
  plant,
  SECRET,
} from '../support/contract.js';
import { databases, type HttpTest, type Reply, requestOf, startHttp } from '../support/http.js';

const ROLES = ['read', 'write', 'admin'] as const;
const rolesBelow = ({ access }: NamedOperation) => ROLES.slice(0, ROLES.indexOf(access));

const bearer = (key: string) => ({ authorization: `Bearer ${key}` });

/** What these answer to another tenant instead of 404. */
const OWN_ANSWER: Readonly<Record<string, string>> = {
  'packets.thread': 'a thread that is empty here',
  'profiles.save': 'makes a profile of its own, which may have the same name',
  'handovers.save': 'makes a handover of its own, which may have the same name',
};

function expectRefusal(reply: Reply, status: number, code?: string): void {
  expect(reply.status, reply.text).toBe(status);
  const body = JSON.parse(reply.text) as { code: string; message: string };
  expect(isErrorCode(body.code), reply.text).toBe(true);
  if (code !== undefined) expect(body.code).toBe(code);
  expect(body.message).not.toBe('');
  expect(Object.keys(body).filter((name) => !['code', 'message', 'details'].includes(name))).toEqual([]);
  expect(reply.text).not.toContain(SECRET);
}

for (const database of databases()) {
  describe(`access over HTTP on ${database}`, () => {
    let test: HttpTest;
    let planted: Planted;
    const keys: Record<string, string> = {};
    /** Of the last look at what refusals leave alone; who writes into it takes it back. */
    let contents: string | undefined;

    // What is not refused has a server of its own, so that the store that every refusal is looked for in stays small.
    let open: HttpTest;
    let alpha: Planted;
    let alphaContents: string;
    let tenants = 0;
    const freshTenant = () => `t${++tenants}`;

    beforeAll(async () => {
      [test, open] = await Promise.all([startHttp(database), startHttp(database)]);
      alpha = await plant(await open.admin('alpha'));
      alphaContents = await open.contents('alpha');
      planted = await plant(await test.admin('alpha'), 'ann');
      for (const role of ROLES) keys[role] = (await test.key('alpha', role)).key;
      keys.ann = (await test.key('alpha', 'write', 'ann')).key;
      keys.bob = (await test.key('alpha', 'write', 'bob')).key;
      // A sign of life that is noted would be a change.
      for (const agent_id of ['ann', 'bob'])
        await (await test.admin('alpha')).agents.update({ agent_id, offline_after_ms: 7 * 24 * 3_600_000 });
      keys.other = (await test.key('beta', 'admin')).key;
      const gone = await test.key('alpha', 'admin');
      await (await test.admin('alpha')).keys.revoke({ key_id: gone.key_id });
      keys.revoked = gone.key;
    });
    afterAll(() => Promise.all([test.close(), open.close()]));

    const call = (
      operation: NamedOperation,
      headers: Readonly<Record<string, string>>,
      tenant = 'alpha',
      input = inputOf(operation, planted),
      server = test,
    ) => {
      const sent = requestOf(operation, input, tenant);
      return server.send({ ...sent, headers: { ...sent.headers, ...headers } });
    };

    /** Sends what must be refused, and sees that no row of any table changed by it. */
    const expectNothingWritten = async (action: () => Promise<unknown>) => {
      const before = contents ?? (await test.contents());
      await action();
      contents = await test.contents();
      expect(contents).toBe(before);
    };
    /** Sends what may write. */
    const expectWritten = async (reply: Promise<Reply>, status: number) => {
      const { status: answered, text } = await reply;
      contents = undefined;
      expect(answered, text).toBe(status);
    };

    describe.each(allOperations.map((operation) => [operation.name, operation] as const))('%s', (_, operation) => {
      const refuse = async (headers: Readonly<Record<string, string>>, status: number, code: string, tenant?: string) =>
        expectRefusal(await call(operation, headers, tenant), status, code);

      it('refuses a request without a key, with an unknown one and with a revoked one', () =>
        expectNothingWritten(() =>
          Promise.all([
            refuse({}, 401, 'UNAUTHORIZED'),
            refuse(bearer(`${keys.admin}x`), 401, 'UNAUTHORIZED'),
            refuse({ 'x-api-key': 'cairn_nobody' }, 401, 'UNAUTHORIZED'),
            refuse({ authorization: 'Basic Og==' }, 401, 'UNAUTHORIZED'),
            refuse(bearer(keys.revoked!), 401, 'UNAUTHORIZED'),
            refuse({ 'x-api-key': keys.revoked! }, 401, 'UNAUTHORIZED'),
          ]),
        ));

      it('refuses a header or a path that names another tenant than the key', () =>
        expectNothingWritten(async () => {
          for (const tenant of ['beta', 'no-such-tenant'])
            await refuse({ ...bearer(keys.admin!), 'x-tenant-id': tenant }, 403, 'TENANT_MISMATCH');
          if (!namesProject(operation.path)) return;
          await refuse(bearer(keys.other!), 403, 'TENANT_MISMATCH');
          await refuse(bearer(keys.admin!), 403, 'TENANT_MISMATCH', 'beta');
        }));

      // That the role which is needed is enough, openapi.test.ts has for every answer.
      if (operation.access !== 'read')
        it('refuses a key whose role is too low', () =>
          expectNothingWritten(async () => {
            for (const role of rolesBelow(operation)) await refuse(bearer(keys[role]!), 403, 'FORBIDDEN');
          }));

      it('shows and changes nothing of another tenant, whatever id is given', async () => {
        const tenant = freshTenant();
        const { key } = await open.key(tenant);
        const reply = await call(operation, bearer(key), tenant, inputWithEveryId(operation, alpha), open);
        expect(reply.text).not.toContain(SECRET);
        const byId = pathParameters(operation.path).length > 0 && !(operation.name in OWN_ANSWER);
        if (byId) expectRefusal(reply, 404);
        else expect([200, 201, 400, 404], reply.text).toContain(reply.status);
        expect(await open.contents('alpha')).toBe(alphaContents);
      });
    });

    it('the exceptions are operations of the table', () => {
      const names = allOperations.map(({ name }) => name);
      expect(names).toEqual(expect.arrayContaining(Object.keys(OWN_ANSWER)));
    });

    const onBoxes = allOperations.filter(({ path }) => path.includes('{box_id}'));

    it.each(onBoxes.map((operation) => [operation.name, operation] as const))(
      "%s refuses another agent's box",
      (_, operation) =>
        expectNothingWritten(async () => {
          expectRefusal(await call(operation, bearer(keys.bob!)), 403, 'FORBIDDEN');
        }),
    );

    it("shows an agent neither another's box in lists and batches nor its events", async () => {
      const read = async (path: string, body?: string) => {
        const sent =
          body === undefined
            ? { method: 'GET', path, headers: bearer(keys.bob!) }
            : { method: 'POST', path, body, headers: { ...bearer(keys.bob!), 'content-type': 'application/json' } };
        const reply = await test.send(sent);
        expect(reply.status, reply.text).toBe(200);
        return JSON.parse(reply.text) as Record<string, unknown>;
      };
      expect(await read('/projects/alpha/boxes')).toMatchObject({ boxes: [], total: 0 });
      expect(await read('/projects/alpha/boxes/batch', '{"box_ids":["box-1"],"hydrate":true}')).toEqual({
        boxes: [],
        missing_box_ids: ['box-1'],
        missing_card_ids: [],
      });
      const { packets } = await read('/api/v1/memory/packets?limit=500');
      const types = (packets as { packet_type: string }[]).map(({ packet_type }) => packet_type);
      expect(types).toContain('cairn.card.added');
      expect(types.filter((type) => type.startsWith('cairn.box.'))).toEqual([]);
    });

    it("gives an agent neither the event of another's box by its id nor through lineage", async () => {
      const admin = await test.admin('alpha');
      const { packets } = await admin.packets.list({ packet_type: 'cairn.box.created' });
      const { packet_id } = packets[0]!;
      for (const path of [`packet/${packet_id}`, `packet/${packet_id}/original`, `lineage/${packet_id}`]) {
        const reply = await test.send({ method: 'GET', path: `/api/v1/memory/${path}`, headers: bearer(keys.bob!) });
        expectRefusal(reply, 404, 'PACKET_NOT_FOUND');
      }
    });

    it("does not give an agent another's box for sending the same request again", async () => {
      const create = (key: string, extra: Record<string, string> = {}) =>
        test.send({
          method: 'POST',
          path: '/projects/alpha/boxes',
          headers: { ...bearer(key), 'content-type': 'application/json', ...extra },
          body: JSON.stringify({ box_id: 'box-of-ann', card_ids: ['card-1'] }),
        });
      await expectWritten(create(keys.ann!), 201);
      await expectNothingWritten(async () => expectRefusal(await create(keys.bob!), 409, 'ENTITY_ALREADY_EXISTS'));
    });

    it("does not give an agent another's answer for sending its Idempotency-Key", async () => {
      const append = (key: string) =>
        test.send({
          method: 'POST',
          path: '/projects/alpha/boxes/box-1/append',
          headers: { ...bearer(key), 'content-type': 'application/json', 'idempotency-key': 'append-once' },
          body: JSON.stringify({ card_ids: ['card-1'] }),
        });
      await expectWritten(append(keys.ann!), 200);
      await expectWritten(append(keys.ann!), 200);
      await expectNothingWritten(async () => {
        const reply = await append(keys.bob!);
        expect([403, 409], reply.text).toContain(reply.status);
      });
    });

    it('lets a grant to read read, and no more', async () => {
      const { key } = await test.key('alpha', 'write', 'reviewer');
      contents = undefined;
      for (const operation of onBoxes) {
        const reads = operation.access === 'read';
        // A fork reads the box, and what it makes is the reader's own.
        if (reads || operation.name === 'boxes.fork')
          await expectWritten(call(operation, bearer(key)), operation.status ?? 200);
        else await expectNothingWritten(async () => expectRefusal(await call(operation, bearer(key)), 403));
      }
    });

    it("refuses cards and parents of another tenant in one's own box, card and packet", async () => {
      const tenant = freshTenant();
      const { key } = await test.key(tenant);
      const post = (path: string, body: unknown) =>
        test.send({
          method: 'POST',
          path,
          headers: { ...bearer(key), 'content-type': 'application/json' },
          body: JSON.stringify(body),
        });
      await expectWritten(post(`/projects/${tenant}/boxes`, { box_id: 'mine' }), 201);
      await expectNothingWritten(async () => {
        const { card_id, packet_id } = planted;
        const into = `/projects/${tenant}`;
        const cards = { card_ids: [card_id] };
        expectRefusal(await post(`${into}/boxes/mine/append`, cards), 400, 'UNKNOWN_CARD');
        expectRefusal(await post(`${into}/boxes`, cards), 400, 'UNKNOWN_CARD');
        const derived = { content: 'x', derived_from: [card_id] };
        expectRefusal(await post(`${into}/cards`, derived), 400, 'UNKNOWN_CARD');
        const child = { packet_type: 'event', payload: {}, lineage: { parent_ids: [packet_id] } };
        expectRefusal(await post('/api/v1/memory/packet', child), 400, 'UNKNOWN_PARENT');
        const origin = { packet_type: 'event', payload: {}, provenance: { parent_packet: packet_id } };
        expectRefusal(await post('/api/v1/memory/packet', origin), 400, 'UNKNOWN_PARENT');
      });
    });

    it("shows a tenant its own history in the stream, and nothing of another's", async () => {
      const tenant = freshTenant();
      const { key } = await open.key(tenant);
      await (await open.admin(tenant)).packets.write({ packet_type: 'last', payload: {} });
      const reply = await open.send(
        { method: 'GET', path: '/api/v1/events?after=0', headers: bearer(key) },
        '"packet_type":"last"',
      );
      expect(reply.status).toBe(200);
      expect(reply.text).not.toContain(SECRET);
      const types = [...reply.text.matchAll(/"packet_type":"([^"]+)"/g)].map((match) => match[1]);
      expect(types).toEqual(['cairn.key.created', 'last']);
    });

    it('serves the description of the API to anyone, and figures to an operator alone', async () => {
      const get = (path: string, headers = {}) => test.send({ method: 'GET', path, headers });
      for (const path of ['/reference', '/openapi.json', '/health/live', '/health/ready', '/ui/'])
        expect((await get(path)).status).toBe(200);
      expectRefusal(await get('/metrics'), 401, 'UNAUTHORIZED');
      expectRefusal(await get('/metrics', bearer(keys.read!)), 403, 'FORBIDDEN');
      // They are of all tenants: no tenant's own admin sees them.
      expectRefusal(await get('/metrics', bearer(keys.admin!)), 403, 'FORBIDDEN');
      const operator = await test.key('default');
      contents = undefined;
      expect((await get('/metrics', bearer(operator.key))).status).toBe(200);
      // An agent's key shows what the agent may see, whatever its role.
      const { key } = await test.key('alpha', 'admin', 'ann');
      contents = undefined;
      expectRefusal(await get('/metrics', bearer(key)), 403, 'FORBIDDEN');
    });
  });
}
