/** Guards of stale writers: what a call says that it holds is checked inside the writing transaction, before anything else. */
import type { Call } from '../calls/call.js';
import type { Work } from '../calls/work.js';
import { SlotRegistry } from '../registry.js';

/** Refuses the write unless the caller still holds what the call names. Does nothing for a call that names none of its kind. */
export type WriteGuard = (work: Work, input: unknown) => Promise<void>;

/** In lock order: agent_turns come before locks. */
export const writeGuards = new SlotRegistry<'agent_turn' | 'lock', WriteGuard>('write guard', ['agent_turn', 'lock']);

export const isGuarded = ({ turn, options }: Call): boolean =>
  turn !== undefined || options.fencing_token !== undefined;

export async function checkGuards(work: Work, input: unknown): Promise<void> {
  for (const [, check] of writeGuards) await check(work, input);
}
