/** Work on what a caller sent: in steps where the input was given away, at once where the caller may still change it. */
import { atOnce, givingWay, inSteps, type Steps } from '../../kernel/index.js';
import type { Call } from './call.js';

/** Not async: work that is done at once is done before anything is waited for. */
export const stepsOf = <T>(call: Pick<Call, 'options'>, steps: Steps<T>): Promise<T> | T =>
  call.options.owned ? inSteps(steps, givingWay(call.options.signal)) : atOnce(steps);
