/** What a run tells: one event per change, each with what it needs to follow the state without asking for it. */
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

/** The children of a step follow from the `parent_id` of others: nothing is told of a parent when it gains or loses one. */
export interface ThoughtEvents {
  /** It is the current step now. */
  'thought.added': { readonly thought: Frozen<Thought> };
  'thought.changed': { readonly before: Frozen<Thought>; readonly after: Frozen<Thought> };
  /** Its children are now those of its parent, in its place; so is the place where the chain stands. */
  'thought.removed': { readonly thought: Frozen<Thought> };
  'thought.current': { readonly before?: string | undefined; readonly after?: string | undefined };
}

export interface ContextEvents {
  'message.appended': { readonly index: number; readonly message: Frozen<Message> };
  'message.changed': { readonly index: number; readonly before: Frozen<Message>; readonly after: Frozen<Message> };
  /** `index` is where the first of them was. */
  'message.removed': { readonly index: number; readonly messages: readonly Frozen<Message>[] };
  /** One that is new has no `before`, one that is gone no `after`. */
  'variable.changed': { readonly name: string; readonly before?: Frozen<Json>; readonly after?: Frozen<Json> };
  'memory.changed': {
    readonly key: string;
    readonly before?: Frozen<MemoryEntry>;
    readonly after?: Frozen<MemoryEntry>;
  };
}

export interface ToolEvents {
  'tool.started': { readonly id: string; readonly tool_id: string; readonly arguments: Frozen<JsonObject> };
  /** It went well, or failed: `call.success`. */
  'tool.finished': { readonly call: Frozen<ToolCall> };
  'tool.cancelled': { readonly id: string };
}

/** What changes the state. */
export interface ChangeEvents extends ThoughtEvents, ContextEvents, ToolEvents {
  step: { readonly step_number: number; readonly tokens_used: number };
  'tokens.used': { readonly tokens: number; readonly tokens_used: number };
}

export interface RunEvents extends ChangeEvents {
  /** A checkpoint is stored. */
  checkpoint: CheckpointSummary;
  error: RunFailure;
}

/** A checkpoint that could not be stored, or a listener that threw. */
export type RunFailure =
  | {
      readonly source: 'checkpoint';
      readonly error: unknown;
      readonly checkpoint_id: string;
      readonly reason: CheckpointReason;
    }
  | { readonly source: 'listener'; readonly error: unknown; readonly event: keyof RunEvents };

/** How a part of the state says what changed in it. */
export type Tell<E> = (...told: Told<E>) => void;
/** An event and what it carries: the one says which the other is. */
export type Told<E> = { [K in keyof E]: [event: K, data: E[K]] }[keyof E];

export const tellNobody = (): void => {};
