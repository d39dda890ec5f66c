/** The models and operations of kernel: schemas alone, for clients as well. */
export { bytes } from './bytes.js';
export {
  computed,
  instant,
  type ListOrder,
  listOrder,
  pageInput,
  pageOutput,
  role,
  startsAs,
  subjectIds,
} from './common.js';
export { anyId, NIL_ID, newId, profileName, tenantId, uuid } from './ids.js';
export {
  type Json,
  type JsonInput,
  type JsonObject,
  type JsonObjectInput,
  jsonFault,
  jsonObject,
  jsonValue,
  MAX_DEPTH,
  smallMetadata,
  text,
  textFault,
  toolCalls,
  toolResults,
} from './json/json.js';
export { stableJson } from './json/stable.js';
