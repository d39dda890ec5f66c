/** The use cases of maintenance, by group and verb of the table of operations. */
import * as lifetime from './sweep.js';

export const useCases = { lifetime };
