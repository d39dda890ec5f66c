/** Finding packets: filters, threads, lineage. */
import { randomUUID } from 'node:crypto';
import { expect, it } from 'vitest';
import type { Api } from '#cairn/client/index.js';
import { onEveryTarget, refusalOf } from '../support/targets.js';

type PacketInput = Parameters<Api['packets']['write']>[0];
type Filter = NonNullable<Parameters<Api['packets']['list']>[0]>;

const event = (more: Partial<PacketInput> = {}): PacketInput => ({ packet_type: 'event', payload: {}, ...more });
const child = (name: string, ...parents: string[]): PacketInput =>
  event({ packet_id: id(name), payload: { name }, lineage: { parent_ids: parents.map(id) } });

/** A UUID that a test can write down: of `a` it is …0061. */
const id = (name: string): string => `00000000-0000-4000-8000-${Buffer.from(name).toString('hex').padStart(12, '0')}`;

const THREAD = randomUUID();
const PARENT = id('parent');

/** What the filters are tried on; each packet is named by its payload. */
const packets: readonly PacketInput[] = [
  event({ packet_id: PARENT, packet_type: 'root', timestamp: '2025-01-01T00:00:00Z' }),
  event({ packet_type: 'insight', timestamp: '2025-01-02T00:00:00Z', tags: ['x', 'y'], thread_id: THREAD }),
  event({ timestamp: '2025-01-03T00:00:00Z', tags: ['y'], metadata: { agent: 'ann' } }),
  event({ timestamp: '2025-01-04T00:00:00Z', lineage: { parent_ids: [PARENT] }, metadata: { agent: 'bob' } }),
  event({ timestamp: '2025-01-05T00:00:00Z', provenance: { source: 'api', parent_packet: PARENT } }),
  event({ timestamp: '2025-01-06T00:00:00Z', subject_ids: ['u 1'], thread_id: THREAD, provenance: { source: 'cli' } }),
  event({ timestamp: '2025-01-07T00:00:00Z', routing: { queue: 'a:b', priority: 3, urgent: true, deep: { x: 1 } } }),
  event({ timestamp: '2025-01-08T00:00:00Z', routing: { queue: 'other' }, tags: ['y'], metadata: { agent: 'ann' } }),
];
const named = packets.map((packet, i) => ({ ...packet, payload: { i } }));

const alone: readonly [string, Filter, readonly number[]][] = [
  ['packet_type', { packet_type: 'insight' }, [1]],
  ['an unknown packet_type', { packet_type: 'insights' }, []],
  ['tag', { tag: 'y' }, [7, 2, 1]],
  ['tag, exactly', { tag: 'Y' }, []],
  ['thread_id', { thread_id: THREAD }, [5, 1]],
  ['thread_id in capitals', { thread_id: THREAD.toUpperCase() }, [5, 1]],
  ['parent_id', { parent_id: PARENT }, [4, 3]],
  ['agent', { agent: 'ann' }, [7, 2]],
  ['source', { source: 'cli' }, [5]],
  ['subject_id', { subject_id: 'u 1' }, [5]],
  ['routing with text', { routing: 'queue:a:b' }, [6]],
  ['routing with a number', { routing: 'priority:3' }, [6]],
  ['routing with a boolean', { routing: 'urgent:true' }, [6]],
  ['since, inclusive', { since: '2025-01-06T00:00:00Z', packet_type: 'event' }, [7, 6, 5]],
  ['until, exclusive', { until: '2025-01-03T00:00:00Z' }, [1, 0]],
  ['since and until', { since: '2025-01-03T01:00:00+01:00', until: '2025-01-05T00:00:00Z' }, [3, 2]],
  ['order', { order: 'asc', tag: 'y' }, [1, 2, 7]],
];

