/** What providers say that they cost: what cannot be is left out, and who was paid stays known. */
import { describe, expect, it } from 'vitest';
import { defaultLimits } from '#cairn/engine/index.js';
import { costFrom, offlineCost, type ProviderCost, sumOfCosts } from '#cairn/providers/cost.js';
import { costOfFailure, modelFailure, reasonOf } from '#cairn/providers/model-failure.js';
import { providers, providersOf, summaryOf } from '#cairn/recall/index.js';

const sound: ProviderCost = {
  provider: 'p',
  model: 'm',
  input_tokens: 10,
  output_tokens: 5,
  duration_ms: 3,
  attempts: 1,
};
const NOTHING = { model: null, input_tokens: 0, output_tokens: 0, duration_ms: 0, attempts: 0 };
const throwing = (): never => {
  throw new Error('no');
};

describe('a cost', () => {
  it('is taken as it is told where that can be', () => {
    expect(costFrom(sound)).toEqual(sound);
    expect(costFrom({ ...sound, model: null, duration_ms: 2.7 })).toEqual({ ...sound, model: null, duration_ms: 3 });
  });

  it.each([null, undefined, 'free', 7, 7n, [], () => 1, new Proxy({}, { get: throwing })])(
    'that is none (%#) is nothing',
    (told) => {
      expect(costFrom(told, 'mine')).toEqual({ provider: 'mine', ...NOTHING });
      expect(costFrom(told, Symbol('x'))).toEqual({ provider: 'unknown', ...NOTHING });
    },
  );

  it.each([-5, 1.5, Number.NaN, Number.POSITIVE_INFINITY, 2 ** 60, 12n, '12', null, {}])(
    'has no count of %s',
    (count) => {
      const told = { ...sound, input_tokens: count, output_tokens: count, attempts: count };
      expect(costFrom(told)).toEqual({ ...sound, input_tokens: 0, output_tokens: 0, attempts: 0 });
    },
  );

  it('has no names that cannot be kept', () => {
    for (const name of ['', 'a\u0000b', '\ud800', 'x'.repeat(10_000), 1, null, { toString: throwing }])
      expect(costFrom({ ...sound, provider: name, model: name }, 'mine')).toEqual({
        ...sound,
        provider: 'mine',
        model: null,
      });
  });

  it('of several calls bears the name of whom the tokens were spent at', () => {
    const offline = { ...offlineCost(performance.now()), duration_ms: 4 };
    expect(sumOfCosts(sound, offline)).toEqual({ ...sound, duration_ms: 7 });
    expect(sumOfCosts(offline, sound)).toEqual({ ...sound, duration_ms: 7 });
    expect(sumOfCosts(sound, { ...sound, model: 'n' }, offline)).toMatchObject({ model: 'n', attempts: 2 });
    const failed = { ...sound, input_tokens: 0, output_tokens: 0 };
    expect(sumOfCosts(failed, offline)).toMatchObject({ provider: 'offline', model: null, attempts: 1 });
  });

  it('of a failure is parsed as well, whatever was thrown', () => {
    expect(costOfFailure(modelFailure('nonsense', 'x', { cost: { ...sound, output_tokens: -1 } }))).toEqual({
      ...sound,
      output_tokens: 0,
    });
    const hostile = new Proxy(new Error('x'), { get: throwing, getPrototypeOf: throwing });
    for (const thrown of [undefined, null, 'x', 1n, Symbol('x'), new Error('x'), hostile, { cost: null }]) {
      expect(costOfFailure(thrown)).toBeUndefined();
      expect(reasonOf(thrown)).toMatch(/^it failed with \w+/);
    }
  });

  it('that is nonsense does not keep the offline way from being taken', async () => {
    const odd = { name: 'odd', summarize: async () => ({ text: '', source_ids: [], cost: null }) as never };
    const sources = [{ id: 'a', text: 'The parser was rewritten in Rust by Ida.' }];
    const parts = new Map<object, unknown>([[providers, providersOf({ summarizer: odd })]]);
    const asking = { parts, limits: defaultLimits };
    const attempt = { timeout_ms: 10_000, final: true };
    const made = await summaryOf(asking, { sources, max_tokens: 50 }, attempt);
    expect(made).toMatchObject({ text: expect.stringContaining('Rust'), cost: { input_tokens: 0 } });
  });
});
