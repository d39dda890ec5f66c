/** The events of a run: one per change, with enough data to follow the state without reading it. */
import type {
  CheckpointReason,
  CheckpointSummary,
  MemoryEntry,
  Message,
  Thought,
  ToolCall,
} from '../checkpoints/contract.js';
import type { Json, JsonObject } from '../kernel/contract.js';
import type { Frozen } from './frozen.js';

/** The children of a step follow from the `parent_id` of others: no event is emitted for a parent that gains or loses one. */
export interface ThoughtEvents {
  /** The thought is now the current step. */
  'thought.added': { readonly thought: Frozen<Thought> };
  'thought.changed': { readonly before: Frozen<Thought>; readonly after: Frozen<Thought> };
  /** Its children now belong to its parent, in its place. If it was the current step, its parent is now. */
  'thought.removed': { readonly thought: Frozen<Thought> };
  'thought.current': { readonly before?: string | undefined; readonly after?: string | undefined };
}

export interface ContextEvents {
  'message.appended': { readonly index: number; readonly message: Frozen<Message> };
  'message.changed': { readonly index: number; readonly before: Frozen<Message>; readonly after: Frozen<Message> };
  /** `index` is the former position of the first one. */
  'message.removed': { readonly index: number; readonly messages: readonly Frozen<Message>[] };
  /** A new variable has no `before`, a deleted one no `after`. */
  'variable.changed': { readonly name: string; readonly before?: Frozen<Json>; readonly after?: Frozen<Json> };
  'memory.changed': {
    readonly key: string;
    readonly before?: Frozen<MemoryEntry>;
    readonly after?: Frozen<MemoryEntry>;
  };
}

export interface ToolEvents {
  'tool.started': { readonly id: string; readonly tool_id: string; readonly arguments: Frozen<JsonObject> };
  /** `call.success` says whether it failed. */
  'tool.finished': { readonly call: Frozen<ToolCall> };
  'tool.cancelled': { readonly id: string };
}

/** Events that change the state. */
export interface ChangeEvents extends ThoughtEvents, ContextEvents, ToolEvents {
  step: { readonly step_number: number; readonly tokens_used: number };
  'tokens.used': { readonly tokens: number; readonly tokens_used: number };
}

export interface RunEvents extends ChangeEvents {
  /** A checkpoint is stored. */
  checkpoint: CheckpointSummary;
  error: RunFailure;
}

/** A checkpoint could not be stored, or a listener threw. */
export type RunFailure =
  | {
      readonly source: 'checkpoint';
      readonly error: unknown;
      readonly checkpoint_id: string;
      readonly reason: CheckpointReason;
    }
  | { readonly source: 'listener'; readonly error: unknown; readonly event: keyof RunEvents };

export type Emit<E> = (...event: EventArgs<E>) => void;
/** An event name with its data. */
export type EventArgs<E> = { [K in keyof E]: [event: K, data: E[K]] }[keyof E];

export const noListeners = (): void => {};
