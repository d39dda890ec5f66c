/** The door of dsl for modules above. */
export { examineSource, formatSource, treeOfSource } from './language/service.js';
export { MAX_SOURCE, type Mistake } from './syntax/ast.js';
export { useCases } from './use-cases.js';
