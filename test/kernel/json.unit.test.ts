/** JSON as it is kept: canonical text, what may be in it, and numbers that parsing would alter. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { lossyNumber, MAX_VALUES, parseBody } from '#cairn/http/index.js';
import { canonical, sha256 } from '#cairn/kernel/canonical.js';
import { type Json, jsonFault, MAX_DEPTH, textFault } from '#cairn/kernel/json/json.js';

describe('canonical JSON', () => {
  it('has members in the order of their names, and no space', () => {
    expect(canonical({ b: 1, a: [true, null, { d: 'ü', c: 1.5 }], '': 0 })).toBe(
      '{"":0,"a":[true,null,{"c":1.5,"d":"ü"}],"b":1}',
    );
    expect(canonical({ b: 1, a: 2 })).toBe(canonical({ a: 2, b: 1 }));
    expect(canonical({ 10: 'a', 9: 'b', A: 1, a: 2 })).toBe('{"10":"a","9":"b","A":1,"a":2}');
  });

  it('keeps the order of arrays, leaves undefined members out, and says nothing as null', () => {
    expect(canonical([3, 1, 2])).toBe('[3,1,2]');
    expect(canonical({ a: undefined, b: 1 } as unknown as Json)).toBe('{"b":1}');
    expect(canonical(undefined)).toBe('null');
  });

  it('keeps a member named __proto__', () => {
    const value = JSON.parse('{"b":1,"__proto__":{"a":1}}') as Json;
    expect(canonical(value)).toBe('{"__proto__":{"a":1},"b":1}');
  });

  it('is read back as the same value, and is the same for it again', () => {
    fc.assert(
      fc.property(fc.jsonValue({ stringUnit: 'binary' }), (value) => {
        const text = canonical(value as Json);
        expect(JSON.parse(text)).toEqual(JSON.parse(JSON.stringify(value)));
        expect(canonical(JSON.parse(text) as Json)).toBe(text);
      }),
    );
  });

  it('refuses what refers to itself', () => {
    const loop: Record<string, unknown> = {};
    loop.self = loop;
    expect(() => canonical(loop as Json)).toThrow(/circular/i);
  });

  it('is hashed as UTF-8', () => {
    expect(sha256('')).toBe('e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855');
    expect(sha256('ü')).toBe(sha256(Buffer.from([0xc3, 0xbc]).toString('utf8')));
  });
});

describe('jsonFault', () => {
  it('finds nothing wrong with JSON', () => {
    for (const value of [null, true, 0, -0, 1.5, '', '😀', [], {}, { a: [{ b: null }] }, Object.create(null)])
      expect(jsonFault(value)).toBeUndefined();
    expect(jsonFault({ a: undefined })).toBeUndefined();
  });

  it('says what cannot be held, and where', () => {
    const cases: [unknown, RegExp][] = [
      [undefined, /the value is a undefined/],
      [Number.NaN, /NaN/],
      [{ a: [1, Number.POSITIVE_INFINITY] }, /"a\[1\]" is Infinity/],
      [{ a: { b: 1n } }, /"a\.b" is a bigint/],
      [[undefined], /"\[0\]" is a undefined/],
      [() => 1, /function/],
      [Symbol('s'), /symbol/],
      [new Date(0), /not a plain object/],
      [{ a: new Map() }, /"a" is not a plain object/],
      ['a\u0000', /NUL/],
      [{ a: '\ud800' }, /"a" contains half of a surrogate pair/],
      [{ 'x\u0000': 1 }, /NUL/],
    ];
    for (const [value, message] of cases) expect(jsonFault(value)).toMatch(message);
  });

  it('allows so many levels and no more', () => {
    const nested = (depth: number): unknown =>
      depth === 0 ? 1 : depth % 2 ? [nested(depth - 1)] : { a: nested(depth - 1) };
    expect(jsonFault(nested(MAX_DEPTH))).toBeUndefined();
    expect(jsonFault(nested(MAX_DEPTH + 1))).toMatch(/deeper than 64/);
    expect(jsonFault(nested(5000))).toMatch(/deeper than 64/);
  });

  it('takes text with whole pairs only', () => {
    expect(textFault('😀 ü \u{10ffff} \n')).toBeUndefined();
    expect(textFault('\udc00')).toMatch(/surrogate/);
  });
});

describe('lossyNumber', () => {
  const alone = (number: string) => lossyNumber(`{"a":[1,${number}]}`);

  it.each([
    '12345678901234567890',
    '-12345678901234567890',
    '9007199254740993',
    '1e400',
    '-1E400',
    '1e+999',
    '1e-400',
    '0.12345678901234567890123',
    '1234567.12345678901234',
    '1.234567890123456789e10',
    '99999999.9999999999',
    '0.12345678901234567',
  ])('finds %s', (number) => {
    expect(alone(number)).toBe(number);
  });

  it.each([
    '0.1',
    '1e21',
    '1e308',
    '5e-324',
    '0',
    '0e999',
    '0.30000000000000004',
    '1.7976931348623157e308',
    '0.10000000000000001',
    '9007199254740991',
    '9007199254740992',
    '100000000000000000000',
    '49117929260291610',
    '-49117929260291610',
    '0.00000000000000000000001',
    '1.000000000000000000000',
    '12345678.123456789',
    '1700000000000.123',
  ])('passes %s', (number) => {
    expect(alone(number)).toBeUndefined();
  });

  it('looks at numbers alone, not at what is in strings', () => {
    expect(lossyNumber('{"12345678901234567890":"1e400 \\" 12345678901234567890"}')).toBeUndefined();
    expect(lossyNumber('{"a":"\\\\","b":12345678901234567890}')).toBe('12345678901234567890');
    const long = 'x'.repeat(40 * 1024 * 1024);
    expect(lossyNumber(`{"a":"${long}","b":12345678901234567890}`)).toBe('12345678901234567890');
  });

  it('passes whatever JavaScript writes, and finds it with more digits than a double has', () => {
    const finite = fc.double({ noNaN: true, noDefaultInfinity: true });
    fc.assert(
      fc.property(finite, (number) => {
        expect(lossyNumber(JSON.stringify([number]))).toBeUndefined();
        expect(parseBody(Buffer.from(JSON.stringify({ number })))).toEqual({ number: number === 0 ? 0 : number });
      }),
    );
    const digits = fc.stringMatching(/^[1-9]\d{0,16}\.\d{18}[1-9]$/);
    fc.assert(
      fc.property(digits, (number) => {
        expect(alone(number)).toBe(number);
      }),
    );
  });
});

describe('parseBody', () => {
  const refusal = async (bytes: Buffer | string): Promise<unknown> => {
    try {
      return await parseBody(Buffer.from(bytes as string));
    } catch (error) {
      return (error as { code: string }).code;
    }
  };

  it('reads objects, and takes an empty body for none', () => {
    expect(parseBody(Buffer.from('{"a":1}'))).toEqual({ a: 1 });
    expect(parseBody(Buffer.alloc(0))).toBeUndefined();
  });

  it('refuses what is not an object in UTF-8', async () => {
    expect(await refusal('[1]')).toBe('INVALID_INPUT');
    expect(await refusal('nonsense')).toBe('INVALID_JSON');
    expect(await refusal(Buffer.from([0x7b, 0xff, 0x7d]))).toBe('INVALID_JSON');
    expect(await refusal(`{"a":${'['.repeat(100)}"${'x'.repeat(70_000)}"${']'.repeat(100)}}`)).toBe('INVALID_INPUT');
    expect(await refusal(`{"a":${'['.repeat(1_000_000)}`)).toBe('INVALID_INPUT');
    expect(await refusal('{"a":1e999}')).toBe('INVALID_INPUT');
  });

  it('LOAD-2 counts exactly the values of a large body, whatever stands in its strings', async () => {
    const count = (value: unknown): number =>
      typeof value === 'object' && value !== null
        ? Object.values(value).reduce<number>((sum, one) => sum + count(one), 1)
        : 1;
    const room = ' '.repeat(70_000);
    await fc.assert(
      fc.asyncProperty(fc.jsonValue({ maxDepth: 4 }), async (value) => {
        // Filled up to the limit, and by one more.
        const left = MAX_VALUES - count({ value, rest: [] });
        const bodyOf = (items: number) =>
          `{"value":${JSON.stringify(value)},${room}"rest":[${'0,'.repeat(items - 1)}0]}`;
        expect(await refusal(bodyOf(left))).toMatchObject({ value: JSON.parse(JSON.stringify(value)) });
        expect(await refusal(bodyOf(left + 1))).toBe('TOO_LARGE');
      }),
      { numRuns: 20 },
    );
  });

  it('LOAD-2 refuses an object of a thousand fields without naming them all', async () => {
    const fields = Object.fromEntries(Array.from({ length: 10_000 }, (_, i) => [`field-${i}`, 0]));
    expect(await refusal(JSON.stringify(fields))).toBe('INVALID_INPUT');
  });
});
