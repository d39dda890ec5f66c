/** Holds the place of the search index. */
import type { Migration } from '../migrate.js';

export const search: Migration = { version: 5, name: 'search', protect: [], statements: () => [] };
