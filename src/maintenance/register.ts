/** Fills the registries of lower modules. */
import { holderErasers } from '../engine/index.js';
import { eraseForgotten } from './erasures/running.js';

holderErasers.add({
  kinds: ['erasure'],
  erase: eraseForgotten,
  facts: ({ versions }) => ({ contents_erased: versions }),
});
