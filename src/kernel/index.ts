/** What other modules may use of kernel. */
export { CLOCK_TOLERANCE_MS, clockWarning } from './clock-skew.js';
export { eachInTurn, type GiveWay, givingWay, inTurn, type TokenCounter } from './cooperative-yield.js';
export {
  entityName,
  type IndexedType,
  indexedType,
  SEARCHED_TYPES,
  type SearchedType,
  shownType,
} from './entity-types.js';
export { CairnError, type ErrorCode, errorCodes, invalid, isErrorCode, notFound, present } from './errors.js';
export { describeIssues, parseAs } from './issues.js';
export { sameJson, sameMembers } from './json/equality.js';
export { step, stepsOf } from './json/pointer.js';
export { asList, freeze, isBlank, isLongerThan, isObject, keep, put } from './json/values.js';
export { anySignal } from './signals.js';
export { atOnce, inSteps, type Steps } from './steps.js';
export { toIso, toMs } from './times.js';
