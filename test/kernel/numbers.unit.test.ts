import { describe, expect, it } from 'vitest';
import { withCommas } from '#cairn/kernel/numbers.js';

describe('numbers in messages', () => {
  it.each([0, 7, 999, 1000, 12_345, 1_048_576, -1, -1000, 0.25, 1234.125])('%d has its thousands apart', (value) => {
    expect(withCommas(value)).toBe(value.toLocaleString('en'));
  });
});
