/** The tool calls of a run: those under way, and those that ended, with what came of them. */
import type { z } from 'zod';
import { type Snapshot, snapshot, type ToolCall, toolCall } from '../checkpoints/contract.js';
import { type Json, type JsonObject, newId } from '../kernel/contract.js';
import { type Tell, type ToolEvents, tellNobody } from './events.js';
import { checked, checkedWhole, type Frozen, frozenCopy, refusal, sealed } from './frozen.js';
import { FrozenList } from './frozen-list.js';

export type ToolStateSnapshot = Frozen<Snapshot['tool_state']>;

const started = toolCall.pick({ id: true, tool_id: true, arguments: true }).partial({ arguments: true });
const outcome = toolCall.omit({ id: true }).partial();

/**
 * How a call ended. `tool_id` and `arguments` are those that it was started with, and `duration_ms` is the time since
 * then, unless given; a call that was started before its run was restored has only its id, so `tool_id` is needed.
 */
export type ToolOutcome = Frozen<z.output<typeof outcome>>;

interface Begun {
  readonly tool_id: string;
  readonly arguments: Frozen<JsonObject>;
  readonly since: number;
}

export class ToolState {
  readonly #pending: FrozenList<string>;
  readonly #completed: FrozenList<ToolCall>;
  readonly #completedIds = new Set<string>();
  /** Of the pending calls that were started here. A snapshot has their ids alone. */
  readonly #begun = new Map<string, Begun>();
  readonly #tell: Tell<ToolEvents>;
  #last: string | undefined;
  #view: ToolStateSnapshot | undefined;

  constructor(tell: Tell<ToolEvents> = tellNobody, from: ToolStateSnapshot = { pending: [], completed: [] }) {
    this.#tell = tell;
    this.#pending = new FrozenList(from.pending);
    this.#completed = new FrozenList(from.completed);
    this.#last = from.last_tool_call_id;
    for (const { id } of from.completed) if (id !== undefined) this.#completedIds.add(id);
  }

  /** Refuses by name what does not fit, and ids of completed calls that are there twice. */
  static fromJSON(json: ToolStateSnapshot, tell?: Tell<ToolEvents>): ToolState {
    const from = checkedWhole(snapshot.shape.tool_state, json, 'tool_state');
    const seen = new Set<string>();
    for (const { id } of from.completed) {
      if (id === undefined) continue;
      if (seen.has(id)) throw refusal(`tool_state: the id "${id}" of a completed call is there twice`, { id });
      seen.add(id);
    }
    return new ToolState(tell, from);
  }

  /** Frozen; the same object until something changes. */
  toJSON(): ToolStateSnapshot {
    this.#view ??= sealed({
      ...(this.#last === undefined ? {} : { last_tool_call_id: this.#last }),
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

  /** Notes that a tool is being called. Gives the id of the call, a new one unless given. */
  start(tool_id: string, options: Frozen<{ id?: string; arguments?: JsonObject }> = {}): string {
    const given = checked(started, { ...options, tool_id }, 'tools.start');
    const { id = newId() } = given;
    if (this.#completedIds.has(id) || this.#placeOf(id) >= 0)
      throw refusal(`tools.start: the id "${id}" is taken`, { id });
    this.#pending.checkRoom('tools.start');
    const begun = { tool_id, arguments: given.arguments ?? sealed({}), since: performance.now() };
    this.#pending.push(id);
    this.#begun.set(id, begun);
    this.#changed('tool.started', { id, tool_id, arguments: begun.arguments });
    return id;
  }

  /** Moves a call from the pending to the completed ones. It went well, unless `success` is false. */
  finish(id: string, input: ToolOutcome = {}): Frozen<ToolCall> {
    return this.#end(id, checked(outcome, input, 'tools.finish'), 'tools.finish');
  }

  /** As `finish`, of a call that failed. The result of an Error is `{ error: <its message> }`. */
  fail(id: string, error: unknown, input: ToolOutcome = {}): Frozen<ToolCall> {
    const result = error instanceof Error ? { error: asText(error.message) } : (error as Json);
    const given = checked(outcome, { ...input, result, success: false }, 'tools.fail');
    return this.#end(id, given, 'tools.fail');
  }

  /** Takes back a call that is under way: nothing came of it. */
  cancel(id: string): void {
    this.#pending.remove(this.#needPending(id, 'tools.cancel'), 1);
    this.#begun.delete(id);
    this.#changed('tool.cancelled', { id });
  }

  #end(id: string, given: ToolOutcome, what: string): Frozen<ToolCall> {
    const place = this.#needPending(id, what);
    // A state that came from elsewhere may have one id in both lists.
    if (this.#completedIds.has(id))
      throw refusal(`${what}: a completed call has the id "${id}" already: cancel this one`, { id });
    const begun = this.#begun.get(id);
    const tool_id = given.tool_id ?? begun?.tool_id;
    if (tool_id === undefined)
      throw refusal(`${what}: tool_id is needed, since "${id}" was started before this run was restored`, { id });
    this.#completed.checkRoom(what);
    const call = frozenCopy({
      id,
      tool_id,
      arguments: given.arguments ?? begun?.arguments ?? {},
      result: given.result ?? null,
      success: given.success ?? true,
      duration_ms: given.duration_ms ?? (begun ? Math.round(performance.now() - begun.since) : 0),
      timestamp: given.timestamp ?? Date.now(),
    }) as Frozen<ToolCall>;
    this.#pending.remove(place, 1);
    this.#begun.delete(id);
    this.#completed.push(call);
    this.#completedIds.add(id);
    this.#last = id;
    this.#changed('tool.finished', { call });
    return call;
  }

  #placeOf(id: string): number {
    return this.#pending.indexOf(id);
  }

  #needPending(id: string, what: string): number {
    const place = this.#placeOf(id);
    if (place >= 0) return place;
    const why = this.#completedIds.has(id) ? 'it has ended already' : 'start it first';
    throw refusal(`${what}: no call "${id}" is pending: ${why}`, { id });
  }

  #changed: Tell<ToolEvents> = (...told) => {
    this.#view = undefined;
    this.#tell(...told);
  };
}

/** A message may carry anything that a tool printed; what no database can hold must not keep a failure from being noted. */
const asText = (message: string): string => message.toWellFormed().replaceAll('\0', '\ufffd');
