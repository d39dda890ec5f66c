/** A provider that keeps failing is left alone for a while, then asked by one. */
import { describe, expect, it } from 'vitest';
import { Breaker } from '#cairn/providers/breaker.js';

const LONG_MS = 3_600_000;

describe('a breaker', () => {
  it('SUM-34 refuses after three failures in a row, and lets one try it when some time has passed', () => {
    let now = 0;
    const breaker = new Breaker(() => now);
    breaker.failed('it is away');
    breaker.failed('it is away');
    breaker.answered();
    for (let i = 0; i < 2; i++) breaker.failed('it is away');
    expect(breaker.refusal()).toBeUndefined();
    breaker.failed('it is away');
    expect(breaker.refusal()).toMatch(/3 times in a row.*it is away/);
    now += LONG_MS;
    expect(breaker.refusal()).toBeUndefined();
    expect(breaker.refusal()).toBeDefined();
    breaker.failed('it is away');
    expect(breaker.refusal()).toBeDefined();
    now += LONG_MS;
    expect(breaker.refusal()).toBeUndefined();
    // Whoever tried it went away: the next one does.
    breaker.leftOpen();
    expect(breaker.refusal()).toBeUndefined();
    breaker.answered();
    expect([breaker.refusal(), breaker.refusal()]).toEqual([undefined, undefined]);
  });
});
