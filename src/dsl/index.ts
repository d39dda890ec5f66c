/** The door of dsl for modules above. */
export { useCases } from './use-cases.js';
