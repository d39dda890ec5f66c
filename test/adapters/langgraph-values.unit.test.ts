/** Values of LangGraph as JSON and back: as its own serializer has them, and at the cost of what changed. */
import { AIMessage, HumanMessage, ToolMessage } from '@langchain/core/messages';
import { DeltaSnapshot, MemorySaver, type SerializerProtocol } from '@langchain/langgraph-checkpoint';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { Codec } from '#cairn/adapters/langgraph/codec.js';
import { decode } from '#cairn/adapters/langgraph/decode.js';
import { Encoding } from '#cairn/adapters/langgraph/encode.js';
import { Images } from '#cairn/adapters/langgraph/images.js';
import { type Json, jsonFault } from '#cairn/kernel/contract.js';

/** The official serializer, which says what it was given to serialise. */
function listening(): { codec: Codec; serialised: unknown[]; loaded: string[] } {
  const { serde } = new MemorySaver();
  const serialised: unknown[] = [];
  const loaded: string[] = [];
  const { dumpsTyped, loadsTyped } = serde;
  serde.dumpsTyped = async (value) => {
    serialised.push(value);
    return dumpsTyped.call(serde, value);
  };
  serde.loadsTyped = async (type, data) => {
    loaded.push(type);
    return loadsTyped.call(serde, type, data);
  };
  return { codec: new Codec(serde), serialised, loaded };
}

const official = new Codec(new MemorySaver().serde);

async function encode(codec: Codec, value: unknown, known?: Json): Promise<Json> {
  const encoding = new Encoding(codec);
  let json: Json | undefined;
  encoding.encode(value, known, (made) => {
    json = made;
  });
  await encoding.finish();
  return json!;
}

/** What MemorySaver would give back. */
async function asOfficial(value: unknown): Promise<unknown> {
  const { serde } = new MemorySaver();
  const [type, data] = await serde.dumpsTyped({ value });
  return ((await serde.loadsTyped(type, data)) as { value: unknown }).value;
}

const human = (id: string, content = `text of ${id}`) => new HumanMessage({ id, content });

function isFrozen(json: Json): boolean {
  if (typeof json !== 'object' || json === null) return true;
  return Object.isFrozen(json) && Object.values(json).every(isFrozen);
}

const text = fc.oneof(fc.string({ unit: 'binary' }), fc.constantFrom('\u0000', '\ud800', '__proto__', 'lc', 'é'));
// The serializer of LangGraph makes a member of this name the prototype.
const key = text.filter((name) => name !== '__proto__');
const message = fc.oneof(
  fc.record({ id: fc.uuid(), content: text }).map((fields) => new HumanMessage(fields)),
  fc
    .record({ content: text, additional_kwargs: fc.dictionary(key, fc.integer()) })
    .map((fields) => new AIMessage(fields)),
  text.map((content) => new ToolMessage({ content, tool_call_id: 'call', artifact: { n: 1 } })),
);
const leaf = fc.oneof(
  text,
  fc.double(),
  fc.integer(),
  fc.boolean(),
  fc.constantFrom<unknown>(null, undefined, new Date(0), /x/g, new Error('no'), { lc: 2, type: 'cairn_bytes' }),
  fc.uint8Array(),
  fc.array(fc.tuple(text, fc.integer())).map((entries) => new Map(entries)),
  fc.array(fc.integer()).map((entries) => new Set(entries)),
  fc.array(fc.integer()).map((list) => new DeltaSnapshot(list)),
  fc.constant({ lg_name: 'Send', node: 'n', args: { a: 1 } }),
  message,
);
const anything = fc.letrec<{ value: unknown }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 4, withCrossShrink: true },
    leaf,
    fc.array(tie('value'), { maxLength: 5 }),
    fc.dictionary(key, tie('value'), { maxKeys: 5, noNullPrototype: true }),
  ),
})).value;

