/** Search operations: over everything, or over artifacts or notes alone. */

import { z } from 'zod';
import { operation, reads, readsAnything } from '../../engine/contract.js';
import { actingUser } from '../../kernel/contract.js';
import { searchedTypeInAnyCase, searchInput, searchInputOf, searchOutput } from './model.js';

export const search = {
  query: operation({
    method: 'POST',
    path: '/api/v1/search',
    input: z.strictObject({
      ...searchInput,
      entity_types: z.array(searchedTypeInAnyCase).min(1).max(6).optional().describe('Default: all'),
      user: actingUser,
    }),
    output: searchOutput,
    access: 'read',
    touches: readsAnything,
    event: null,
    summary: 'Search turns, artifacts, notes, cards, packets and thoughts; best first, with reasons.',
    example: { query: 'which database did we choose', entity_types: ['Note', 'Turn'], limit: 5 },
  }),
};

const searchOf = <T extends 'Artifact' | 'Note', P extends 'artifacts' | 'notes'>(type: T, group: P) =>
  operation({
    method: 'POST',
    path: `/api/v1/${group}/search`,
    input: searchInputOf(type),
    output: searchOutput,
    access: 'read',
    touches: [reads(type, 'listed')],
    event: null,
    summary: `Search ${group}; best first, with reasons.`,
    example: { query: 'status of failures' },
  });

/** For the group artifacts. */
export const artifactSearch = { search: searchOf('Artifact', 'artifacts') };

/** For the group notes. */
export const noteSearch = { search: searchOf('Note', 'notes') };
