/** The models and operations of coordination: schemas only, also for clients. */
import type { Group } from '../engine/contract.js';
import type { agent_turns } from './agent-turns/contract.js';
import type { delegations } from './delegations/contract.js';
import type { handoffs } from './handoffs/contract.js';
import type { handovers } from './handovers/contract.js';
import type { locks } from './locks/contract.js';
import type { messages } from './messages/contract.js';
import type { pmo } from './packing/contract.js';
import type { pauses } from './pauses/contract.js';

export { agent_turns } from './agent-turns/contract.js';
export { type AgentTurn, type Batch, DEFAULT_TURN_LEASE_MS, type TurnError } from './agent-turns/model.js';
export { delegations } from './delegations/contract.js';
export { handoffs } from './handoffs/contract.js';
export { handovers } from './handovers/contract.js';
export { INSTRUCTION_HANDOVER } from './handovers/model.js';
export { locks } from './locks/contract.js';
export { messages } from './messages/contract.js';
export { pmo } from './packing/contract.js';
export { pauses } from './pauses/contract.js';
export { type Pause, type PauseAction, type PauseAnswer, type PauseTrigger, pauseAction } from './pauses/model.js';

declare module '../engine/contract/operation-types.js' {
  interface OperationsByName
    extends Group<'agent_turns', typeof agent_turns>,
      Group<'delegations', typeof delegations>,
      Group<'handoffs', typeof handoffs>,
      Group<'handovers', typeof handovers>,
      Group<'locks', typeof locks>,
      Group<'messages', typeof messages>,
      Group<'pauses', typeof pauses>,
      Group<'pmo', typeof pmo> {}
}

export type { DispatchAnswer } from './agent-turns/model.js';
export type { Delegation } from './delegations/model.js';
export type { Handoff } from './handoffs/model.js';
export type { DeliveredMessage, Message } from './messages/model.js';
