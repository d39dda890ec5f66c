/** The models and operations of index: schemas alone, for clients as well. */
export { MEMORY_CATEGORIES, type MemoryCategory } from './categories.js';
