/** What recall adds to the registries of lower modules. */
import { contentErasers } from '../engine/lifetimes/erasers.js';
import { eraseContexts } from './contexts/erasure.js';
import { expiries } from '../engine/leases/expiries.js';
import { jobDue } from './jobs/service.js';

expiries.fill('job', jobDue);

contentErasers.fill('contexts', async (call, ending) =>
  (await eraseContexts(call, ending)) ? {} : undefined,
);
