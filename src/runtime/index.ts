/** cairndb/runtime: the state of a running agent, with no database needed. */
export type { Answer, Question } from './asking.js';
export type { CheckpointSink } from './checkpoint-queue.js';
export { Context, type ContextSnapshot, type MessagePatch } from './context.js';
export type { ContextEvents, RunEvents, RunFailure, ThoughtEvents, ToolEvents } from './events.js';
export {
  type CheckpointDetails,
  Execution,
  type ExecutionOptions,
  type RunOptions,
  type RunSink,
  type RunStore,
  type StartOptions,
} from './execution.js';
export type { Frozen } from './frozen.js';
export type { CheckpointPolicies } from './policies.js';
export type { Backoff } from './retries.js';
export type { RunState } from './run-state.js';
export {
  type NewThought,
  ThoughtChain,
  type ThoughtChainSnapshot,
  type ThoughtPatch,
} from './thought-chain.js';
export { type ToolOutcome, ToolState, type ToolStateSnapshot } from './tool-state.js';
export type { DetailedResult, TurnResult } from './worker/ending.js';
export { TurnPaused, type WorkerTurn } from './worker/turn.js';
export { runWorker, type Worker, type WorkerOptions } from './worker/worker.js';
