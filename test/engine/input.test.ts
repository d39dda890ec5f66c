import { randomUUID } from 'node:crypto';
import { expect, it } from 'vitest';
import type { Json } from '#cairn/kernel/contract.js';
import { latestToken } from '../support/nouns/stream.js';
import { onEveryTarget, refusalOf } from '../support/targets.js';

const invalid = { code: 'INVALID_INPUT', status: 400 };
const NUL = 'a\u0000b';
const HALF = 'a\ud800b';

const nested = (levels: number): Json => {
  let value: Json = 1;
  for (let i = 0; i < levels; i++) value = i % 2 === 0 ? [value] : { v: value };
  return value;
};

/** For inputs that the types forbid. */
const wrong = <T>(value: unknown): T => value as T;

onEveryTarget('input', (test) => {
  it.each<[string, string, object]>([
    ['an unknown field', 'extra', { content: 1, extra: 1 }],
    ['metadata that is text', 'metadata', { metadata: 'x' }],
    ['metadata that is a list', 'metadata', { metadata: [] }],
    ['tool_calls that are no objects', 'tool_calls', { tool_calls: ['x'] }],
    ['a ttl that is text', 'ttl_seconds', { ttl_seconds: '5' }],
    ['a card_id that is a number', 'card_id', { card_id: 5 }],
    ['subject_ids that are no list', 'subject_ids', { subject_ids: 's' }],
    ['101 subject_ids', 'subject_ids', { subject_ids: Array.from({ length: 101 }, (_, i) => `s${i}`) }],
  ])('INPUT-1 %s is refused by name, and nothing is written', async (_, field, card) => {
    const cairn = await test().freshTenant();
    const before = await latestToken(cairn);
    expect(await refusalOf(cairn.cards.add(card))).toMatchObject({
      ...invalid,
      message: expect.stringContaining(field),
    });
    expect(await refusalOf(cairn.cards.add_batch({ cards: [{ content: 1 }, card] }))).toMatchObject(invalid);
    expect(await latestToken(cairn)).toBe(before);
  });

  it('INPUT-1 what an operation needs must be there, and reads are as strict as writes', async () => {
    const cairn = await test().freshTenant();
    const calls = [
      () => cairn.boxes.append(wrong({ box_id: 'x' })),
      () => cairn.boxes.append({ box_id: 'x', card_ids: [] }),
      () => cairn.boxes.save(wrong({ box_id: 'x' })),
      () => cairn.boxes.grant(wrong({ box_id: 'x' })),
      () => cairn.cards.get_batch(wrong({})),
      () => cairn.cards.get_batch(wrong({ card_ids: 'a' })),
      () => cairn.cards.list(wrong({ limit: 'many' })),
      () => cairn.cards.list(wrong({ sort: 'asc' })),
      () => cairn.packets.list(wrong({ order: 'up' })),
      () => cairn.packets.list({ since: 'yesterday' }),
      () => cairn.boxes.load({ box_id: 'x', revision: 0 }),
      () => cairn.boxes.load({ box_id: 'x', limit: 1.5 }),
    ];
    for (const call of calls) expect(await refusalOf(call()), String(call)).toMatchObject(invalid);
  });

  it.each([
    'a/b?c#d%20 &=+',
    'ü 你好 😀',
    '{project_id}',
    '$&',
    '...',
    'x'.repeat(200),
    '语'.repeat(200),
    "'; --",
    '\\',
  ])('INPUT-2 an id may be %s', async (id) => {
    const cairn = await test().freshTenant();
    await cairn.cards.add({ card_id: id, content: 1, subject_ids: [id], author_id: id });
    expect(await cairn.cards.get({ card_id: id })).toMatchObject({ card_id: id, author_id: id });
    await cairn.boxes.create({ box_id: id, agent_id: id, card_ids: [id] });
    expect(await cairn.boxes.load({ box_id: id })).toMatchObject({ agent_id: id, card_ids: [id] });
    expect((await cairn.cards.list({ subject_id: id })).total).toBe(1);
    expect((await cairn.boxes.list({ agent_id: id })).total).toBe(1);
    await cairn.cards.delete({ card_id: id });
    expect((await cairn.boxes.cards({ box_id: id })).missing_card_ids).toEqual([id]);
  });

  it.each(['', '.', '..', 'a\nb', 'a\u007f', 'a\u2028b', 'x'.repeat(201), NUL, HALF])(
    'INPUT-2 an id may not be %j',
    async (id) => {
      const cairn = await test().freshTenant();
      const calls = [
        () => cairn.cards.add({ card_id: id }),
        () => cairn.cards.add({ subject_ids: [id] }),
        () => cairn.cards.add({ author_id: id }),
        () => cairn.cards.get_batch({ card_ids: [id] }),
        () => cairn.boxes.create({ box_id: id }),
        () => cairn.boxes.create({ agent_id: id }),
        () => cairn.cards.get({ card_id: id }),
        () => cairn.boxes.load({ box_id: id }),
      ];
      for (const call of calls) {
        const refusal = await refusalOf(call());
        // Half of a pair cannot travel in a URL: it arrives as another character, which names nothing.
        const lost = test().target === 'http' && id === HALF && refusal.status === 404;
        if (!lost) expect(refusal, String(call)).toMatchObject(invalid);
      }
    },
  );

  it('INPUT-2 packet_id, thread_id and key_id are UUIDs', async () => {
    const cairn = await test().freshTenant();
    const calls = [
      () => cairn.packets.write({ packet_id: 'p', packet_type: 'p', payload: {} }),
      () => cairn.packets.write({ packet_type: 'p', payload: {}, lineage: { parent_ids: ['p'] } }),
      () => cairn.packets.get({ packet_id: 'p' }),
      () => cairn.packets.thread({ thread_id: `${randomUUID()}0` }),
      () => cairn.packets.list({ parent_id: 'p' }),
      () => cairn.keys.revoke({ key_id: 'p' }),
    ];
    for (const call of calls) expect(await refusalOf(call()), String(call)).toMatchObject(invalid);
  });

  it.each([
    ['NUL', NUL],
    ['half of a surrogate pair', HALF],
  ])('INPUT-3 %s is refused wherever text is taken', async (_, text) => {
    const cairn = await test().freshTenant();
    const before = await latestToken(cairn);
    const packet = { packet_type: 'p', payload: {} };
    const calls = [
      () => cairn.cards.add({ content: text }),
      () => cairn.cards.add({ content: { deep: [text] } }),
      () => cairn.cards.add({ content: { [text]: 1 } }),
      () => cairn.cards.add({ metadata: { note: text } }),
      () => cairn.cards.add({ tool_calls: [{ x: text }] }),
      () => cairn.boxes.create({ metadata: { note: text } }),
      () => cairn.packets.write({ ...packet, packet_type: text }),
      () => cairn.packets.write({ ...packet, payload: { text } }),
      () => cairn.packets.write({ ...packet, provenance: { source: text } }),
      () => cairn.packets.write({ ...packet, tags: [text] }),
      () => cairn.packets.write({ ...packet, confidence: { score: 1, rationale: text } }),
      () => cairn.keys.create({ name: text }),
    ];
    for (const call of calls) expect(await refusalOf(call()), String(call)).toMatchObject(invalid);
    expect(await latestToken(cairn)).toBe(before);
  });

  it('INPUT-4 a value is nested 64 levels deep at most', async () => {
    const cairn = await test().freshTenant();
    const { card_id } = await cairn.cards.add({ content: nested(64) });
    expect((await cairn.cards.get({ card_id })).content).toEqual(nested(64));
    expect(await cairn.cards.add_batch({ cards: [{ content: nested(64) }] })).toMatchObject({ succeeded: 1 });
    for (const levels of [65, 80, 5000]) {
      expect(await refusalOf(cairn.cards.add({ content: nested(levels) })), `${levels}`).toMatchObject(invalid);
      const payload = { deep: nested(levels) };
      expect(await refusalOf(cairn.packets.write({ packet_type: 'p', payload }))).toMatchObject(invalid);
    }
  });

  it.each<[string, unknown]>([
    ['NaN', Number.NaN],
    ['Infinity', Number.POSITIVE_INFINITY],
    ['a date', new Date(0)],
    ['a big integer', 5n],
    ['a function', () => 1],
    ['a map', new Map([['a', 1]])],
    ['bytes', new Uint8Array(2)],
  ])('INPUT-5 %s is refused, never rewritten', async (_, value) => {
    const cairn = await test().freshTenant();
    const before = await latestToken(cairn);
    for (const content of [value, [value], { deep: { value } }]) {
      expect(await refusalOf(cairn.cards.add(wrong({ content })))).toMatchObject(invalid);
      const payload = { content };
      expect(await refusalOf(cairn.packets.write(wrong({ packet_type: 'p', payload })))).toMatchObject(invalid);
    }
    expect(await latestToken(cairn)).toBe(before);
  });

  it('INPUT-11 names, types and ids of nothing but white space are refused by name, and nothing is written', async () => {
    const cairn = await test().freshTenant();
    const { trajectory_id } = await cairn.trajectories.create({ name: 'Task' });
    const { scope_id } = await cairn.scopes.create({ trajectory_id, name: 'Scope' });
    const before = await latestToken(cairn);
    const artifact = { trajectory_id, artifact_type: 'Fact', name: 'a', content: 'c' };
    const note = { note_type: 'Fact', title: 't', content: 'c' };
    const lock = { resource_type: 'file', resource_id: 'a', holder_agent_id: 'ann' };
    for (const blank of ['   ', '\t\n', '\u3000', '\u00a0 ']) {
      const calls: [string, () => Promise<unknown>][] = [
        ['name', () => cairn.trajectories.create({ name: blank })],
        ['name', () => cairn.trajectories.update({ trajectory_id, name: blank })],
        ['name', () => cairn.scopes.create({ trajectory_id, name: blank })],
        ['name', () => cairn.scopes.restore({ scope_id, name: blank })],
        ['name', () => cairn.artifacts.create({ ...artifact, name: blank })],
        ['artifact_type', () => cairn.artifacts.create({ ...artifact, artifact_type: blank })],
        ['title', () => cairn.notes.create({ ...note, title: blank })],
        ['note_type', () => cairn.notes.create({ ...note, note_type: blank })],
        ['agent_type', () => cairn.agents.register({ agent_type: blank, capabilities: ['a'] })],
        ['capabilities', () => cairn.agents.register({ agent_type: 'a', capabilities: [blank] })],
        ['packet_type', () => cairn.packets.write({ packet_type: blank, payload: {} })],
        ['tags', () => cairn.packets.write({ packet_type: 'a', payload: {}, tags: [blank] })],
        ['name', () => cairn.executions.create({ name: blank })],
        ['name', () => cairn.keys.create({ name: blank })],
        ['name', () => cairn.handovers.save({ name: blank, handover: {} })],
        ['name', () => cairn.profiles.create({ name: blank })],
        ['text', () => cairn.memory.remember({ text: blank })],
        ['agent_id', () => cairn.agents.register({ agent_id: blank, agent_type: 'a', capabilities: ['a'] })],
        ['resource_type', () => cairn.locks.acquire({ ...lock, resource_type: blank })],
        ['resource_id', () => cairn.locks.acquire({ ...lock, resource_id: blank })],
        ['holder_agent_id', () => cairn.locks.acquire({ ...lock, holder_agent_id: blank })],
        ['card_id', () => cairn.cards.add({ card_id: blank })],
        ['box_id', () => cairn.boxes.create({ box_id: blank })],
        ['to_agent_id', () => cairn.messages.send({ to_agent_id: blank, message_type: 'm', payload: '' })],
        ['message_type', () => cairn.messages.send({ to_agent_id: 'a', message_type: blank, payload: '' })],
      ];
      for (const [field, call] of calls)
        expect(await refusalOf(call()), String(call)).toMatchObject({
          ...invalid,
          message: expect.stringContaining(field),
        });
    }
    expect(await latestToken(cairn)).toBe(before);
  });

  it('INPUT-6 times are UTC on the way out, and on the way in where they name no zone', async () => {
    const cairn = await test().freshTenant();
    for (const [given, read] of [
      ['2025-06-01T12:00:00Z', '2025-06-01T12:00:00.000Z'],
      ['2025-06-01T14:30:00.5+02:30', '2025-06-01T12:00:00.500Z'],
      ['2025-06-01T12:00:00', '2025-06-01T12:00:00.000Z'],
      ['2025-06-01T12:00:00.123456', '2025-06-01T12:00:00.123Z'],
    ] as const) {
      const { packet_id } = await cairn.packets.write({ packet_type: 'p', payload: {}, timestamp: given });
      expect((await cairn.packets.get({ packet_id })).timestamp).toBe(read);
    }
    for (const timestamp of ['2025-06-01', '2025-13-01T00:00:00Z', '1748779200', '']) {
      const write = cairn.packets.write({ packet_type: 'p', payload: {}, timestamp });
      expect(await refusalOf(write), timestamp).toMatchObject(invalid);
    }
  });

  const overHttp = async (path: string, init: RequestInit) => {
    const cairn = await test().freshTenant();
    const { key } = await cairn.keys.create({});
    const headers = { 'x-api-key': key, ...init.headers };
    const before = await latestToken(cairn);
    const response = await fetch(`${test().url}${path}`, { ...init, headers });
    expect(await latestToken(cairn)).toBe(before);
    return [response.status, ((await response.json()) as { code: string }).code, response.headers.get('allow')];
  };

  it.for<[string, number, string, string | Uint8Array<ArrayBuffer>, string?]>([
    ['broken JSON', 400, 'INVALID_JSON', '{"packet_type":'],
    ['invalid UTF-8', 400, 'INVALID_JSON', new Uint8Array([0x7b, 0x22, 0xff, 0x22, 0x3a, 0x31, 0x7d])],
    ['a list', 400, 'INVALID_INPUT', '[]'],
    ['text', 400, 'INVALID_INPUT', '"x"'],
    ['nothing', 400, 'INVALID_INPUT', ''],
    ['a number too long', 400, 'INVALID_INPUT', '{"packet_type":"p","payload":{"n":12345678901234567890}}'],
    ['a number too large', 400, 'INVALID_INPUT', '{"packet_type":"p","payload":{"n":1e999}}'],
    ['far too deep', 400, 'INVALID_INPUT', `{"payload":${'['.repeat(100_000)}`],
    ['another type', 415, 'UNSUPPORTED_MEDIA_TYPE', '{"packet_type":"p","payload":{}}', 'text/plain'],
    ['a form', 415, 'UNSUPPORTED_MEDIA_TYPE', 'packet_type=p', 'application/x-www-form-urlencoded'],
    ['more than 8 MiB', 413, 'TOO_LARGE', `{"packet_type":"p","payload":{"x":"${'x'.repeat(8 * 1024 * 1024)}"}}`],
  ])('INPUT-7 a body of %s is refused', async ([, status, code, body, type], context) => {
    if (test().url === undefined) return context.skip('about HTTP alone');
    const headers = { 'content-type': type ?? 'application/json' };
    const answer = await overHttp('/api/v1/memory/packet', { method: 'POST', body, headers });
    expect(answer).toEqual([status, code, null]);
  });

  it('INPUT-8 unknown paths and methods are refused', async (context) => {
    if (test().url === undefined) return context.skip('about HTTP alone');
    expect(await overHttp('/api/v1/nothing', {})).toEqual([404, 'ROUTE_NOT_FOUND', null]);
    expect(await overHttp('/api/v1/memory/packet', {})).toEqual([405, 'METHOD_NOT_ALLOWED', 'POST']);
    expect(await overHttp('/projects/x/boxes/y/grants', { method: 'PATCH' })).toEqual([
      405,
      'METHOD_NOT_ALLOWED',
      'GET, POST, DELETE',
    ]);
  });
});
