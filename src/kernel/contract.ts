/** Schemas that models of all modules share; browsers load them too. */
export { bytes } from './bytes.js';
export * from './common.js';
export * from './ids.js';
export * from './json/json.js';
export { stableJson } from './json/stable.js';
