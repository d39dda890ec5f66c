/** What is refused as bad input over HTTP: the status, a stable code, the shape of the answer, and nothing written. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { z } from 'zod';
import { type ErrorCode, errorCodes } from '#cairn/kernel/index.js';
import {
  allOperations,
  inputLocation,
  inputOf,
  type Planted,
  pathParameters,
  plant,
  wrongValues,
} from '../support/contract.js';
import { databases, type HttpTest, type Reply, requestOf, type Sent, startHttp } from '../support/http.js';

const JSON_TYPE = { 'content-type': 'application/json' };

interface Refused {
  readonly message: string;
  readonly reply: Reply;
}

for (const database of databases()) {
  describe(`bad input over HTTP on ${database}`, () => {
    let test: HttpTest;
    let planted: Planted;
    let key: string;
    /** Of the last look, while nothing was written since. */
    let contents: string | undefined;

    beforeAll(async () => {
      test = await startHttp(database);
      planted = await plant(await test.admin('default'));
      key = (await test.key('default')).key;
    });
    afterAll(() => test.close());

    const withKey = (sent: Sent): Sent => ({ ...sent, headers: { authorization: `Bearer ${key}`, ...sent.headers } });

    /** Sends what must be refused, all at once; gives the messages. Whatever was sent, no row of any table changes. */
    const allRefused = async (all: readonly Sent[], code: ErrorCode): Promise<Refused[]> => {
      if (all.length === 0) return [];
      const before = contents ?? (await test.contents());
      const replies = await Promise.all(all.map((sent) => test.send(withKey(sent))));
      const refusals = replies.map((reply) => {
        const body = JSON.parse(reply.text) as { code: string; message: string; details?: unknown };
        expect(body.code, reply.text.slice(0, 500)).toBe(code);
        expect(reply.status).toBe(errorCodes[code].status);
        expect(reply.headers['content-type']).toMatch(/^application\/json/);
        expect(body.message.length).toBeGreaterThan(0);
        const others = Object.keys(body).filter((name) => !['code', 'message', 'details'].includes(name));
        expect(others).toEqual([]);
        if (body.details !== undefined) expect(body.details).toBeTypeOf('object');
        return { message: body.message, reply };
      });
      contents = await test.contents();
      expect(contents).toEqual(before);
      return refusals;
    };
    const refused = async (sent: Sent, code: ErrorCode): Promise<Refused> => (await allRefused([sent], code))[0]!;
    /** Sends what may be written. */
    const sendGood = (sent: Sent): Promise<Reply> => {
      contents = undefined;
      return test.send(withKey(sent));
    };
    const postCard = (body: string | Buffer): Sent => ({
      method: 'POST',
      path: '/projects/default/cards',
      headers: JSON_TYPE,
      body,
    });
    const postPacket = (body: string | Buffer): Sent => ({ ...postCard(body), path: '/api/v1/memory/packet' });
    const get = (path: string): Sent => ({ method: 'GET', path });

    describe.each(allOperations.map((operation) => [operation.name, operation] as const))('%s', (_, operation) => {
      const asSent = (input: Record<string, unknown>) => requestOf(operation, input, 'default');

      it('names the field that has the wrong type', async () => {
        const input = inputOf(operation, planted);
        const tried = wrongValues(operation);
        const sent = tried.map(([field, wrong]) => asSent({ ...input, [field]: wrong }));
        const refusals = await allRefused(sent, 'INVALID_INPUT');
        for (const [i, [field, wrong]] of tried.entries())
          expect(refusals[i]!.message, JSON.stringify(wrong)).toContain(field);
      });

      it('names a field that it does not know', async () => {
        const unknown = asSent({ ...inputOf(operation, planted), no_such_field: 1 });
        const elsewhere =
          inputLocation(operation.method) === 'body'
            ? { ...asSent(inputOf(operation, planted)), path: `${asSent(planted).path}?no_such_field=1` }
            : { ...asSent({ ...inputOf(operation, planted), __proto__: null, constructor: 'x' }) };
        const [first, second] = await allRefused([unknown, elsewhere], 'INVALID_INPUT');
        expect(first!.message).toContain('"no_such_field"');
        expect(second!.message).toMatch(/no_such_field|constructor/);
      });

      it('names a field that is missing', async () => {
        const inPath = pathParameters(operation.path);
        const fields = Object.entries(operation.input.shape)
          .filter(([field, schema]) => !inPath.includes(field) && !(schema as z.ZodType).safeParse(undefined).success)
          .map(([field]) => field);
        const sent = fields.map((field) => {
          const { [field]: _gone, ...rest } = inputOf(operation, planted);
          return asSent(rest);
        });
        const refusals = await allRefused(sent, 'INVALID_INPUT');
        for (const [i, field] of fields.entries()) expect(refusals[i]!.message).toContain(field);
      });
    });

    it('takes no body but JSON objects in UTF-8', async () => {
      for (const text of [
        '',
        '{',
        '{"content":}',
        "{'content':1}",
        '{"content":1}}',
        'nonsense',
        '\ufeff{}',
        '{"a":01}',
      ])
        if (text !== '') await refused(postCard(text), 'INVALID_JSON');
      for (const text of ['[]', '1', '"text"', 'null', 'true']) await refused(postCard(text), 'INVALID_INPUT');
      for (const bytes of [[0xff], [0xc3, 0x28], [0xed, 0xa0, 0x80], [0xf8, 0x88, 0x80, 0x80, 0x80]]) {
        const body = Buffer.concat([Buffer.from('{"content":"'), Buffer.from(bytes), Buffer.from('"}')]);
        expect((await refused(postCard(body), 'INVALID_JSON')).message).toContain('UTF-8');
      }
    });

    it('takes neither NUL nor half of a surrogate pair, anywhere', async () => {
      for (const bad of ['\\u0000', 'a\\u0000b', '\\ud800', '\\udc00x', 'x\\ud83d']) {
        await refused(postCard(`{"content":"${bad}"}`), 'INVALID_INPUT');
        await refused(postCard(`{"content":{"deep":["${bad}"]}}`), 'INVALID_INPUT');
        await refused(postCard(`{"content":{"${bad}":1}}`), 'INVALID_INPUT');
        await refused(postCard(`{"content":1,"card_id":"${bad}"}`), 'INVALID_INPUT');
        await refused(postCard(`{"content":1,"metadata":{"type":"${bad}"}}`), 'INVALID_INPUT');
        await refused(postCard(`{"content":1,"subject_ids":["${bad}"]}`), 'INVALID_INPUT');
        await refused(postPacket(`{"packet_type":"${bad}","payload":{}}`), 'INVALID_INPUT');
        await refused(postPacket(`{"packet_type":"e","payload":{"a":"${bad}"}}`), 'INVALID_INPUT');
        await refused(postPacket(`{"packet_type":"e","payload":{},"tags":["${bad}"]}`), 'INVALID_INPUT');
        await refused(postPacket(`{"packet_type":"e","payload":{},"routing":{"${bad}":1}}`), 'INVALID_INPUT');
      }
      await refused(postCard('{"content":"a\u0000b"}'), 'INVALID_JSON');
      for (const path of ['cards/%00', 'cards/a%00b', 'boxes/%00', 'cards?subject_id=%00', 'cards/%7f'])
        await refused(get(`/projects/default/${path}`), 'INVALID_INPUT');
      await refused(get('/api/v1/memory/packets?tag=%00'), 'INVALID_INPUT');
      const whole = await sendGood(postCard('{"content":"\\ud83d\\ude00"}'));
      expect(JSON.parse(whole.text)).toMatchObject({ content: '😀' });
    });

    it('takes nothing that is too large', async () => {
      const { message } = await refused(postCard(`{"content":"${'x'.repeat(1024 * 1024)}"}`), 'TOO_LARGE');
      expect(message).toMatch(/card .*limit/);
      await refused(postPacket(`{"packet_type":"e","payload":{"x":"${'x'.repeat(1024 * 1024)}"}}`), 'TOO_LARGE');
      await refused(postCard(`{"metadata":{"x":"${'ü'.repeat(512 * 1024)}"}}`), 'TOO_LARGE');
      await refused(postCard(`{"content":"${'x'.repeat(8 * 1024 * 1024)}"}`), 'TOO_LARGE');
      // Large, suspicious to the check of numbers, and yet below the limit of a body.
      const digits = `{"metadata":{"n":1234567890123456},"content":"${'x'.repeat(8_000_000)}"}`;
      await refused(postCard(digits), 'TOO_LARGE');
    });

    it('takes nothing that is nested too deep', async () => {
      const nested = (depth: number) => `${'['.repeat(depth)}${']'.repeat(depth)}`;
      await refused(postCard(`{"content":${nested(65)}}`), 'INVALID_INPUT');
      await refused(postCard(`{"content":${nested(500_000)}}`), 'INVALID_INPUT');
      await refused(postCard(`{"content":${'{"a":'.repeat(65)}1${'}'.repeat(65)}}`), 'INVALID_INPUT');
      await refused(postPacket(`{"packet_type":"e","payload":{"a":${nested(64)}}}`), 'INVALID_INPUT');
      await refused(postCard(`{"content":${'['.repeat(1_000_000)}`), 'INVALID_INPUT');
      const allowed = await sendGood(postCard(`{"content":${nested(64)}}`));
      expect(allowed.status, allowed.text).toBe(201);
      const brackets = await sendGood(postCard(JSON.stringify({ content: '[{"\\'.repeat(1000) })));
      expect(brackets.status).toBe(201);
    });

    it('takes no other content type, and no body without one', async () => {
      for (const type of ['text/plain', 'application/x-www-form-urlencoded', 'application/jsonp', 'nonsense', '*/*'])
        await refused({ ...postCard('{"content":1}'), headers: { 'content-type': type } }, 'UNSUPPORTED_MEDIA_TYPE');
      await refused({ ...postCard('{"content":1}'), headers: {} }, 'UNSUPPORTED_MEDIA_TYPE');
      const typed = { ...postCard('{"content":1}'), headers: { 'content-type': 'application/json; charset=utf-8' } };
      expect((await sendGood(typed)).status).toBe(201);
    });

    it('takes no number that a double cannot hold', async () => {
      const lossy = [
        '12345678901234567890',
        '9007199254740993',
        '-9007199254740993',
        '1e400',
        '-1E+400',
        '1e-400',
        '0.12345678901234567890123',
        '1234567.12345678901234',
        '123.4567890123456789e5',
      ];
      for (const number of lossy) {
        const { message } = await refused(postCard(`{"content":[${number}]}`), 'INVALID_INPUT');
        expect(message).toContain(number);
        await refused(postPacket(`{"packet_type":"e","payload":{"n":${number}}}`), 'INVALID_INPUT');
      }
    });

    it('gives numbers back that a double can hold', async () => {
      const exact = ['0.1', '1e21', '1e308', '5e-324', '0.30000000000000004', '12345678.123456789', '9007199254740992'];
      const more = ['0', '-1', '1.50', '1E3', '0.10000000000000001', '100000000000000000000', '"12345678901234567890"'];
      for (const number of [...exact, ...more]) {
        const reply = await sendGood(postCard(`{"content":[${number}]}`));
        expect(reply.status, `${number}: ${reply.text}`).toBe(201);
        expect((JSON.parse(reply.text) as { content: unknown }).content).toEqual([JSON.parse(number)]);
      }
    });

    it('does not let a __proto__ in a body reach further than the body', async () => {
      const body =
        '{"content":{"__proto__":{"polluted":1},"constructor":{"prototype":{"polluted":1}}},"metadata":{"__proto__":{"type":"tool.call"},"role":"USER"}}';
      const added = await sendGood(postCard(body));
      expect(added.status, added.text).toBe(201);
      const { card_id } = JSON.parse(added.text) as { card_id: string };
      const read = await sendGood(get(`/projects/default/cards/${card_id}`));
      for (const { text } of [added, read]) {
        expect(text).toContain('"__proto__":{"polluted":1}');
        expect(text).toContain('"__proto__":{"type":"tool.call"}');
        expect(text).toContain('"role":"user"');
      }
      const packet = await sendGood(
        postPacket(
          '{"packet_type":"e","payload":{"__proto__":{"polluted":1}},"metadata":{"__proto__":{"polluted":1}}}',
        ),
      );
      const { packet_id } = JSON.parse(packet.text) as { packet_id: string };
      const { text } = await sendGood(get(`/api/v1/memory/packet/${packet_id}`));
      expect(text.match(/"__proto__":\{"polluted":1\}/g)).toHaveLength(2);
      expect(({} as Record<string, unknown>).polluted).toBeUndefined();
      await refused(postCard('{"content":1,"__proto__":{"card_id":"x"}}'), 'INVALID_INPUT');
      await refused(postPacket('{"packet_type":"e","__proto__":{"payload":{}}}'), 'INVALID_INPUT');
      await refused(get('/projects/default/cards?__proto__=1'), 'INVALID_INPUT');
      await refused(get('/projects/default/cards?__proto__=1&__proto__=2'), 'INVALID_INPUT');
    });

    it('takes no time that UTC cannot say in four digits of a year', async () => {
      for (const time of [
        '9999-12-31T23:59:59-23:59',
        '0000-01-01T00:00:00+00:01',
        '2026-02-30T00:00:00Z',
        '2026-01-31',
      ]) {
        await refused(postCard(JSON.stringify({ content: 1, expires_at: time })), 'INVALID_INPUT');
        const packet = { packet_type: 'e', payload: {}, timestamp: time };
        await refused(postPacket(JSON.stringify(packet)), 'INVALID_INPUT');
      }
      await refused(postCard('{"content":1,"expires_at":"2020-01-01T00:00:00Z"}'), 'INVALID_INPUT');
    });

    it('says which id is unknown', async () => {
      const unknown = '0197a000-0000-7000-8000-000000000000';
      const within = '/projects/default';
      await refused(get(`${within}/cards/nobody`), 'CARD_NOT_FOUND');
      await refused({ method: 'DELETE', path: `${within}/cards/nobody` }, 'CARD_NOT_FOUND');
      await refused(get(`${within}/boxes/nobody`), 'BOX_NOT_FOUND');
      await refused(get(`/api/v1/memory/packet/${unknown}`), 'PACKET_NOT_FOUND');
      await refused(get(`/api/v1/memory/lineage/${unknown}`), 'PACKET_NOT_FOUND');
      await refused({ method: 'DELETE', path: `/api/v1/keys/${unknown}` }, 'KEY_NOT_FOUND');
      const cards = { ...postCard('{"card_ids":["nobody"]}'), path: `${within}/boxes/box-1/append` };
      expect((await refused(cards, 'UNKNOWN_CARD')).message).toContain('nobody');
      const parents = `{"packet_type":"e","payload":{},"lineage":{"parent_ids":["${unknown}"]}}`;
      expect((await refused(postPacket(parents), 'UNKNOWN_PARENT')).message).toContain(unknown);
    });

    it('takes no cursor and no resume token that it did not make', async () => {
      const first = await sendGood(get('/projects/default/cards?limit=1'));
      const { next_cursor } = JSON.parse(first.text) as { next_cursor: string };
      const forged = Buffer.from('["000000000000",1]').toString('base64url');
      for (const cursor of ['x', '%00', '%F0%9F%98%80', forged, `${next_cursor.slice(0, -4)}`, 'bnVsbA', 'W10']) {
        for (const path of ['/projects/default/cards', '/projects/default/boxes', '/api/v1/memory/packets'])
          await refused(get(`${path}?cursor=${cursor}`), 'INVALID_CURSOR');
      }
      await refused(get(`/projects/default/boxes?cursor=${next_cursor}`), 'INVALID_CURSOR');
      await refused(get(`/projects/default/cards?subject_id=u&cursor=${next_cursor}`), 'INVALID_CURSOR');
      await refused(get(`/projects/default/cards?offset=1&cursor=${next_cursor}`), 'INVALID_INPUT');
      await refused(get(`/projects/default/cards?cursor=${'x'.repeat(501)}`), 'INVALID_INPUT');
      for (const token of ['x', '-1', '1', 'ffffffffffffffff', '.', '%00', '0.0'])
        await refused(get(`/api/v1/events?after=${token}`), 'INVALID_CURSOR');
      await refused(get('/api/v1/events?after=ffffffffffffffff.1'), 'STREAM_RESET');
      const resumed = { ...get('/api/v1/events'), headers: { 'last-event-id': 'nonsense' } };
      await refused(resumed, 'INVALID_CURSOR');
    });

    it('answers a wrong method with the right ones, and an unknown route as such', async () => {
      const wrong = async (method: string, path: string) =>
        (await refused({ method, path }, 'METHOD_NOT_ALLOWED')).reply.headers.allow;
      expect(await wrong('PUT', '/api/v1/memory/packet')).toBe('POST');
      expect(await wrong('DELETE', `/api/v1/memory/packet/${String(planted.packet_id)}`)).toBe('GET');
      expect(await wrong('PATCH', `/projects/default/cards/${String(planted.card_id)}`)).toBe('GET, DELETE');
      expect(await wrong('OPTIONS', '/projects/default/boxes?x=1')).toBe('POST, GET');
      for (const path of ['/openapi.json', '/health/live', '/metrics', '/reference', '/', '/ui/', '/ui/contexts'])
        expect(await wrong('POST', path), path).toBe('GET');
      const unknown = ['/api/v1', '/api/v2/memory/packet', '/projects', '/projects/default/cards/a/b', '//', '/%2e%2e'];
      for (const path of unknown) await refused(get(path), 'ROUTE_NOT_FOUND');
      await refused({ method: 'POST', path: '/api/v1/memory/packets/x' }, 'ROUTE_NOT_FOUND');
    });

    it('takes no path that cannot be decoded', async () => {
      for (const bad of ['%', '%zz', '%E0%A4%A', '%ff', '%C3%28']) {
        await refused(get(`/projects/default/cards/${bad}`), 'INVALID_INPUT');
        await refused(get(`/projects/${bad}/cards`), 'INVALID_INPUT');
      }
      for (const path of ['cards', 'boxes'])
        await refused(get(`/projects/default/${path}/${'x'.repeat(3000)}`), 'INVALID_INPUT');
      await refused(get(`/projects/default/cards/${'%F0%9F%98%80'.repeat(201)}`), 'INVALID_INPUT');
      const longest = '😀'.repeat(200);
      const added = await sendGood(postCard(JSON.stringify({ card_id: longest, content: 1 })));
      expect(added.status, added.text).toBe(201);
      const read = await sendGood(get(`/projects/default/cards/${encodeURIComponent(longest)}`));
      expect(JSON.parse(read.text)).toMatchObject({ card_id: longest });
    });

    it('takes no Idempotency-Key that is empty, long or not visible ASCII', async () => {
      for (const bad of ['x'.repeat(201), 'a b', 'ü'])
        await refused(
          { ...postCard('{"content":1}'), headers: { ...JSON_TYPE, 'idempotency-key': bad } },
          'INVALID_INPUT',
        );
    });

    it('takes routing with any members, and finds it by what is short enough to be found by', async () => {
      const long = Array.from({ length: 6000 }, (_, i) => (i * 7919).toString(36))
        .join('')
        .slice(0, 20_000);
      const routing = { 'a:b': 'c', a: 'b:c', [long]: 1, [`${long}!`]: true, short: 7 };
      const body = JSON.stringify({ packet_type: 'routed', payload: {}, routing });
      const reply = await sendGood(postPacket(body));
      expect(reply.status, reply.text).toBe(201);
      for (const filter of ['short:7', 'a:b:c']) {
        const found = await sendGood(get(`/api/v1/memory/packets?routing=${encodeURIComponent(filter)}`));
        expect(JSON.parse(found.text)).toMatchObject({ total: 1, packets: [{ routing }] });
      }
    });

    // The last, since every look at the tables reads these along.
    it('takes a card and a body of just the size that is allowed', async () => {
      const content = 'x'.repeat(1024 * 1024 - '""{}'.length);
      expect((await sendGood(postCard(JSON.stringify({ content })))).status).toBe(201);
      const body = `{"content":"y"${' '.repeat(8 * 1024 * 1024 - 15)}}`;
      expect(Buffer.byteLength(body)).toBe(8 * 1024 * 1024);
      expect((await sendGood(postCard(body))).status).toBe(201);
    });
  });
}
