/** Work that yields to the event loop. */
import { expect, it } from 'vitest';
import { afterYield } from '#cairn/kernel/index.js';

it('many pieces of work at once let the event loop turn in between', async () => {
  let turns = 0;
  let over = false;
  const count = () => {
    turns++;
    if (!over) setImmediate(count);
  };
  setImmediate(count);
  const work = () => {
    const until = performance.now() + 2;
    while (performance.now() < until);
  };
  await Promise.all(Array.from({ length: 40 }, () => afterYield(work)));
  over = true;
  expect(turns).toBeGreaterThan(5);
});
