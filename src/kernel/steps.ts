/** Work in small steps, as a generator: done at once, or with cooperative yields between the steps. */
import type { GiveWay } from './cooperative-yield.js';

export type Steps<T> = Generator<void, T, void>;

export function atOnce<T>(steps: Steps<T>): T {
  for (;;) {
    const next = steps.next();
    if (next.done) return next.value;
  }
}

export async function inSteps<T>(steps: Steps<T>, give_way: GiveWay): Promise<T> {
  for (;;) {
    // Before the first step too: what that takes counts from here.
    const due = give_way();
    if (due) await due;
    const next = steps.next();
    if (next.done) return next.value;
  }
}
