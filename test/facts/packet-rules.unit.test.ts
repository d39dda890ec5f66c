/** The pure rules of packets and lists: cursors, lineage, older envelopes, what a packet is found by. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { upcast } from '#cairn/facts/packets/envelope.js';
import { indexEntries } from '#cairn/facts/packets/index-entries.js';
import { descend, parentsOf } from '#cairn/facts/packets/lineage.js';
import type { PacketInput } from '#cairn/facts/packets/model.js';
import { type Json, NIL_ID, newId, uuid } from '#cairn/kernel/contract.js';
import { type CursorKey, decodeCursor, encodeCursor } from '#cairn/kernel/node.js';

const A = '0197a000-0000-7000-8000-00000000000a';
const B = '0197a000-0000-7000-8000-00000000000b';
const C = '0197a000-0000-7000-8000-00000000000c';
const packet = (more: Partial<PacketInput> = {}): PacketInput => ({ packet_type: 'event', payload: {}, ...more });

const codeOf = (action: () => unknown): string => {
  try {
    action();
  } catch (error) {
    return (error as { code: string }).code;
  }
  throw new Error('it was not refused');
};

describe('a cursor', () => {
  const CARDS = { tenant: 'acme', operation: 'cards.list' };

  const kindOf = (key: CursorKey) => (typeof key === 'string' ? 'string' : 'number');

  it('gives back the key that it was made from', () => {
    fc.assert(
      fc.property(
        fc.oneof(
          fc.string().filter((one) => !one.includes('\u0000')),
          fc.maxSafeInteger(),
        ),
        (key) => {
          const cursor = encodeCursor(CARDS, { a: 1 }, key);
          expect(cursor).toMatch(/^[\w-]+$/);
          expect(decodeCursor(CARDS, { a: 1 }, cursor, kindOf(key))).toBe(key);
        },
      ),
    );
  });

  it('is good for the same list with the same filters only', () => {
    const cursor = encodeCursor(CARDS, { a: 1, b: 2 }, 'k');
    expect(decodeCursor(CARDS, { b: 2, a: 1 }, cursor, 'string')).toBe('k');
    expect(codeOf(() => decodeCursor({ ...CARDS, operation: 'boxes.list' }, { a: 1, b: 2 }, cursor, 'string'))).toBe(
      'INVALID_CURSOR',
    );
    expect(codeOf(() => decodeCursor(CARDS, { a: 1 }, cursor, 'string'))).toBe('INVALID_CURSOR');
    const foreign = { ...CARDS, tenant: 'other' };
    expect(codeOf(() => decodeCursor(foreign, { a: 1, b: 2 }, cursor, 'string'))).toBe('INVALID_CURSOR');
    expect(codeOf(() => decodeCursor(CARDS, { a: 1, b: 2 }, cursor, 'number'))).toBe('INVALID_CURSOR');
  });

  it('is refused when it is anything else', () => {
    const forge = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64url');
    const [mark] = JSON.parse(Buffer.from(encodeCursor(CARDS, null, 1), 'base64url').toString()) as [string];
    for (const cursor of ['', 'x', '!!!', forge(null), forge({}), forge([]), forge([mark]), forge([mark, 1.5])])
      expect(codeOf(() => decodeCursor(CARDS, null, cursor, 'number'))).toBe('INVALID_CURSOR');
    for (const key of [null, {}, ['a'], 'a\u0000'])
      expect(codeOf(() => decodeCursor(CARDS, null, forge([mark, key]), 'string'))).toBe('INVALID_CURSOR');
    fc.assert(
      fc.property(
        fc.string(),
        (cursor) => codeOf(() => decodeCursor(CARDS, null, cursor, 'number')) === 'INVALID_CURSOR',
      ),
    );
  });
});

describe('lineage', () => {
  it('takes parents from the lineage first, then from the provenance, each once', () => {
    expect(parentsOf(packet())).toEqual([]);
    expect(parentsOf(packet({ lineage: { parent_ids: [B, A, B] } }))).toEqual([B, A]);
    expect(parentsOf(packet({ provenance: { parent_packet: A } }))).toEqual([A]);
    expect(parentsOf(packet({ lineage: { parent_ids: [B] }, provenance: { parent_packet: A.toUpperCase() } }))).toEqual(
      [B, A],
    );
    expect(parentsOf(packet({ lineage: { parent_ids: [A] }, provenance: { parent_packet: A } }))).toEqual([A]);
  });

  it('takes nil, null and nothing for no parent, and refuses what is no id', () => {
    for (const parent_packet of [NIL_ID, null])
      expect(parentsOf(packet({ provenance: { parent_packet } }))).toEqual([]);
    expect(parentsOf(packet({ lineage: { parent_ids: [NIL_ID] } }))).toEqual([]);
    const wrong: Json[] = ['nonsense', '', 7, { id: A }, [A], true];
    for (const parent_packet of wrong)
      expect(codeOf(() => parentsOf(packet({ provenance: { parent_packet } })))).toBe('INVALID_INPUT');
  });

  it('follows as generation 0 and its own root for a packet without parents', () => {
    expect(descend(A, [], undefined)).toEqual({ generation: 0, root_packet_id: A });
    expect(descend(A, [], { parent_ids: [], generation: 0, root_packet_id: A })).toEqual({
      generation: 0,
      root_packet_id: A,
    });
  });

  it('follows as one more than the highest parent, with the root of the first', () => {
    const parents = [
      { packet_id: B, generation: 2, root_packet_id: A },
      { packet_id: C, generation: 5, root_packet_id: C },
    ];
    expect(descend(A, parents, undefined)).toEqual({ generation: 6, root_packet_id: A });
    expect(descend(A, [...parents].reverse(), undefined)).toEqual({ generation: 6, root_packet_id: C });
    const right = { parent_ids: [B, C], generation: 6, root_packet_id: A };
    expect(descend(A, parents, right)).toEqual({ generation: 6, root_packet_id: A });
    for (const wrong of [{ generation: 5 }, { generation: 7 }, { root_packet_id: B }])
      expect(codeOf(() => descend(A, parents, { parent_ids: [B, C], ...wrong }))).toBe('INVALID_LINEAGE');
  });
});

describe('upcast', () => {
  it('leaves 1.1.0, and what names no version, as it is', () => {
    for (const one of [
      packet({ tags: ['x'] }),
      packet({ metadata: {} }),
      packet({ metadata: { schema_version: null } }),
      packet({ metadata: { schema_version: '1.1.0' }, thread_id: A }),
    ]) {
      expect(upcast(one)).toBe(one);
    }
  });

  it.each(['1.0.0', '1.0.1'])('makes %s a 1.1.0, and leaves what was sent alone', (schema_version) => {
    const sent = packet({ metadata: { schema_version, agent: 'a' }, provenance: { source: 's' } });
    const before = structuredClone(sent);
    expect(upcast(sent)).toEqual({ ...sent, metadata: { schema_version: '1.1.0', agent: 'a' } });
    expect(sent).toEqual(before);
  });

  it('refuses an older version with what came later, and versions that it does not know', () => {
    const extensions: Partial<PacketInput>[] = [
      { thread_id: A },
      { tags: ['t'] },
      { ttl: '2099-01-01T00:00:00Z' },
      { lineage: { parent_ids: [] } },
    ];
    for (const extension of extensions) {
      const sent = packet({ metadata: { schema_version: '1.0.0' }, ...extension });
      expect(codeOf(() => upcast(sent))).toBe('INVALID_INPUT');
    }
    const versions: Json[] = ['2.0.0', '1.1', '', 1.1, ['1.0.0']];
    for (const schema_version of versions)
      expect(codeOf(() => upcast(packet({ metadata: { schema_version } })))).toBe('INVALID_INPUT');
  });
});

describe('what a packet is found by', () => {
  it('is its tags, subjects and simple routing members, each once', () => {
    const found = indexEntries({
      tags: ['a', 'b', 'a'],
      subject_ids: ['s', 's'],
      routing: { to: 'x', level: 3, urgent: false, deep: { no: 1 }, none: null, list: ['no'] },
    });
    expect(found).toEqual([
      ['tag', 'a'],
      ['tag', 'b'],
      ['subject', 's'],
      ['routing', 'to:x'],
      ['routing', 'level:3'],
      ['routing', 'urgent:false'],
    ]);
  });

  it('is never the same entry twice, nor one that is too long for an index', () => {
    const long = 'x'.repeat(201);
    const routing = { 'a:b': 'c', a: 'b:c', [long]: 1, [`${long}y`]: true, b: long };
    expect(indexEntries({ routing })).toEqual([['routing', 'a:b:c']]);
    expect(indexEntries({})).toEqual([]);
  });
});

describe('newId', () => {
  it('is a UUID of version 7', () => {
    const before = Date.now();
    const id = newId();
    expect(id).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
    expect(uuid.parse(id)).toBe(id);
    expect(Number.parseInt(id.replaceAll('-', '').slice(0, 12), 16)).toBeGreaterThanOrEqual(before);
  });

  it('rises from call to call, within a millisecond and when the clock goes back', () => {
    const now = Date.now();
    let last = newId(now);
    let wrong = 0;
    for (let i = 0; i < 100_000; i++) {
      const id = newId(now - (i % 3));
      if (id <= last || id[14] !== '7') wrong++;
      last = id;
    }
    for (let i = 0; i < 100_000; i++) {
      const id = newId();
      if (id <= last) wrong++;
      last = id;
    }
    expect(wrong).toBe(0);
  });
});
