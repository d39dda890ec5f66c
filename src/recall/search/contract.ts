/** Searching everything that is remembered. */
import { z } from 'zod';
import { operation } from '../../engine/contract/operation.js';
import { readsAnything } from '../../engine/contract/touches.js';
import { searchInput, searchOutput, wantedType } from './model.js';

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
