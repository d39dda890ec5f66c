/** The use cases of maintenance, by group and verb of the table of operations. */
import { forget, list, show } from './erasures/service.js';
import { verify } from './erasures/verification.js';
import * as store from './figures/service.js';
import * as lifetime from './sweep.js';

export const useCases = { lifetime, store, memory: { forget }, erasures: { list, show, verify } };
