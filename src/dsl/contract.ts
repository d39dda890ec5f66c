/** Models and operations of dsl: schemas alone, for clients as well. */
import type { Group } from '../engine/contract.js';
import { language } from './language/contract.js';
import { plans } from './plans/contract.js';

export { KIND_NAMES } from './checks/kind-names.js';

export const dsl = { ...language, ...plans };

declare module '../engine/contract/operation-types.js' {
  interface OperationsByName extends Group<'dsl', typeof dsl> {}
}
