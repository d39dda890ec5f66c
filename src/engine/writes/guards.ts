/** Write guards: a transaction first checks that the caller still holds the agent_turn or lock that its call names. */
import type { Call, Work } from '../calls/call.js';
import { SlotRegistry } from '../registry.js';

/** Throws unless the caller still holds what the call names; does nothing if it names none of this kind. */
type WriteGuard = (work: Work, input: unknown) => Promise<void>;

/** In lock order: agent_turns come before locks. */
export const writeGuards = new SlotRegistry<'agent_turn' | 'lock', WriteGuard>('write guard', ['agent_turn', 'lock']);

export const isGuarded = ({ turn, options }: Call): boolean =>
  turn !== undefined || options.fencing_token !== undefined;

export async function checkGuards(work: Work, input: unknown): Promise<void> {
  for (const [, check] of writeGuards) await check(work, input);
}
