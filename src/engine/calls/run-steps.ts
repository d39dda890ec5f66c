/** Long work on an input: in steps if the caller handed it over, at once if the caller may still change it. */
import { cooperativeYield, runSteps, runWithYields, type Steps } from '../../kernel/index.js';
import type { Call } from './call.js';

/** Not async, so that work at once ends before the caller regains control. */
export const runCallSteps = <T>(call: Pick<Call, 'options'>, steps: Steps<T>): Promise<T> | T =>
  call.options.owned ? runWithYields(steps, cooperativeYield(call.options.signal)) : runSteps(steps);