const combined: readonly [string, Filter, readonly number[]][] = [
  ['tag and agent', { tag: 'y', agent: 'ann' }, [7, 2]],
  ['tag, agent and time', { tag: 'y', agent: 'ann', until: '2025-01-04T00:00:00Z' }, [2]],
  ['tag and routing', { tag: 'y', routing: 'queue:other' }, [7]],
  ['thread, type and tag', { thread_id: THREAD, packet_type: 'insight', tag: 'x' }, [1]],
  ['thread and subject', { thread_id: THREAD, subject_id: 'u 1', source: 'cli' }, [5]],
  ['parent and agent', { parent_id: PARENT, agent: 'bob' }, [3]],
  ['parent and source', { parent_id: PARENT, source: 'api' }, [4]],
  ['two that nothing has', { tag: 'x', agent: 'ann' }, []],
];

onEveryTarget('packets found', (test) => {
  const found = async (cairn: Api, filter: Filter) => {
    const { packets, total } = await cairn.packets.list(filter);
    expect(total).toBe(packets.length);
    return packets.map(({ payload }) => payload?.i);
  };

  it('PACKET-10 packets are found by each filter', async () => {
    const cairn = await test().freshTenant();
    await cairn.packets.write_batch({ packets: named });
    for (const [name, filter, expected] of alone) {
      expect(await found(cairn, filter), name).toEqual(expected);
    }
    const [newest] = (await cairn.packets.list({ limit: 1 })).packets;
    expect(newest).toEqual(await cairn.packets.get({ packet_id: newest!.packet_id }));
  });

  it('PACKET-10 packets of users are told from the events of changes', async () => {
    const cairn = await test().freshTenant();
    await cairn.packets.write(event({ payload: { i: 1 } }));
    await cairn.cards.add({ content: 'a change' });
    await cairn.packets.write(event({ payload: { i: 2 }, provenance: { source: 'cairn' } }));
    expect(await found(cairn, { written_by: 'users' })).toEqual([2, 1]);
    const { packets } = await cairn.packets.list({ written_by: 'cairn' });
    expect(packets.length).toBeGreaterThan(0);
    expect(packets.every(({ packet_type }) => packet_type.startsWith('cairn.'))).toBe(true);
  });

  it('PACKET-10 a routing filter is key:value', async () => {
    const cairn = await test().freshTenant();
    for (const routing of ['queue', ':value', 'queue:']) {
      expect(await refusalOf(cairn.packets.list({ routing }))).toMatchObject({ code: 'INVALID_INPUT' });
    }
  });

  it('PACKET-11 filters narrow each other', async () => {
    const cairn = await test().freshTenant();
    await cairn.packets.write_batch({ packets: named });
    for (const [name, filter, expected] of combined) {
      expect(await found(cairn, filter), name).toEqual(expected);
    }
  });

  it('PACKET-12 a thread is read in the order in which it was written', async () => {
    const cairn = await test().freshTenant();
    const thread_id = randomUUID();
    for (const [i, timestamp] of ['2025-03-01T00:00:00Z', '2025-01-01T00:00:00Z', '2025-02-01T00:00:00Z'].entries()) {
      await cairn.packets.write(event({ thread_id, timestamp, payload: { i } }));
      await cairn.packets.write(event({ thread_id: randomUUID() }));
    }
    const thread = await cairn.packets.thread({ thread_id });
    expect(thread.packets.map(({ payload }) => payload?.i)).toEqual([0, 1, 2]);
    expect([thread.total, thread.next_cursor]).toEqual([3, null]);
    const backwards = await cairn.packets.thread({ thread_id, order: 'desc', limit: 2 });
    expect(backwards.packets.map(({ payload }) => payload?.i)).toEqual([2, 1]);
    const rest = await cairn.packets.thread({ thread_id, order: 'desc', limit: 2, cursor: backwards.next_cursor! });
    expect(rest.packets.map(({ payload }) => payload?.i)).toEqual([0]);
    expect(await cairn.packets.thread({ thread_id: randomUUID() })).toMatchObject({ packets: [], total: 0 });
  });

  const walk = async (cairn: Api, start: string, direction: 'ancestors' | 'descendants', max_depth?: number) => {
    const { packets, truncated } = await cairn.packets.lineage({
      packet_id: id(start),
      direction,
      ...(max_depth === undefined ? {} : { max_depth }),
    });
    return { walked: packets.map(({ payload, depth }) => `${String(payload?.name)}${depth}`).join(' '), truncated };
  };

  it('PACKET-13 lineage walks both ways, nearest first, each packet once at its shortest depth', async () => {
    const cairn = await test().freshTenant();
    // A diamond (a over b and c to d), a short cut (a to e beside d to e), and a second root (r).
    await cairn.packets.write_batch({
      packets: [
        child('a'),
        child('b', 'a'),
        child('c', 'a'),
        child('d', 'b', 'c'),
        child('r'),
        child('e', 'd', 'a', 'r'),
        child('f', 'e'),
      ],
    });
    const complete = { truncated: false };
    expect(await walk(cairn, 'd', 'ancestors')).toEqual({ walked: 'b1 c1 a2', ...complete });
    expect(await walk(cairn, 'f', 'ancestors')).toEqual({ walked: 'e1 a2 d2 r2 b3 c3', ...complete });
    expect(await walk(cairn, 'a', 'descendants')).toEqual({ walked: 'b1 c1 e1 d2 f2', ...complete });
    expect(await walk(cairn, 'a', 'ancestors')).toEqual({ walked: '', ...complete });
    expect(await walk(cairn, 'f', 'descendants')).toEqual({ walked: '', ...complete });
    const { packets } = await cairn.packets.lineage({ packet_id: id('d') });
    const { depth, ...first } = packets[0]!;
    expect(depth).toBe(1);
    expect(first).toEqual(await cairn.packets.get({ packet_id: id('b') }));
  });

  it('PACKET-14 lineage stops at max_depth and says whether there was more', async () => {
    const cairn = await test().freshTenant();
    const names = [...'abcdefghijklm'];
    await cairn.packets.write_batch({
      packets: names.map((name, i) => (i === 0 ? child(name) : child(name, names[i - 1]!))),
    });
    expect(await walk(cairn, 'd', 'ancestors', 2)).toEqual({ walked: 'c1 b2', truncated: true });
    expect(await walk(cairn, 'd', 'ancestors', 3)).toEqual({ walked: 'c1 b2 a3', truncated: false });
    expect(await walk(cairn, 'a', 'descendants', 1)).toEqual({ walked: 'b1', truncated: true });
    expect((await walk(cairn, 'a', 'descendants')).walked).toBe('b1 c2 d3 e4 f5 g6 h7 i8 j9 k10');
    expect((await walk(cairn, 'a', 'descendants')).truncated).toBe(true);
    expect((await walk(cairn, 'c', 'descendants')).truncated).toBe(false);
    for (const max_depth of [0, 51]) {
      expect(await refusalOf(cairn.packets.lineage({ packet_id: id('a'), max_depth }))).toMatchObject({
        code: 'INVALID_INPUT',
      });
    }
  });

  it('PACKET-14 lineage gives 1,000 packets at most', async () => {
    const cairn = await test().freshTenant();
    const leaves = Array.from({ length: 998 }, (_, i) => child(`x${i}`, 'a', 'b'));
    await cairn.packets.write_batch({ packets: [child('a'), child('b', 'a'), ...leaves] });
    // 999 descendants at one step; those of b are among them, and must not stand in the way of the one beyond.
    await cairn.packets.write(child('y', 'x997'));
    const exact = await cairn.packets.lineage({ packet_id: id('a'), direction: 'descendants' });
    expect(exact.packets).toHaveLength(1000);
    expect(exact.packets.at(-1)).toMatchObject({ packet_id: id('y'), depth: 2 });
    expect(exact.truncated).toBe(false);
    await cairn.packets.write(child('z', 'a'));
    const more = await cairn.packets.lineage({ packet_id: id('a'), direction: 'descendants' });
    expect([more.packets.length, more.truncated]).toEqual([1000, true]);
    expect(new Set(more.packets.map(({ packet_id }) => packet_id)).size).toBe(1000);
  });
});
