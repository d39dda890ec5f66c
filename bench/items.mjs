// What is measured, by name, in the order of the table.
import { assembly } from './assembly.mjs';
import { bytes } from './bytes.mjs';
import { checkpoints } from './checkpoints.mjs';
import { delegations } from './delegations.mjs';
import { growth } from './growth.mjs';
import { http } from './http.mjs';
import { indexed_writes } from './indexed-writes.mjs';
import { locks } from './locks.mjs';
import { memory } from './memory.mjs';
import { peers } from './peers.mjs';
import { reads } from './reads.mjs';
import { row_security } from './row-security.mjs';
import { scopes } from './scopes.mjs';
import { search } from './search.mjs';
import { sustained } from './sustained.mjs';
import { terminal } from './terminal.mjs';
import { turns } from './turns.mjs';
import { vectors } from './vectors.mjs';
import { appends, packets } from './writes.mjs';

export const items = {
  appends,
  packets,
  turns,
  sustained,
  indexed_writes,
  growth,
  scopes,
  peers,
  http,
  reads,
  search,
  vectors,
  terminal,
  bytes,
  memory,
  assembly,
  checkpoints,
  delegations,
  locks,
  row_security,
};

/** They take an hour or more of a quiet machine, so they run only when they are named. */
export const longItems = new Set(['memory']);
