/** Batches of the property test of memory: all or nothing, up to the first failure, or each item alone. */
import { expect } from 'vitest';
import { outcomeOf, type Real, tally } from './check.js';
import { type Apply, type Model, Refused } from './model.js';

export interface Batch<T> {
  readonly call: (how: {
    atomic?: boolean;
    stop_on_error?: boolean;
  }) => Promise<{
    results: ({ status: 'success'; data: T } | { status: 'error'; code: string })[];
    succeeded: number;
    failed: number;
  }>;
  /** What each item would do, on a model as it is then. */
  readonly plans: readonly ((on: Model) => Apply)[];
  /** Applies what an item did, and compares its answer. */
  readonly settle: (item: number, apply: Apply, answer: T) => Promise<void>;
}

function codeOf(run: () => void): string | null {
  try {
    run();
    return null;
  } catch (error) {
    if (error instanceof Refused) return error.code;
    throw error;
  }
}

/** The code of the first item that fails when they run one after another; none if all go well. */
function firstFailure(model: Model, plans: Batch<never>['plans'], now: number): string | null {
  const copy = structuredClone(model);
  for (const plan of plans) {
    const code = codeOf(() => plan(copy)(now));
    if (code !== null) return code;
  }
  return null;
}

export async function runBatch<T>(
  name: string,
  model: Model,
  real: Real,
  mode: 'atomic' | 'stop' | 'each',
  { call, plans, settle }: Batch<T>,
): Promise<void> {
  const failure = mode === 'atomic' ? firstFailure(model, plans, real.now()) : null;
  const how = mode === 'atomic' ? { atomic: true } : mode === 'stop' ? { stop_on_error: true } : {};
  const { answer, code } = await outcomeOf(call(how));
  tally(`${name} ${mode}`, code);
  if (failure !== null) {
    // What is wrong with an item by itself is seen before any of them is tried.
    const alone = plans.map((plan) => codeOf(() => plan(structuredClone(model))));
    const expected = alone.includes('INVALID_INPUT') ? [failure, 'INVALID_INPUT'] : [failure];
    expect(expected).toContain(code);
    return;
  }
  expect(code).toBeNull();
  const { results, succeeded, failed } = answer!;
  expect(results.length).toBe(plans.length);
  let stopped = false;
  let done = 0;
  for (const [i, plan] of plans.entries()) {
    const result = results[i]!;
    let apply: Apply | undefined;
    const expected = stopped
      ? 'NOT_ATTEMPTED'
      : codeOf(() => {
          apply = plan(model);
        });
    expect(result.status === 'error' ? result.code : null, `item ${i}`).toBe(expected);
    if (expected !== null) {
      stopped ||= mode === 'stop';
      continue;
    }
    done += 1;
    if (result.status === 'success') await settle(i, apply!, result.data);
  }
  expect({ succeeded, failed }).toEqual({ succeeded: done, failed: plans.length - done });
}
