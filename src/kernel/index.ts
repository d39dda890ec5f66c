/** What other modules may use of kernel. */
export * from './cooperative-yield.js';
export * from './entity-types.js';
export { CairnError, type ErrorCode, errorCodes, invalid, isErrorCode, notFound, present } from './errors.js';
export { groupBy } from './group-by.js';
export { describeIssues, parseAs, wordedIssues } from './issues.js';
export { pointerNames, pointerTo } from './json/pointer.js';
export * from './json/values.js';
export { withCommas } from './numbers.js';
export { anySignal } from './signals.js';
export { CLOCK_TOLERANCE_MS, clockWarning, toIso, toMs } from './times.js';
