/** Long answers are written in pieces, and are the same bytes. */
import { text } from 'node:stream/consumers';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { jsonAnswer } from '#cairn/http/json-answer.js';

const long = 'x'.repeat(100_000);

describe('a JSON answer', () => {
  it('LOAD-1 is a text where it is short, and a stream of the same bytes where it is long', () =>
    fc.assert(
      fc.asyncProperty(fc.array(fc.jsonValue(), { maxLength: 5 }), fc.nat(6), async (values, copies) => {
        const value = { values, long: Array(copies).fill({ long, values, absent: undefined }), end: undefined };
        const answer = jsonAnswer(value);
        expect(typeof answer === 'string').toBe(copies < 3);
        expect(typeof answer === 'string' ? answer : await text(answer)).toBe(JSON.stringify(value));
      }),
      { numRuns: 60 },
    ));

  it('LOAD-1 lets others have their turn between its pieces', async () => {
    let turns = 0;
    const tick = setInterval(() => turns++, 0);
    const answer = jsonAnswer(Array.from({ length: 200 }, () => long));
    expect((await text(answer as import('node:stream').Readable)).length).toBeGreaterThan(20_000_000);
    clearInterval(tick);
    expect(turns).toBeGreaterThan(1);
  });
});
