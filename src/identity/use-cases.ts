/** The use cases of identity, by group and verb of the table of operations. */
import * as agents from './agents/service.js';
import { auth, keys } from './keys/service.js';
import * as settings from './settings/service.js';

export const useCases = { agents, keys, auth, settings };
