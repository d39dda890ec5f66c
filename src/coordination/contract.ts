/** The models and operations of coordination: schemas alone, for clients as well. */
export { agent_turns } from './agent-turns/contract.js';
export { type AgentTurn, type Batch, DEFAULT_TURN_LEASE_MS, type TurnError } from './agent-turns/model.js';
export { delegations } from './delegations/contract.js';
export { handoffs } from './handoffs/contract.js';
export { handovers } from './handovers/contract.js';
export { locks } from './locks/contract.js';
export { messages } from './messages/contract.js';
export { pmo } from './packing/contract.js';
