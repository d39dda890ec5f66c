/** Signals put together: each of them ends the work, whoever has forgotten it meanwhile. */
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { describe, expect, it } from 'vitest';
import { anySignal } from '#cairn/kernel/signals.js';

setFlagsFromString('--expose-gc');
const collectGarbage = runInNewContext('gc') as () => void;

describe('a signal of several', () => {
  it('is given by a time-out that nothing else holds, whatever was collected meanwhile', async () => {
    const never = new AbortController();
    const ended = Array.from(
      { length: 10 },
      () =>
        new Promise<unknown>((resolve) => {
          const signal = anySignal([never.signal, AbortSignal.timeout(60)]);
          signal.addEventListener('abort', () => resolve((signal.reason as Error).name));
        }),
    );
    for (let i = 0; i < 4; i++) {
      await new Promise((resolve) => setTimeout(resolve, 10));
      collectGarbage();
    }
    expect(await Promise.all(ended)).toEqual(Array<string>(10).fill('TimeoutError'));
  });

  it('is given by any of them, with its reason, and at once if one was given before', () => {
    const [one, other] = [new AbortController(), new AbortController()];
    const signal = anySignal([one.signal, anySignal([other.signal])]);
    expect(signal.aborted).toBe(false);
    other.abort('enough');
    expect([signal.aborted, signal.reason]).toEqual([true, 'enough']);
    expect(anySignal([one.signal, other.signal]).aborted).toBe(true);
  });
});
