/**
 * The types that users import by name. Here they are those of the mapped Api; in the published package the declaration of
 * this module is generated from the table, with a named type for every input and answer (scripts/types/api.mjs).
 */
export type { Shorthands } from './api/contract.js';
export type { Api, CallOptions } from './api/index.js';
export type { Json, JsonInput, JsonObject, JsonObjectInput } from './kernel/contract.js';
