/** The tool calls of a run: pending ones, and completed ones with their results. */
import type { z } from 'zod';
import { type Snapshot, snapshot, type ToolCall, toolCall } from '../checkpoints/contract.js';
import { type Json, type JsonObject, newId } from '../kernel/contract.js';
import { invalid } from '../kernel/index.js';
import { type Emit, noListeners, type ToolEvents } from './events.js';
import { checked, checkedWhole, type Frozen, frozenCopy, sealed } from './frozen.js';
import { FrozenList } from './frozen-list.js';

export type ToolStateSnapshot = Frozen<Snapshot['tool_state']>;

const started = toolCall.pick({ id: true, tool_id: true, arguments: true }).partial({ arguments: true });
const outcome = toolCall.omit({ id: true }).partial();

/**
 * How a call ended. Defaults: `tool_id` and `arguments` from its start, `duration_ms` since its start. A call that was
 * started before its run was restored has only its id, so `tool_id` is required.
 */
export type ToolOutcome = Frozen<z.output<typeof outcome>>;

interface StartedCall {
  readonly tool_id: string;
  readonly arguments: Frozen<JsonObject>;
  readonly since: number;
}

export class ToolState {
  readonly #pending: FrozenList<string>;
  readonly #completed: FrozenList<ToolCall>;
  readonly #completedIds = new Set<string>();
  /** Pending calls that were started here. A snapshot has only their ids. */
  readonly #started = new Map<string, StartedCall>();
  readonly #emit: Emit<ToolEvents>;
  #last: string | undefined;
  #view: ToolStateSnapshot | undefined;

  constructor(emit: Emit<ToolEvents> = noListeners, from: ToolStateSnapshot = { pending: [], completed: [] }) {
    this.#emit = emit;
    this.#pending = new FrozenList(from.pending);
    this.#completed = new FrozenList(from.completed);
    this.#last = from.last_tool_call_id;
    for (const { id } of from.completed) if (id !== undefined) this.#completedIds.add(id);
  }

  /** Refuses malformed input and duplicate ids of completed calls. */
  static fromJSON(json: ToolStateSnapshot, emit?: Emit<ToolEvents>): ToolState {
    const from = checkedWhole(snapshot.shape.tool_state, json, 'tool_state');
    const seen = new Set<string>();
    for (const { id } of from.completed) {
      if (id === undefined) continue;
      if (seen.has(id)) throw invalid(`tool_state: the id "${id}" of a completed call is not unique`, { id });
      seen.add(id);
    }
    return new ToolState(emit, from);
  }

  /** Frozen; the same object until something changes. */
  toJSON(): ToolStateSnapshot {
    this.#view ??= frozenCopy({
      last_tool_call_id: this.#last,
      pending: this.#pending.view(),
      completed: this.#completed.view(),
    }) as ToolStateSnapshot;
    return this.#view;
  }

  get pending(): readonly string[] {
    return this.#pending.view();
  }

  get completed(): readonly Frozen<ToolCall>[] {
    return this.#completed.view();
  }

  get last_tool_call_id(): string | undefined {
    return this.#last;
  }

  /** Records the start of a call. Returns its id; default: a new one. */
  start(tool_id: string, options: Frozen<{ id?: string; arguments?: JsonObject }> = {}): string {
    const given = checked(started, { ...options, tool_id }, 'tools.start');
    const { id = newId() } = given;
    if (this.#completedIds.has(id) || this.#pending.indexOf(id) >= 0)
      throw invalid(`tools.start: the id "${id}" already exists`, { id });
    this.#pending.checkRoom('tools.start');
    const call = { tool_id, arguments: given.arguments ?? sealed({}), since: performance.now() };
    this.#pending.push(id);
    this.#started.set(id, call);
    this.#changed('tool.started', { id, tool_id, arguments: call.arguments });
    return id;
  }

  /** Moves a call from the pending to the completed ones; default: `success` is true. */
  finish(id: string, input: ToolOutcome = {}): Frozen<ToolCall> {
    return this.#end(id, checked(outcome, input, 'tools.finish'), 'tools.finish');
  }

  /** Like `finish`, for a call that failed. The result of an Error is `{ error: <its message> }`. */
  fail(id: string, error: unknown, input: ToolOutcome = {}): Frozen<ToolCall> {
    const result = error instanceof Error ? { error: asText(error.message) } : (error as Json);
    const given = checked(outcome, { ...input, result, success: false }, 'tools.fail');
    return this.#end(id, given, 'tools.fail');
  }

  /** Removes a pending call. */
  cancel(id: string): void {
    this.#pending.remove(this.#needPending(id, 'tools.cancel'), 1);
    this.#started.delete(id);
    this.#changed('tool.cancelled', { id });
  }

  #end(id: string, given: ToolOutcome, what: string): Frozen<ToolCall> {
    const index = this.#needPending(id, what);
    // A restored state may have an id in both lists.
    if (this.#completedIds.has(id))
      throw invalid(`${what}: a completed call already has the id "${id}": cancel this one`, { id });
    const start = this.#started.get(id);
    const tool_id = given.tool_id ?? start?.tool_id;
    if (tool_id === undefined)
      throw invalid(`${what}: tool_id is required, since "${id}" was started before this run was restored`, { id });
    this.#completed.checkRoom(what);
    const call = frozenCopy({
      id,
      tool_id,
      arguments: start?.arguments ?? {},
      result: null,
      success: true,
      duration_ms: start ? Math.round(performance.now() - start.since) : 0,
      timestamp: Date.now(),
      ...given,
    }) as Frozen<ToolCall>;
    this.#pending.remove(index, 1);
    this.#started.delete(id);
    this.#completed.push(call);
    this.#completedIds.add(id);
    this.#last = id;
    this.#changed('tool.finished', { call });
    return call;
  }

  #needPending(id: string, what: string): number {
    const index = this.#pending.indexOf(id);
    if (index >= 0) return index;
    const why = this.#completedIds.has(id) ? 'it has already ended' : 'start it first';
    throw invalid(`${what}: no call "${id}" is pending: ${why}`, { id });
  }

  #changed: Emit<ToolEvents> = (...event) => {
    this.#view = undefined;
    this.#emit(...event);
  };
}

/** A message may contain any output of a tool; characters that no database stores must not prevent recording the failure. */
const asText = (message: string): string => message.toWellFormed().replaceAll('\0', '\ufffd');
