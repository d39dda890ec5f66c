import { randomUUID } from 'node:crypto';
import { expect, it } from 'vitest';
import type { Api } from '#cairn/client/index.js';
import { latestToken } from '../support/nouns/stream.js';
import { onEveryTarget, refusalOf } from '../support/targets.js';

type PacketInput = Parameters<Api['packets']['write']>[0];

const NIL = '00000000-0000-0000-0000-000000000000';
const event = (more: Partial<PacketInput> = {}): PacketInput => ({ packet_type: 'event', payload: {}, ...more });

async function write(cairn: Api, more: Partial<PacketInput> = {}): Promise<string> {
  return (await cairn.packets.write(event(more))).packet_id;
}

const lineageOf = async (cairn: Api, packet_id: string) => (await cairn.packets.get({ packet_id })).lineage;

/** Another id for each packet that is to have one. */
const freshId = (sent: object) => ('packet_id' in sent ? { packet_id: randomUUID() } : {});

onEveryTarget('packets', (test) => {
  it('PACKET-1 every field comes back as it was sent', async () => {
    const cairn = await test().freshTenant();
    const parent = await write(cairn);
    const sent = {
      packet_id: randomUUID(),
      packet_type: 'insight',
      timestamp: '2025-12-07T12:00:00.000Z',
      payload: { action: 'user_query', list: [1, null, 'ü'], empty: {} },
      metadata: { schema_version: '1.1.0', reasoning_mode: 'chain_of_thought', agent: 'a', domain: 'd', own: 1 },
      provenance: { parent_packet: parent, source: 'api_gateway', tool: 'search_tool', own: [1] },
      confidence: { score: 0.95, rationale: 'reliable' },
      reasoning_block: { steps: ['one', { two: 2 }] },
      routing: { queue: 'q', priority: 3 },
      thread_id: randomUUID(),
      lineage: { parent_ids: [parent], derivation_type: 'inference' as const, generation: 1, root_packet_id: parent },
      tags: ['hdpe', 'california', 'hdpe'],
      subject_ids: ['user-7'],
      ttl: '2099-12-14T12:00:00.000Z',
    };
    const { packet_id } = await cairn.packets.write(sent);
    const { seq, recorded_at, content_hash, ...back } = await cairn.packets.get({ packet_id });
    expect(back).toEqual(sent);
    expect(seq).toBe((await cairn.packets.get({ packet_id: parent })).seq + 1);
    expect(content_hash).toMatch(/^[0-9a-f]{64}$/);
    expect(new Date(recorded_at).toISOString()).toBe(recorded_at);
  });

  it('PACKET-2 packet_type and payload are enough', async () => {
    const cairn = await test().freshTenant();
    const { packet_id } = await cairn.packets.write({ packet_type: 'event', payload: { a: 1 } });
    const packet = await cairn.packets.get({ packet_id });
    expect(packet).toMatchObject({
      packet_type: 'event',
      payload: { a: 1 },
      metadata: { schema_version: '1.1.0' },
      lineage: { parent_ids: [], generation: 0, root_packet_id: packet_id },
    });
    expect(Math.abs(Date.parse(packet.timestamp) - test().store.driver.now())).toBeLessThan(60_000);
    for (const part of [{ packet_type: 'event' }, { payload: {} }, { packet_type: '', payload: {} }]) {
      expect(await refusalOf(cairn.packets.write(part as PacketInput))).toMatchObject({ code: 'INVALID_INPUT' });
    }
  });

  it.each<[string, object]>([
    ['a payload that is no object', { payload: 'text' }],
    ['a payload that is a list', { payload: [] }],
    ['a score above 1', { confidence: { score: 1.1 } }],
    ['a score below 0', { confidence: { score: -0.1 } }],
    ['a confidence without a score', { confidence: { rationale: 'r' } }],
    ['an unknown derivation', { lineage: { parent_ids: [], derivation_type: 'guess' } }],
    ['a negative generation', { lineage: { parent_ids: [], generation: -1 } }],
    ['a thread_id that is no UUID', { thread_id: 'thread' }],
    ['an empty tag', { tags: [''] }],
    ['a ttl in the past', { ttl: '2020-01-01T00:00:00Z' }],
    ['a parent_packet that is no UUID', { provenance: { parent_packet: 'p' } }],
    ['an unknown field', { extra: 1 }],
  ])('PACKET-2 %s is refused and nothing is written', async (_, more) => {
    const cairn = await test().freshTenant();
    const before = await latestToken(cairn);
    const refused = { code: 'INVALID_INPUT', status: 400 };
    expect(await refusalOf(cairn.packets.write({ ...event(), ...more }))).toMatchObject(refused);
    expect(await refusalOf(cairn.packets.write_batch({ packets: [event(), { ...event(), ...more }] }))).toMatchObject(
      refused,
    );
    expect(await latestToken(cairn)).toBe(before);
  });

  it('PACKET-3 the write result says what was written', async () => {
    const cairn = await test().freshTenant();
    const packet_id = randomUUID();
    expect(await cairn.packets.write(event({ packet_id }))).toEqual({
      packet_id,
      status: 'ok',
      written_tables: ['packet_store'],
      error_message: null,
    });
    expect(await cairn.packets.write(event({ tags: ['t'] }))).toMatchObject({
      status: 'ok',
      written_tables: ['packet_store', 'packet_index'],
      error_message: null,
    });
  });

  it('PACKET-4 the same packet again writes nothing, another under its id is refused', async () => {
    const cairn = await test().freshTenant();
    const packet_id = randomUUID();
    const sent = event({ packet_id, payload: { a: 1, b: 2 }, tags: ['t'] });
    await cairn.packets.write(sent);
    const first = await cairn.packets.get({ packet_id });
    const before = await latestToken(cairn);
    expect(await cairn.packets.write({ ...sent, payload: { b: 2, a: 1 } })).toEqual({
      packet_id,
      status: 'ok',
      written_tables: [],
      error_message: null,
    });
    expect(await cairn.packets.write({ ...sent, packet_id: packet_id.toUpperCase() })).toMatchObject({ packet_id });
    for (const other of [{ payload: {} }, { tags: ['u'] }, { packet_type: 'insight' }]) {
      expect(await refusalOf(cairn.packets.write({ ...sent, ...other }))).toMatchObject({
        code: 'ENTITY_ALREADY_EXISTS',
        status: 409,
      });
    }
    expect(await latestToken(cairn)).toBe(before);
    expect(await cairn.packets.get({ packet_id })).toEqual(first);
  });

  it('PACKET-5 parents that are not there are refused by name', async () => {
    const cairn = await test().freshTenant();
    const [parent, one, other] = [await write(cairn), randomUUID(), randomUUID()];
    const before = await latestToken(cairn);
    expect(
      await refusalOf(cairn.packets.write(event({ lineage: { parent_ids: [one, parent, other] } }))),
    ).toMatchObject({ code: 'UNKNOWN_PARENT', status: 400, details: { missing_packet_ids: [one, other] } });
    const itself = { packet_id: one, lineage: { parent_ids: [one] } };
    expect(await refusalOf(cairn.packets.write(event(itself)))).toMatchObject({ code: 'UNKNOWN_PARENT' });
    expect(await refusalOf(cairn.packets.write(event({ provenance: { parent_packet: one } })))).toMatchObject({
      code: 'UNKNOWN_PARENT',
    });
    expect(await latestToken(cairn)).toBe(before);
  });

  it('PACKET-6 generation follows from the highest parent, the root from the first', async () => {
    const cairn = await test().freshTenant();
    const [a, b] = [await write(cairn), await write(cairn)];
    const c = await write(cairn, { lineage: { parent_ids: [b] } });
    const d = await write(cairn, { lineage: { parent_ids: [a, c], derivation_type: 'merge' } });
    const e = await write(cairn, { lineage: { parent_ids: [c, a, c] } });
    const noParents = await write(cairn, { lineage: { parent_ids: [] } });
    expect(await lineageOf(cairn, a)).toEqual({ parent_ids: [], generation: 0, root_packet_id: a });
    expect(await lineageOf(cairn, c)).toEqual({ parent_ids: [b], generation: 1, root_packet_id: b });
    expect(await lineageOf(cairn, d)).toEqual({
      parent_ids: [a, c],
      derivation_type: 'merge',
      generation: 2,
      root_packet_id: a,
    });
    expect(await lineageOf(cairn, e)).toEqual({ parent_ids: [c, a], generation: 2, root_packet_id: b });
    expect(await lineageOf(cairn, noParents)).toMatchObject({ generation: 0, root_packet_id: noParents });
  });

  it('PACKET-7 a claim that does not follow is refused, one that does is taken', async () => {
    const cairn = await test().freshTenant();
    const root = await write(cairn);
    for (const claim of [
      { parent_ids: [root], generation: 2 },
      { parent_ids: [root], root_packet_id: randomUUID() },
      { parent_ids: [], generation: 1 },
      { parent_ids: [], root_packet_id: root },
    ]) {
      expect(await refusalOf(cairn.packets.write(event({ lineage: claim })))).toMatchObject({
        code: 'INVALID_LINEAGE',
        status: 400,
      });
    }
    const right = { parent_ids: [root], generation: 1, root_packet_id: root };
    expect(await lineageOf(cairn, await write(cairn, { lineage: right }))).toEqual(right);
    const packet_id = randomUUID();
    await write(cairn, { packet_id, lineage: { parent_ids: [], generation: 0, root_packet_id: packet_id } });
  });

  it('PACKET-7 an envelope as pydantic serialises it is taken: defaults of a model claim nothing', async () => {
    const cairn = await test().freshTenant();
    const root = await write(cairn);
    const sent = {
      packet_id: randomUUID(),
      packet_type: 'insight',
      timestamp: '2025-12-07T12:00:00.123456',
      payload: { finding: null },
      metadata: { schema_version: '1.1.0', reasoning_mode: null, agent: null, domain: null },
      provenance: { parent_packet: null, source: null, tool: null },
      confidence: { score: 0.95, rationale: null },
      reasoning_block: null,
      routing: null,
      thread_id: null,
      lineage: { parent_ids: [root], derivation_type: 'Inference', generation: 0, root_packet_id: null },
      tags: [],
      subject_ids: null,
      ttl: '2099-12-14T12:00:00',
    } as unknown as PacketInput;
    expect(await cairn.packets.write(sent)).toMatchObject({ status: 'ok' });
    expect(await cairn.packets.write(sent)).toMatchObject({ status: 'ok', written_tables: [] });
    const { packet_id } = sent as { packet_id: string };
    const read = await cairn.packets.get({ packet_id });
    expect(read).toMatchObject({
      timestamp: '2025-12-07T12:00:00.123Z',
      payload: { finding: null },
      metadata: { agent: null },
      lineage: { parent_ids: [root], derivation_type: 'inference', generation: 1, root_packet_id: root },
      ttl: '2099-12-14T12:00:00.000Z',
    });
    for (const name of ['thread_id', 'routing', 'reasoning_block']) expect(read).not.toHaveProperty(name);
    expect(read.confidence).toEqual({ score: 0.95 });
    // A model of 1.1.0 that still says 1.0.1: what it leaves empty is no extension.
    const older = { ...sent, packet_id: null, lineage: null, ttl: null, metadata: { schema_version: '1.0.1' } };
    expect(await cairn.packets.write(older as unknown as PacketInput)).toMatchObject({ status: 'ok' });
  });

  it('PACKET-8 provenance.parent_packet is a parent, behind those of lineage; nil is none', async () => {
    const cairn = await test().freshTenant();
    const [a, b] = [await write(cairn), await write(cairn)];
    const only = await write(cairn, { provenance: { parent_packet: a } });
    expect(await lineageOf(cairn, only)).toEqual({ parent_ids: [a], generation: 1, root_packet_id: a });
    const both = await write(cairn, { provenance: { parent_packet: a }, lineage: { parent_ids: [b, a] } });
    expect(await lineageOf(cairn, both)).toEqual({ parent_ids: [b, a], generation: 1, root_packet_id: b });
    const behind = await write(cairn, { provenance: { parent_packet: a }, lineage: { parent_ids: [b] } });
    expect((await lineageOf(cairn, behind)).parent_ids).toEqual([b, a]);
    const nil = await write(cairn, { provenance: { parent_packet: NIL }, lineage: { parent_ids: [NIL] } });
    expect(await lineageOf(cairn, nil)).toEqual({ parent_ids: [], generation: 0, root_packet_id: nil });
  });

  it('PACKET-9 a batch may refer to its own earlier packets', async () => {
    const cairn = await test().freshTenant();
    const [a, b, c] = [randomUUID(), randomUUID(), randomUUID()];
    const { results } = await cairn.packets.write_batch({
      packets: [
        event({ packet_id: a, subject_ids: ['s'] }),
        event({ packet_id: b, lineage: { parent_ids: [a] } }),
        event({ packet_id: c, lineage: { parent_ids: [b] } }),
        event({ packet_id: a, subject_ids: ['s'] }),
      ],
    });
    expect(results.map(({ packet_id, written_tables }) => [packet_id, written_tables.length])).toEqual([
      [a, 2],
      [b, 2],
      [c, 2],
      [a, 0],
    ]);
    const last = await cairn.packets.get({ packet_id: c });
    expect(last).toMatchObject({ lineage: { generation: 2, root_packet_id: a }, subject_ids: ['s'] });
    expect(last.seq).toBe((await cairn.packets.get({ packet_id: a })).seq + 2);
  });

  it('PACKET-9 a batch is written whole or not at all', async () => {
    const cairn = await test().freshTenant();
    const [a, b, taken] = [randomUUID(), randomUUID(), await write(cairn)];
    const before = await latestToken(cairn);
    const later = event({ packet_id: b, lineage: { parent_ids: [a] } });
    const cases = [
      [[event(), later, event({ packet_id: a })], 'UNKNOWN_PARENT', 'packets[1]'],
      [[event(), event(), event({ packet_id: taken, payload: { x: 1 } })], 'ENTITY_ALREADY_EXISTS', 'packets[2]'],
      [[event({ packet_id: a }), event({ packet_id: a, tags: ['t'] })], 'ENTITY_ALREADY_EXISTS', 'packets[1]'],
      [[event(), event({ packet_type: 'cairn.x' })], 'RESERVED_TYPE', 'packets[1]'],
      [[event(), event({ lineage: { parent_ids: [], generation: 3 } })], 'INVALID_LINEAGE', 'packets[1]'],
    ] as const;
    for (const [packets, code, named] of cases) {
      expect(await refusalOf(cairn.packets.write_batch({ packets: [...packets] }))).toMatchObject({
        code,
        message: expect.stringContaining(named),
      });
    }
    for (const packets of [[], Array.from({ length: 1001 }, () => event())]) {
      expect(await refusalOf(cairn.packets.write_batch({ packets }))).toMatchObject({ code: 'INVALID_INPUT' });
    }
    expect(await latestToken(cairn)).toBe(before);
  });

  it.each(['1.0.0', '1.0.1'])('PACKET-15 an envelope of %s is read as 1.1.0 and can be had back', async (version) => {
    const cairn = await test().freshTenant();
    const parent = await write(cairn);
    const sent = event({
      payload: { z: 1, a: [2] },
      metadata: { schema_version: version, agent: 'a' },
      provenance: { source: 's', parent_packet: parent },
    });
    const packet_id = await write(cairn, sent);
    expect(await cairn.packets.get({ packet_id })).toMatchObject({
      metadata: { schema_version: '1.1.0', agent: 'a' },
      lineage: { parent_ids: [parent], generation: 1 },
    });
    expect(await cairn.packets.original({ packet_id })).toEqual(sent);
  });

  it('PACKET-15 the original has what was sent and nothing else', async () => {
    const cairn = await test().freshTenant();
    const parent = await write(cairn, { subject_ids: ['s'] });
    const ann = await test().as({ tenant: (await cairn.auth.whoami()).tenant_id, agent: 'ann', role: 'write' });
    for (const sent of [
      { packet_type: 'p', payload: { z: 1, a: [2] } },
      { packet_type: 'p', payload: {}, packet_id: randomUUID(), timestamp: '2026-01-31T12:00:00+01:00' },
      { packet_type: 'p', payload: {}, metadata: { domain: 'd' }, ttl: '2099-01-31T12:00:00Z' },
      { packet_type: 'p', payload: {}, metadata: { schema_version: '1.1.0' }, tags: ['t'] },
      { packet_type: 'p', payload: {}, lineage: { parent_ids: [parent] }, subject_ids: ['t'] },
      { packet_type: 'p', payload: {}, provenance: { parent_packet: parent, source: 's' } },
      { packet_type: 'p', payload: {}, confidence: { score: 1 }, routing: { to: null }, thread_id: parent },
    ] as const) {
      for (const api of [cairn, ann]) {
        const { packet_id } = await api.packets.write({ ...structuredClone(sent), ...freshId(sent) } as never);
        const original = await cairn.packets.original({ packet_id });
        expect(original).toEqual({ ...sent, ...('packet_id' in sent ? { packet_id } : {}) });
      }
    }
  });

  it('PACKET-15 the original is what was sent after input is normalised', async () => {
    const cairn = await test().freshTenant();
    const packet_id = randomUUID();
    const { packet_id: written } = await cairn.packets.write({
      packet_id: packet_id.toUpperCase(),
      packet_type: 'p',
      payload: { kept: null },
      timestamp: '2026-01-31T12:00:00',
      thread_id: null,
      ttl: null,
    } as never);
    expect(written).toBe(packet_id);
    expect(await cairn.packets.original({ packet_id })).toEqual({
      packet_id,
      packet_type: 'p',
      payload: { kept: null },
      timestamp: '2026-01-31T12:00:00Z',
    });
  });

  it('PACKET-15 the original of an event of Cairn is the event', async () => {
    const cairn = await test().freshTenant();
    await cairn.cards.add({ content: 1 });
    const { packets } = await cairn.packets.list({ packet_type: 'cairn.card.added' });
    const { seq, recorded_at, content_hash, ...envelope } = packets[0]!;
    expect([typeof seq, typeof recorded_at, typeof content_hash]).toEqual(['number', 'string', 'string']);
    expect(await cairn.packets.original({ packet_id: envelope.packet_id })).toEqual(envelope);
  });

  it.each<[string, Partial<PacketInput>]>([
    ['thread_id', { thread_id: randomUUID() }],
    ['lineage', { lineage: { parent_ids: [] } }],
    ['tags', { tags: ['t'] }],
    ['ttl', { ttl: '2099-01-01T00:00:00Z' }],
  ])('PACKET-16 %s in an older envelope is refused', async (field, more) => {
    const cairn = await test().freshTenant();
    for (const schema_version of ['1.0.0', '1.0.1']) {
      expect(await refusalOf(cairn.packets.write(event({ metadata: { schema_version }, ...more })))).toMatchObject({
        code: 'INVALID_INPUT',
        status: 400,
        message: expect.stringContaining(field),
      });
    }
  });

  it('PACKET-16 an unknown version is refused', async () => {
    const cairn = await test().freshTenant();
    for (const schema_version of ['1.2.0', '1.0', 1, '']) {
      expect(await refusalOf(cairn.packets.write(event({ metadata: { schema_version } })))).toMatchObject({
        code: 'INVALID_INPUT',
      });
    }
  });

  it('PACKET-17 types of Cairn itself are refused to users', async () => {
    const cairn = await test().freshTenant();
    for (const packet_type of ['cairn.card.added', 'cairn.', 'CAIRN.mine']) {
      expect(await refusalOf(cairn.packets.write(event({ packet_type })))).toMatchObject({
        code: 'RESERVED_TYPE',
        status: 400,
      });
    }
    for (const packet_type of ['cairn', 'cairns.x', 'my.cairn.x']) await write(cairn, { packet_type });
  });

  it('PACKET-18 subjects are inherited from the parents', async () => {
    const cairn = await test().freshTenant();
    const a = await write(cairn, { subject_ids: ['s1'] });
    const b = await write(cairn, { subject_ids: ['s2'] });
    const c = await write(cairn, { lineage: { parent_ids: [a, b] }, subject_ids: ['s3', 's1'] });
    const d = await write(cairn, { provenance: { parent_packet: c } });
    expect((await cairn.packets.get({ packet_id: d })).subject_ids).toEqual(['s3', 's1', 's2']);
    const { packets } = await cairn.packets.list({ subject_id: 's2', order: 'asc' });
    expect(packets.map(({ packet_id }) => packet_id)).toEqual([b, c, d]);
  });

  it('PACKET-19 a packet that is not there is not found', async () => {
    const cairn = await test().freshTenant();
    const packet_id = randomUUID();
    const { get, original, lineage } = cairn.packets;
    for (const read of [get, original, lineage]) {
      expect(await refusalOf(read({ packet_id }))).toMatchObject({ code: 'PACKET_NOT_FOUND', status: 404 });
    }
    expect(await refusalOf(get({ packet_id: 'none' }))).toMatchObject({ code: 'INVALID_INPUT', status: 400 });
  });

  it('PACKET-20 a packet has 1 MiB at most', async () => {
    const cairn = await test().freshTenant();
    const room = 1024 * 1024 - JSON.stringify(event({ payload: { a: '' } })).length;
    await write(cairn, { payload: { a: 'x'.repeat(room) } });
    expect(await refusalOf(write(cairn, { payload: { a: 'x'.repeat(room + 1) } }))).toMatchObject({
      code: 'TOO_LARGE',
      status: 413,
    });
  });
});
