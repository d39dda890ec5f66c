/** The doctor's questions, in the order in which they are asked: each finds rows that break an invariant of its module. */
import { checkpointChecks } from '../checkpoints/checkpoints/doctor.js';
import { turnChecks } from '../coordination/agent-turns/doctor.js';
import { lockChecks } from '../coordination/locks/doctor.js';
import { messageChecks } from '../coordination/messages/doctor.js';
import type { Check } from '../engine/doctor.js';
import { requestChecks } from '../engine/writes/doctor.js';
import { boxChecks } from '../facts/boxes/doctor.js';
import { cardChecks } from '../facts/cards/doctor.js';
import { streamChecks } from '../facts/packets/doctor.js';
import { vectorChecks } from '../index/vectors/doctor.js';
import { scopeChecks } from '../memory/scopes/doctor.js';
import { trajectoryChecks } from '../memory/trajectories/doctor.js';
import { memoryChecks } from '../memory/versions/doctor.js';
import { jobChecks } from '../recall/jobs/doctor.js';
import { searchChecks } from '../recall/reindex/count-check.js';

export const checks: readonly Check[] = [
  ...streamChecks,
  ...boxChecks,
  ...requestChecks,
  ...cardChecks,
  ...trajectoryChecks,
  ...scopeChecks,
  ...memoryChecks,
  ...jobChecks,
  ...checkpointChecks,
  ...turnChecks,
  ...lockChecks,
  ...messageChecks,
  ...searchChecks,
  ...vectorChecks,
];
