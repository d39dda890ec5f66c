/** All doctor checks, in order: each finds rows that break an invariant of its module. */
import { checkpointChecks } from '../checkpoints/index.js';
import { lockChecks, messageChecks, pauseChecks, turnChecks } from '../coordination/index.js';
import { type Check, requestChecks } from '../engine/index.js';
import { boxChecks, cardChecks, streamChecks } from '../facts/index.js';
import { settingsChecks } from '../identity/index.js';
import { segmentChecks, vectorChecks } from '../index/index.js';
import { memoryChecks, scopeChecks, trajectoryChecks } from '../memory/index.js';
import { jobChecks } from '../recall/index.js';

export const checks: readonly Check[] = [
  ...streamChecks,
  ...boxChecks,
  ...requestChecks,
  ...settingsChecks,
  ...cardChecks,
  ...trajectoryChecks,
  ...scopeChecks,
  ...memoryChecks,
  ...jobChecks,
  ...checkpointChecks,
  ...turnChecks,
  ...pauseChecks,
  ...lockChecks,
  ...messageChecks,
  ...segmentChecks,
  ...vectorChecks,
];
