/** A run as JSON: everything needed to resume it from a file or in another process, without a store. */
import { z } from 'zod';
import {
  CHECKPOINT_VERSION,
  type Checkpoint,
  checkpoint,
  checkpointMetadata,
  type Snapshot,
  sentSnapshot,
} from '../checkpoints/contract.js';
import { anyId } from '../kernel/contract.js';
import { CairnError, parseAs } from '../kernel/index.js';
import type { Frozen } from './frozen.js';

const { checkpoint_reason: _, ...progress } = checkpointMetadata.shape;

/** Does not check the parts of the snapshot: their `fromJSON` does. */
const parts = z.object({
  thought_chain: sentSnapshot,
  context: sentSnapshot,
  tool_state: sentSnapshot,
}) as unknown as typeof checkpoint.shape.snapshot;

const runProgress = z.strictObject({
  execution_id: anyId,
  agent_id: anyId,
  ...progress,
  latest_checkpoint_id: anyId.optional(),
});
export const runState = runProgress.extend({ snapshot: parts });
export type RunState = Frozen<z.output<typeof runProgress> & { snapshot: Snapshot }>;

const portable = checkpoint.extend({ snapshot: parts });

/** The run at a checkpoint of the current version. */
export function stateOf(json: Frozen<Checkpoint>): RunState {
  if ((json.version as string) !== CHECKPOINT_VERSION)
    throw new CairnError(
      'UNSUPPORTED_VERSION',
      `a run resumes from a checkpoint of version ${CHECKPOINT_VERSION}, not ${JSON.stringify(json.version)}: import it into a store first`,
    );
  const { execution_id, agent_id, metadata, ...rest } = parseAs(portable, json, 'checkpoint');
  const { checkpoint_reason: _, ...progress } = metadata;
  return { execution_id, agent_id, ...progress, latest_checkpoint_id: rest.id, snapshot: rest.snapshot };
}
