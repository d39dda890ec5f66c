/** What checkpoints adds to the registries of lower modules. */
import { holderErasers } from '../engine/lifetimes/erasers.js';
import { eraseStates } from './executions/erasure.js';


holderErasers.add({
  kinds: ['execution', 'pruned'],
  erase: async (call, ending) => {
    if (!(await eraseStates(call, ending))) return undefined;
    // A prune may be asked for again while it is erased: its position counts how often.
    return ending.holder.startsWith('pruned:') ? { reached: ending.position } : {};
  },
  facts: ({ versions }) => ({ parts_erased: versions }),
});
