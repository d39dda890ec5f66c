/** Searching everything that is remembered, or artifacts or notes alone. */
import { z } from 'zod';
import { operation, reads, readsAnything } from '../../engine/contract.js';
import { searchInput, searchInputOf, searchOutput, wantedType } from './model.js';

export const search = {
  query: operation({
    method: 'POST',
    path: '/api/v1/search',
    input: z.strictObject({
      ...searchInput,
      entity_types: z.array(wantedType).min(1).max(6).optional().describe('Default: all'),
    }),
    output: searchOutput,
    access: 'read',
    touches: readsAnything,
    event: null,
    summary: 'Search turns, artifacts, notes, cards, packets and thoughts: the best first, with the reasons.',
    example: { query: 'which database did we choose', entity_types: ['Note', 'Turn'], limit: 5 },
  }),
};

/** Of the group artifacts. */
export const artifactSearch = {
  search: operation({
    method: 'POST',
    path: '/api/v1/artifacts/search',
    input: searchInputOf('Artifact'),
    output: searchOutput,
    access: 'read',
    touches: [reads('Artifact', 'listed')],
    event: null,
    summary: 'Search artifacts: the best first, with the reasons.',
    example: { query: 'status of failures' },
  }),
};

/** Of the group notes. */
export const noteSearch = {
  search: operation({
    method: 'POST',
    path: '/api/v1/notes/search',
    input: searchInputOf('Note'),
    output: searchOutput,
    access: 'read',
    touches: [reads('Note', 'listed')],
    event: null,
    summary: 'Search notes: the best first, with the reasons.',
    example: { query: 'status of failures' },
  }),
};
