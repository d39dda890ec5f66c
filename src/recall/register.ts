/** What recall adds to the registries of lower modules. */
import { strongPins } from '../facts/cards/lifetime.js';
import { pinnedByJob } from './jobs/store.js';

strongPins.fill('job', pinnedByJob);
