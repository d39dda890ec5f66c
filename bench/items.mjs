// What is measured, by name, in the order of the table.
import { checkpoints } from './checkpoints.mjs';
import { delegations } from './delegations.mjs';
import { growth } from './growth.mjs';
import { http } from './http.mjs';
import { locks } from './locks.mjs';
import { peers } from './peers.mjs';
import { reads } from './reads.mjs';
import { row_security } from './row-security.mjs';
import { scopes } from './scopes.mjs';
import { turns } from './turns.mjs';
import { appends, packets } from './writes.mjs';

export const items = {
  appends,
  packets,
  turns,
  growth,
  scopes,
  peers,
  http,
  reads,
  checkpoints,
  delegations,
  locks,
  row_security,
};
