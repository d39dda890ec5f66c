/** What a run knows: messages, variables, memory. */
import { describe, expect, it } from 'vitest';
import { Context } from '#cairn/runtime/index.js';

const say = (content: string) => ({ role: 'user' as const, content });

describe('messages', () => {
  const three = () => {
    const context = new Context();
    for (const word of ['one', 'two', 'three']) context.append(say(word));
    return context;
  };
  const words = (context: Context) => context.messages.map(({ content }) => content);

  it('RUN-5 are appended, changed in place, removed and truncated', () => {
    const context = three();
    context.updateAt(1, { content: 'zwei', tool_calls: [{ name: 'x' }] });
    expect(context.messages[1]).toEqual({ role: 'user', content: 'zwei', tool_calls: [{ name: 'x' }] });
    expect(context.removeAt(0)).toEqual([say('one')]);
    expect(words(context)).toEqual(['zwei', 'three']);
    context.append(say('four'));
    expect(context.removeAt(1, 99).map(({ content }) => content)).toEqual(['three', 'four']);
    expect(context.truncate(1)).toEqual([]);
    context.truncate(0);
    expect(context.messages).toEqual([]);
  });

  it('RUN-11 are copies of what was given', () => {
    const context = new Context();
    const sent = { ...say('hello'), tool_results: { rows: [1] } };
    const kept = context.append(sent);
    sent.tool_results.rows.push(2);
    sent.content = 'changed';
    expect(kept).toEqual({ role: 'user', content: 'hello', tool_results: { rows: [1] } });
    expect(Object.isFrozen(sent)).toBe(false);
    expect(() => ((kept as { content: string }).content = 'x')).toThrow(TypeError);
  });

  it.each([
    ['an unknown role', (c: Context) => c.append({ role: 'ghost', content: '' } as never), /^context\.append: role/],
    ['NUL', (c: Context) => c.append(say('a\0b')), 'context.append: content: contains NUL'],
    ['an unknown field', (c: Context) => c.append({ ...say(''), at: 1 } as never), 'unknown field "at"'],
    ['a place after the last', (c: Context) => c.updateAt(3, {}), 'there is no message 3: the context has 3'],
    ['a place before the first', (c: Context) => c.removeAt(-1), 'there is no message -1: the context has 3'],
    ['half a place', (c: Context) => c.removeAt(0.5), 'there is no message 0.5'],
    ['a count of none', (c: Context) => c.removeAt(0, 0), '`count` must be an integer ≥ 1, not 0'],
    ['a negative length', (c: Context) => c.truncate(-1), '`length` must be an integer ≥ 0, not -1'],
  ])('refuse %s, and stay', (_, act, message) => {
    const context = three();
    const before = context.toJSON();
    expect(() => act(context)).toThrow(message);
    expect(context.toJSON()).toBe(before);
  });
});

