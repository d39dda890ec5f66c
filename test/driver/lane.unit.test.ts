/** So many at a time, in order, and nobody waits for ever. */
import { expect, it } from 'vitest';
import { Lane } from '#cairn/driver/lane.js';

function gates(count: number) {
  const open: (() => void)[] = [];
  const closed = Array.from({ length: count }, () => new Promise<void>((resolve) => open.push(resolve)));
  return { open, closed };
}

it('runs as many at once as it is wide, the others in their order', async () => {
  const lane = new Lane(2);
  const begun: number[] = [];
  const { open, closed } = gates(5);
  const all = closed.map((gate, i) =>
    lane.run(async () => {
      begun.push(i);
      await gate;
    }),
  );
  for (const [i, expected] of [
    [0, 2],
    [1, 3],
    [2, 4],
    [3, 5],
  ] as const) {
    await new Promise((resolve) => setImmediate(resolve));
    expect(begun).toEqual([0, 1, 2, 3, 4].slice(0, expected));
    open[i]!();
  }
  open[4]!();
  await Promise.all(all);
});

it('gives the place on when work fails', async () => {
  const lane = new Lane(1);
  const failing = lane.run(() => Promise.reject(new Error('no')));
  const next = lane.run(async () => 'done');
  await expect(failing).rejects.toThrow('no');
  expect(await next).toBe('done');
});

it('refuses who waits too long, and goes on with the others', async () => {
  const lane = new Lane(1, 20);
  const { open, closed } = gates(1);
  const hanging = lane.run(() => closed[0]!);
  await expect(lane.run(async () => 'late')).rejects.toMatchObject({ code: 'OVERLOADED' });
  open[0]!();
  await hanging;
  expect(await lane.run(async () => 'done')).toBe('done');
});
