/** States that are sent as the changes from another checkpoint of the execution, the base. */
import type { In } from '../../engine/contract.js';
import type { Call } from '../../engine/index.js';
import type { Json } from '../../kernel/contract.js';
import { CairnError } from '../../kernel/index.js';
import { applyChanges } from '../states/patch.js';
import { retainedStates } from '../states/retained-states.js';
import { type State, snapshotOf } from '../states/snapshot-state.js';
import type { Changes, Snapshot } from './model.js';
import { retainedState } from './states.js';
import { findPlace } from './store.js';

type Input = Pick<In<'checkpoints.create'>, 'execution_id' | 'parent_checkpoint_id' | 'root'>;

export interface Delta {
  readonly base: string;
  readonly changes: Changes;
}

/** The parent that the input names; null for a root, undefined for the current checkpoint. */
export const parentOf = ({ root, parent_checkpoint_id }: Input): string | null | undefined =>
  root ? null : parent_checkpoint_id;

/** The state that the changes lead to: shares with the base what they do not touch. */
export async function stateFrom(call: Call, { base, changes, ...input }: Input & Delta): Promise<Snapshot> {
  const state = await baseState(call, input, base);
  return applyChanges(snapshotOf(state) as unknown as Json, changes) as unknown as Snapshot;
}

async function baseState(call: Call, input: Input, base: string): Promise<State> {
  const { execution_id } = input;
  const states = retainedStates.of(call);
  const { tenant } = call;
  const known = states.of(tenant, { execution_id, checkpoint_id: base });
  const parent_id = parentOf(input);
  const followed = parent_id === undefined ? states.lastOf(tenant, execution_id) : parent_id;
  // The transaction looks for the parent; any other base may be gone, although its state is still retained.
  if (known && base === followed) return known;
  if (await findPlace(call.driver.at(tenant), execution_id, base)) {
    const state = known ?? (await retainedState(call, base).catch(unlessGone));
    if (state) return state;
  }
  throw new CairnError(
    'UNKNOWN_BASE',
    `base: execution ${execution_id} has no checkpoint ${base}: send the whole state as \`snapshot\``,
  );
}

function unlessGone(error: unknown): undefined {
  if (!(error instanceof CairnError) || error.code !== 'CHECKPOINT_NOT_FOUND') throw error;
}
