import { randomUUID } from 'node:crypto';
import { expect, it } from 'vitest';
import { migrateStore, Store } from '#cairn/api/index.js';
import type { Api } from '#cairn/client/index.js';
import type { Packet } from '#cairn/facts/packets/model.js';
import { followToNow, followUntil, inFuture, latestSeq, latestToken } from '../support/nouns/stream.js';
import { freshDatabase, onEveryStreamTarget, refusalOf } from '../support/targets.js';

const write = async (cairn: Api, packet_type: string, more: object = {}): Promise<string> =>
  (await cairn.packets.write({ packet_type, payload: {}, ...more })).packet_id;

const typesOf = (packets: readonly Packet[]) => packets.map(({ packet_type }) => packet_type);
const isLast = ({ packet_type }: Packet) => packet_type === 'last';

/** The first answer of a stream, for what it refuses. */
const open = async (cairn: Api, after: string) => {
  for await (const item of cairn.events.follow({ after })) return item;
  return undefined;
};

onEveryStreamTarget('events', (test) => {
  it('EVENT-1 every change appends one event of its own type', async () => {
    const cairn = await test().freshTenant();
    const before = await latestToken(cairn);
    await cairn.cards.add({ card_id: 'a', content: 'a secret', subject_ids: ['s'] });
    await cairn.cards.add({ card_id: 'b' });
    await cairn.boxes.create({ box_id: 'x', card_ids: ['a'], metadata: { note: 'a secret' } });
    await cairn.boxes.append({ box_id: 'x', card_ids: ['b'] });
    await cairn.boxes.save({ box_id: 'x', card_ids: ['b'], revision: 2 });
    await cairn.boxes.fork({ box_id: 'x', new_box_id: 'f' });
    await cairn.boxes.grant({ box_id: 'x', agent_id: 'g' });
    await cairn.boxes.ungrant({ box_id: 'x', agent_id: 'g' });
    await cairn.boxes.seal({ box_id: 'x' });
    await cairn.cards.delete({ card_id: 'a' });
    const { key_id, key } = await cairn.keys.create({});
    await cairn.keys.revoke({ key_id });
    const events = await followToNow(cairn, before);
    const entities = events.map(({ packet_type, payload }) => [packet_type, payload?.entity]);
    expect(entities).toEqual([
      ['cairn.card.added', { type: 'Card', id: 'a' }],
      ['cairn.card.added', { type: 'Card', id: 'b' }],
      ['cairn.box.created', { type: 'Box', id: 'x' }],
      ['cairn.box.appended', { type: 'Box', id: 'x' }],
      ['cairn.box.saved', { type: 'Box', id: 'x' }],
      ['cairn.box.forked', { type: 'Box', id: 'f' }],
      ['cairn.box.granted', { type: 'Box', id: 'x' }],
      ['cairn.box.ungranted', { type: 'Box', id: 'x' }],
      ['cairn.box.sealed', { type: 'Box', id: 'x' }],
      ['cairn.card.deleted', { type: 'Card', id: 'a' }],
      ['cairn.key.created', { type: 'Key', id: key_id }],
      ['cairn.key.revoked', { type: 'Key', id: key_id }],
    ]);
    const text = JSON.stringify(events);
    expect(text).not.toContain('a secret');
    expect(text).not.toContain(key);
  });

  it('EVENT-1 an event names its actor, and the keyed hash of what it is about', async () => {
    const { as, freshTenant } = test();
    const { tenant_id: tenant } = await (await freshTenant()).auth.whoami();
    const ann = await as({ tenant, agent: 'ann', role: 'write' });
    const before = await latestToken(ann);
    await ann.cards.add({ content: 'x' });
    const { key_id } = await ann.auth.whoami();
    const [event] = await followToNow(ann, before);
    expect(event).toMatchObject({
      payload: { actor: { agent_id: 'ann', key_id }, content_hash: expect.stringMatching(/^keyed:/) },
      metadata: { agent: 'ann' },
      provenance: { source: 'cairn' },
    });
    const found = await ann.packets.list({ packet_type: 'cairn.card.added', agent: 'ann' });
    expect(found.packets).toEqual([event]);
  });

  it('EVENT-2 the stream gives every packet once, in order and without a gap', async () => {
    const cairn = await test().freshTenant();
    const start = await latestSeq(cairn);
    const packets = Array.from({ length: 450 }, (_, i) => ({ packet_type: 'event', payload: { i } }));
    await cairn.packets.write_batch({ packets });
    await write(cairn, 'last');
    const followed = await followUntil(cairn, { after: '0' }, isLast);
    expect(followed.map(({ packet }) => packet.seq)).toEqual(Array.from({ length: start + 451 }, (_, i) => i + 1));
    expect(followed.slice(start, -1).map(({ packet }) => packet.payload?.i)).toEqual(packets.map((_, i) => i));
    const [one] = followed.slice(start);
    expect(one!.packet).toEqual(await cairn.packets.get({ packet_id: one!.packet.packet_id }));
  });

  it('EVENT-3 a stream resumed at any event goes on behind it', async () => {
    const cairn = await test().freshTenant();
    for (let i = 0; i < 5; i++) await write(cairn, `event-${i}`);
    await write(cairn, 'last');
    const all = await followUntil(cairn, { after: '0' }, isLast);
    for (const [i, { token }] of all.slice(0, -1).entries()) {
      const rest = await followUntil(cairn, { after: token }, isLast);
      expect(rest).toEqual(all.slice(i + 1));
    }
  });

  it('EVENT-3 readers that leave and come back see each event once', async () => {
    const cairn = await test().freshTenant();
    let after = await latestToken(cairn);
    const written: string[] = [];
    const seen: string[] = [];
    for (let round = 0; round < 4; round++) {
      for (let i = 0; i < 3; i++) written.push(await write(cairn, 'event', { payload: { round, i } }));
      const stop = written[round * 3 + 1];
      const followed = await followUntil(cairn, { after }, ({ packet_id }) => packet_id === stop);
      seen.push(...followed.map(({ packet }) => packet.packet_id));
      after = followed.at(-1)!.token;
    }
    const rest = await followUntil(cairn, { after }, ({ packet_id }) => packet_id === written.at(-1));
    expect([...seen, ...rest.map(({ packet }) => packet.packet_id)]).toEqual(written);
  });

  it('EVENT-4 without a token only what is new comes; the first item is the position', async () => {
    const cairn = await test().freshTenant();
    await write(cairn, 'old');
    const stream = cairn.events.follow({})[Symbol.asyncIterator]();
    const first = await stream.next();
    expect(first.value).toEqual({ token: await latestToken(cairn), packet: null });
    await write(cairn, 'new');
    const second = await stream.next();
    expect(second.value).toMatchObject({ packet: { packet_type: 'new' } });
    await stream.return?.();
    expect(await open(cairn, '0')).toMatchObject({ packet: null, token: expect.stringMatching(/\.0$/) });
  });

  it('EVENT-5 an open stream gets what is written meanwhile, from several writers', async () => {
    const cairn = await test().freshTenant();
    const stop = new AbortController();
    const seen: string[] = [];
    let count = 0;
    const reading = (async () => {
      for await (const { packet } of cairn.events.follow({ after: '0' }, { signal: stop.signal })) {
        if (packet?.packet_type !== 'event') continue;
        seen.push(packet.packet_id);
        if (++count === 40) return;
      }
    })();
    const written = await Promise.all(Array.from({ length: 40 }, () => write(cairn, 'event')));
    await reading;
    stop.abort();
    expect([...seen].sort()).toEqual([...written].sort());
  });

  it('EVENT-6 a stream can be narrowed to a type, a prefix or a thread', async () => {
    const cairn = await test().freshTenant();
    const thread_id = randomUUID();
    for (const type of ['a', 'a.b', 'a.b.c', 'ab', 'b', 'A.b']) await write(cairn, type, { thread_id });
    await write(cairn, 'a.b');
    const read = async (filter: object, last: string, count: number) => {
      let left = count;
      const followed = await followUntil(cairn, { after: '0', ...filter }, (packet) => {
        if (packet.packet_type === last) left--;
        return left === 0;
      });
      return followed.map(({ packet }) => packet.packet_type);
    };
    expect(await read({ packet_type: 'a.b' }, 'a.b', 2)).toEqual(['a.b', 'a.b']);
    expect(await read({ packet_type: 'a.*' }, 'a.b', 2)).toEqual(['a.b', 'a.b.c', 'a.b']);
    expect(await read({ packet_type: 'a*', thread_id }, 'ab', 1)).toEqual(['a', 'a.b', 'a.b.c', 'ab']);
    expect(await read({ thread_id }, 'A.b', 1)).toEqual(['a', 'a.b', 'a.b.c', 'ab', 'b', 'A.b']);
    expect(await read({ packet_type: 'a.b', thread_id }, 'a.b', 1)).toEqual(['a.b']);
  });

  it('EVENT-6 a narrowed stream resumes where it was', async () => {
    const cairn = await test().freshTenant();
    for (const type of ['a', 'b', 'a', 'b', 'a', 'last']) await write(cairn, type);
    const [first] = await followUntil(cairn, { after: '0', packet_type: 'a' }, () => true);
    const rest = await followUntil(cairn, { after: first!.token }, isLast);
    expect(typesOf(rest.map(({ packet }) => packet))).toEqual(['b', 'a', 'b', 'a', 'last']);
  });

  it('EVENT-7 a token of another epoch or from the future is refused with the latest', async () => {
    const cairn = await test().freshTenant();
    await write(cairn, 'event');
    const latest = await latestToken(cairn);
    const [epoch, seq] = latest.split('.') as [string, string];
    const foreign = (epoch.startsWith('0') ? '1' : '0') + epoch.slice(1);
    for (const token of [`${foreign}.${seq}`, `${foreign}.0`, `${epoch}.${Number(seq) + 1}`]) {
      expect(await refusalOf(open(cairn, token))).toMatchObject({
        code: 'STREAM_RESET',
        status: 409,
        details: { latest },
      });
    }
    expect(await open(cairn, latest)).toEqual({ token: latest, packet: null });
  });

  it('EVENT-7 tokens of before a restore are refused', async () => {
    const { database, drop } = await freshDatabase(test().target === 'postgres' ? 'postgres' : 'sqlite');
    const admin = { tenant_id: 'default', agent_id: null, role: 'admin', key_id: null } as const;
    const before = await Store.open({ database, sweep_every_ms: 0 });
    await write(before.api(admin), 'event');
    const token = await latestToken(before.api(admin));
    await before.close();
    await migrateStore({ database, restored: true });
    const after = await Store.open({ database, sweep_every_ms: 0 });
    const latest = await latestToken(after.api(admin));
    expect(await refusalOf(open(after.api(admin), token))).toMatchObject({ code: 'STREAM_RESET', details: { latest } });
    expect(latest.split('.')[1]).toBe(token.split('.')[1]);
    await after.close();
    await drop();
  });

  it.each(['1', 'x', 'abc.1', '-1', '00000000000000000.1', ' '])('EVENT-7 "%s" is no token', async (token) => {
    const cairn = await test().freshTenant();
    expect(await refusalOf(open(cairn, token))).toMatchObject({ code: 'INVALID_CURSOR', status: 400 });
  });

  it('EVENT-8 expired and erased packets keep their place', async () => {
    const cairn = await test().freshTenant();
    const before = await latestToken(cairn);
    const thread_id = randomUUID();
    const gone = await write(cairn, 'a', { payload: { secret: 1 }, thread_id, ttl: inFuture(test(), 1000) });
    await write(cairn, 'b');
    test().advance(2000);
    const expired = await followToNow(cairn, before);
    await cairn.lifetime.sweep();
    const erased = (await followToNow(cairn, before)).filter(({ packet_type }) => packet_type === 'a');
    expect(typesOf(expired)).toEqual(['a', 'b']);
    for (const packet of [expired[0]!, erased[0]!]) {
      expect(packet).toMatchObject({ packet_id: gone, packet_type: 'a', thread_id, erased: true });
      expect(packet.payload).toBeUndefined();
      expect(packet.metadata).toBeUndefined();
      expect(packet.seq).toBe(expired[1]!.seq - 1);
    }
  });

  it('EVENT-9 streams of different tenants do not meet', async () => {
    const [one, other] = [await test().freshTenant(), await test().freshTenant()];
    const before = await latestToken(one);
    await write(other, 'foreign');
    await write(one, 'own');
    expect(typesOf(await followToNow(one, before))).toEqual(['own']);
  });
});