describe('variables', () => {
  it('RUN-6 are set, read and deleted, whatever they are called', () => {
    const context = new Context();
    context.setMany({ plan: { steps: [1] }, attempts: 1 });
    context.set('__proto__', { x: 1 });
    context.set('toString', null);
    expect(context.get('toString')).toBeNull();
    expect(context.has('valueOf')).toBe(false);
    expect(context.get('valueOf')).toBeUndefined();
    expect(JSON.parse(JSON.stringify(context.variables))).toEqual(
      JSON.parse('{"plan":{"steps":[1]},"attempts":1,"__proto__":{"x":1},"toString":null}'),
    );
    expect(Context.fromJSON(context.toJSON()).toJSON()).toEqual(context.toJSON());
    expect(Context.fromJSON(context.toJSON()).get('__proto__')).toEqual({ x: 1 });
    expect([context.delete('__proto__'), context.delete('__proto__')]).toEqual([true, false]);
    expect(Object.keys(context.variables)).toEqual(['plan', 'attempts', 'toString']);
  });

  it('RUN-6 stay what they are when set to an equal value', () => {
    const context = new Context();
    context.set('plan', { a: [1, { b: 2 }], zero: -0 });
    // JSON has one zero alone.
    expect(context.get('plan')).toStrictEqual({ a: [1, { b: 2 }], zero: 0 });
    const before = context.toJSON();
    context.set('plan', { zero: 0, a: [1, { b: 2 }] });
    expect(context.toJSON()).toBe(before);
    context.set('plan', { zero: 0, a: [1, { b: 3 }] });
    expect(context.get('plan')).toEqual({ zero: 0, a: [1, { b: 3 }] });
    context.set('plan', { 0: 1 });
    context.set('plan', [1]);
    expect(context.get('plan')).toEqual([1]);
  });

  it('RUN-6 are all set or none', () => {
    const context = new Context();
    expect(() => context.setMany({ good: 1, bad: Number.NaN })).toThrow(
      'context.setMany: "bad": the value is NaN, which JSON cannot hold',
    );
    expect(context.variables).toEqual({});
  });

  it('are nested no deeper than a checkpoint takes', () => {
    const nest = (levels: number): never => (levels === 0 ? 1 : [nest(levels - 1)]) as never;
    const context = new Context();
    context.set('deep', nest(63));
    expect(Context.fromJSON(context.toJSON()).get('deep')).toEqual(context.get('deep'));
    expect(() => context.set('deeper', nest(64))).toThrow('nested deeper than 64 levels');
    expect(() => context.set('none', undefined as never)).toThrow('a value is needed');
    const ring: unknown[] = [];
    ring.push(ring);
    expect(() => context.set('ring', ring as never)).toThrow('nested deeper');
    expect(() => Context.fromJSON({ messages: [], variables: { ring } } as never)).toThrow('nested deeper');
  });
});

describe('memory', () => {
  it('RUN-7 holds one value a key, and forgets', () => {
    const context = new Context();
    expect(context.toJSON()).not.toHaveProperty('memory');
    expect(context.forget('name')).toBe(false);
    context.remember('name', 'Ada', 0.9);
    context.remember('city', { of: 'birth' });
    context.remember('name', 'Ada L.');
    expect(context.memory).toEqual([
      { key: 'name', value: 'Ada L.', importance: 1 },
      { key: 'city', value: { of: 'birth' }, importance: 1 },
    ]);
    expect(context.recall('city')?.value).toEqual({ of: 'birth' });
    expect(context.recall('x')).toBeUndefined();
    expect([context.forget('name'), context.forget('city')]).toEqual([true, true]);
    expect(context.toJSON().memory).toEqual([]);
    expect(() => context.remember('k', 1, Number.NaN)).toThrow('context.remember: importance');
  });

  it('may come with a key twice, and forgets both', () => {
    const memory = [1, 2].map((value) => ({ key: 'k', value, importance: 1 }));
    const context = Context.fromJSON({ messages: [], variables: {}, memory });
    expect(context.toJSON().memory).toEqual(memory);
    context.forget('k');
    expect(context.memory).toEqual([]);
  });
});

describe('as JSON', () => {
  it('shares what did not change', () => {
    const context = new Context();
    context.append(say('one'));
    context.set('plan', { big: true });
    const before = context.toJSON();
    context.append(say('two'));
    const after = context.toJSON();
    expect(before.messages).toEqual([say('one')]);
    expect(after.messages[0]).toBe(before.messages[0]);
    expect(after.variables).toBe(before.variables);
  });

  it('RUN-20 is refused by name where it does not fit', () => {
    expect(() => Context.fromJSON({ messages: [{ role: 'user' }], variables: {} } as never)).toThrow(
      /^context: messages\[0\]\.content: /,
    );
  });

  it('RUN-20 leaves out what it does not know, and takes a memory without a value', () => {
    const known = { messages: [say('one')], variables: { x: 1 }, memory: [{ key: 'k', importance: 1 }] };
    const json = {
      extra: 1,
      messages: [{ ...say('one'), extra: [1] }],
      variables: { x: 1 },
      memory: [{ key: 'k', importance: 1, extra: {} }],
    };
    expect(Context.fromJSON(json as never).toJSON()).toEqual(known);
  });
});
