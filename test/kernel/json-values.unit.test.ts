/** What is retained of a value that a caller sent. */
import { describe, expect, it } from 'vitest';
import { toImmutable } from '#cairn/kernel/json/values.js';

describe('a value that is kept', () => {
  it('is itself when it is frozen to its last member', () => {
    const frozen = Object.freeze({ a: Object.freeze([Object.freeze({ b: 1 }), 'c', null]) });
    expect(toImmutable(frozen)).toBe(frozen);
    const open = Object.freeze({ a: Object.freeze([{ b: 1 }]) });
    expect(toImmutable(open)).not.toBe(open);
    expect(toImmutable(open)).toEqual(open);
  });

  it('is a copy when something in it may give another value the next time', () => {
    let n = 1;
    const counter = Object.freeze({
      get n() {
        return n;
      },
    });
    const list = Object.freeze(Object.defineProperty([0], 0, { get: () => n, enumerable: true }));
    const kept = [toImmutable(counter), toImmutable({ deep: counter }), toImmutable(list)];
    n = 2;
    expect(kept).toEqual([{ n: 1 }, { deep: { n: 1 } }, [1]]);
  });
});