describe('a value', () => {
  it('comes back as from the serializer of LangGraph, in JSON that Cairn takes', async () => {
    await fc.assert(
      fc.asyncProperty(anything, async (value) => {
        const json = await encode(official, value);
        expect(jsonFault(json)).toBeUndefined();
        expect(isFrozen(json)).toBe(true);
        // On its way through a database.
        const stored = JSON.parse(JSON.stringify(json)) as Json;
        expect(await decode(official, stored)).toEqual(await asOfficial(value));
      }),
      { numRuns: 300 },
    );
  });

  it('has the same JSON whatever it is compared with', async () => {
    await fc.assert(
      fc.asyncProperty(anything, anything, fc.boolean(), async (before, after, append) => {
        const known = await encode(official, before);
        const value = append && Array.isArray(before) ? [...before, after] : after;
        expect(await encode(official, value, known)).toEqual(await encode(official, value));
      }),
      { numRuns: 300 },
    );
  });

  it('that contains itself, or is deeper than Cairn takes, is left to the serializer', async () => {
    const around: Record<string, unknown> = { name: 'a' };
    around.self = around;
    expect(await decode(official, await encode(official, around))).toEqual({ name: 'a', self: '[Circular]' });
    let deep: unknown = 'bottom';
    for (let i = 0; i < 100; i++) deep = [deep];
    const json = await encode(official, deep);
    expect(jsonFault(json)).toBeUndefined();
    expect(await decode(official, json)).toEqual(deep);
  });

  it('keeps a member named __proto__ a member', async () => {
    const value = JSON.parse('[{"__proto__": {"a": 1}, "b": {"__proto__": 2}}]') as unknown;
    const json = await encode(official, value);
    const back = (await decode(official, JSON.parse(JSON.stringify(json)) as Json)) as object[];
    expect(JSON.stringify(back)).toBe(JSON.stringify(value));
    expect((back[0] as { a?: number }).a).toBeUndefined();
    expect(await encode(official, back, json)).toEqual(json);
  });

  it('without a JSON of its own is left out, or null in a list', async () => {
    expect(await encode(official, { a: () => 1, b: 2 })).toEqual({ b: 2 });
    expect(await encode(official, [() => 1, 2])).toEqual([null, 2]);
    expect(await encode(official, () => 1)).toBeUndefined();
  });

  it('is read when it is given, not when the serializer is done', async () => {
    const list = [human('a')];
    const json = encode(official, list);
    list[0]!.content = 'changed';
    list.push(human('b'));
    expect(await decode(official, await json)).toEqual([human('a')]);
  });
});

describe('what did not change', () => {
  it('keeps its JSON when a list grows, and only the new element is serialised', async () => {
    const { codec, serialised } = listening();
    const list = [human('a'), human('b')];
    const known = (await encode(codec, list)) as Json[];
    serialised.length = 0;
    const more = [...list, human('c')];
    const json = (await encode(codec, more, known)) as Json[];
    expect(serialised).toEqual([more[2]]);
    expect(json[0]).toBe(known[0]);
    expect(json[1]).toBe(known[1]);
    expect(await encode(codec, more, json)).toBe(json);
    expect(serialised).toHaveLength(1);
  });

  it('keeps its JSON when the list is cut at its start, in the middle, or reordered', async () => {
    const { codec, serialised } = listening();
    const [a, b, c, d] = [human('a'), human('b'), human('c'), human('d')];
    const known = (await encode(codec, [a, b, c, d])) as Json[];
    serialised.length = 0;
    const e = human('e');
    const slid = (await encode(codec, [b, c, d, e], known)) as Json[];
    expect(slid.slice(0, 3)).toEqual(known.slice(1));
    expect(slid[0]).toBe(known[1]);
    const cut = (await encode(codec, [a, d], known)) as Json[];
    expect([cut[0], cut[1]]).toEqual([known[0], known[3]]);
    const turned = (await encode(codec, [d, c, b, a], known)) as Json[];
    expect(turned).toEqual([...known].reverse());
    expect(serialised).toEqual([e]);
  });

  it('is told from what was changed in place, however deep', async () => {
    const one = new AIMessage({
      id: 'a',
      content: 'x',
      tool_calls: [{ id: 't', name: 'shell', args: { of: { cwd: '/' } } }],
    });
    const known = await encode(official, [one]);
    expect(await encode(official, [one], known)).toBe(known);
    (one.tool_calls![0]!.args.of as { cwd: string }).cwd = '/tmp';
    const json = await encode(official, [one], known);
    expect(json).toEqual(await encode(official, [one]));
    expect(json).not.toEqual(known);
    one.name = 'me';
    expect(await encode(official, [one], json)).toEqual(await encode(official, [one]));
    const state = { plan: { steps: [{ n: 1 }, { n: 2 }] }, other: [1, 2] };
    const before = (await encode(official, state)) as { plan: { steps: Json[] }; other: Json };
    state.plan.steps[1]!.n = 3;
    const after = (await encode(official, state, before)) as typeof before;
    expect(after).toEqual(state);
    expect(after.other).toBe(before.other);
    expect(after.plan.steps[0]).toBe(before.plan.steps[0]);
  });

  it('is known also when it comes from a load', async () => {
    const { codec, serialised, loaded } = listening();
    const messages = [human('a'), new AIMessage({ content: 'yes' })];
    const json = JSON.parse(JSON.stringify(await encode(codec, { messages, n: 1 }))) as Json;
    loaded.length = 0;
    serialised.length = 0;
    const value = await decode(codec, json, true);
    expect(loaded).toEqual(['json']);
    expect(await encode(codec, value, json)).toBe(json);
    expect(serialised).toEqual([]);
  });

  it('is serialised anew where members do not show it all', async () => {
    const { codec, serialised } = listening();
    const value = { map: new Map([['a', 1]]), date: new Date(5), plain: { a: 1 } };
    const known = await encode(codec, value);
    serialised.length = 0;
    value.map.set('b', 2);
    expect(await decode(codec, await encode(codec, value, known))).toEqual(await asOfficial(value));
    expect(serialised).toEqual([value.map, value.date]);
  });

  it('is not taken from what every object inherits', async () => {
    const known = await encode(official, { x: 1 });
    expect(await encode(official, { constructor: Object }, known)).toEqual({});
  });
});

