/** Entries of identity in the registries of lower modules. */
import { expiries } from '../engine/index.js';
import { expireAgent } from './presence/offline.js';

expiries.fill('agent', expireAgent);
