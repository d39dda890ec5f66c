/**
 * The types that users import by name. In the published package, scripts/types/api.mjs generates the declarations of this
 * module from the table, with a named type for every input and answer.
 */
export type { Shorthands } from './api/contract.js';
export type { Api, CallOptions } from './api/index.js';
export type { Json, JsonInput, JsonObject, JsonObjectInput } from './kernel/contract.js';
