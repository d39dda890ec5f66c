/** The use cases of maintenance, by group and verb of the table of operations. */
import { forget, list, show } from './erasures/service.js';
import { verify } from './erasures/verification.js';
import * as lifetime from './sweep.js';

export const useCases = { lifetime, memory: { forget }, erasures: { list, show, verify } };