describe('a serializer of one’s own', () => {
  /** Turns its text around, and says that it is not JSON. */
  const turned = (type: string): SerializerProtocol => ({
    dumpsTyped: async (value) => [type, new TextEncoder().encode(JSON.stringify([...JSON.stringify(value)].reverse()))],
    loadsTyped: async (_type, data) =>
      JSON.parse(
        (JSON.parse(typeof data === 'string' ? data : new TextDecoder().decode(data)) as string[]).reverse().join(''),
      ),
  });

  it.each(['secret', 'json'])('makes and reads each piece: type %s', async (type) => {
    const codec = new Codec(turned(type));
    const value = [{ a: 'one' }, ['two'], 'three'];
    const known = (await encode(codec, value)) as Json[];
    expect(JSON.stringify(known)).not.toContain('one');
    expect(await decode(codec, JSON.parse(JSON.stringify(known)) as Json)).toEqual(value);
    const more = (await encode(codec, [...value, 'four'], known)) as Json[];
    expect(more[0]).toBe(known[0]);
    expect(more[1]).toBe(known[1]);
    expect(await decode(codec, more)).toEqual([...value, 'four']);
    for (const single of [{ b: [1] }, 'text', null, []])
      expect(await decode(codec, await encode(codec, single))).toEqual(single);
  });
});

describe('images', () => {
  const image = (checkpoint_id: string, size = 10) => ({
    checkpoint_id,
    parent_id: null,
    versions: { v: 4, ts: '', channel_versions: {}, versions_seen: {} },
    metadata: {},
    channels: new Map<string, Json>([['c', 'x'.repeat(size)]]),
  });

  it('are of the last threads, and of each the last states', () => {
    const images = new Images({ threads: 2 });
    for (const n of [1, 2, 3, 4, 5]) images.keep('a', image(`a${n}`), 10);
    images.keep('b', image('b1'), 10);
    images.keep('a', image('a5'), 0);
    images.keep('c', image('c1'), 10);
    expect(images.of('a').map(({ checkpoint_id }) => checkpoint_id)).toEqual(['a5', 'a4', 'a3', 'a2']);
    expect(images.of('b')).toEqual([]);
    expect(images.of('c')).toHaveLength(1);
  });

  it('take no more than their limit, counted before any goes', () => {
    const images = new Images({ bytes: 10_000 });
    // Said to be much, but shared: it is counted.
    for (let n = 0; n < 50; n++) images.keep('a', image('same', 1000), 1000);
    expect(images.of('a')).toHaveLength(1);
    for (let n = 0; n < 20; n++) images.keep(`t${n}`, image(`t${n}`, 1000), 1000);
    expect(images.of('a')).toEqual([]);
    expect(images.of('t19')).toHaveLength(1);
    const kept = Array.from({ length: 20 }, (_, n) => images.of(`t${n}`).length).filter((length) => length > 0);
    expect(kept.length).toBeGreaterThan(4);
    expect(kept.length).toBeLessThan(10);
  });
});
