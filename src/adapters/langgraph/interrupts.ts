/** Interrupts of LangGraph as pauses of their thread, and the answers as what a graph is resumed with. */
import { INTERRUPT, type PendingWrite, RESUME } from '@langchain/langgraph-checkpoint';
import type { Api } from '../../api/index.js';
import type { Pause, PauseAnswer } from '../../coordination/contract.js';
import type { Json, JsonObject } from '../../kernel/contract.js';
import { isObject } from '../../kernel/index.js';
import { type Codec, sizeOf } from './codec.js';
import { derivedId, type Thread, threadKey, unless } from './ids.js';

/** Longer values of an interrupt stay in its checkpoint alone. */
const MAX_VALUE = 256 * 1024;
const MAX_QUESTION = 20_000;
const PAGE = 500;
const MAX_THREADS = 10_000;

/** A checkpoint of a thread at which tasks are interrupted. */
interface Place {
  readonly thread: Thread;
  readonly execution_id: string;
  readonly checkpoint_id: string;
}

/** What LangGraph stores of an interrupt. */
interface Interrupted {
  readonly id?: unknown;
  readonly value?: unknown;
}

/** Ends of a pause that this process did not cause: it has an answer already, or its thread is gone. */
const ENDED = ['STATE_CONFLICT', 'PAUSE_NOT_FOUND'] as const;
const GONE = ['EXECUTION_NOT_FOUND'] as const;

export class Interrupts {
  readonly #cairn: Api;
  readonly #codec: Codec;
  /** Threads with interrupts, each with the values that their tasks were resumed with. Others cost no call. */
  readonly #waiting = new Map<string, Map<string, readonly unknown[]>>();

  constructor(cairn: Api, codec: Codec) {
    this.#cairn = cairn;
    this.#codec = codec;
  }

  /** The thread has interrupts, which another process may have stored. */
  note({ thread_id, namespace }: Thread): void {
    const key = threadKey({ thread_id, namespace });
    if (namespace !== '' || this.#waiting.has(key)) return;
    // A thread that is forgotten here is noted again when it is read.
    if (this.#waiting.size >= MAX_THREADS) this.#waiting.clear();
    this.#waiting.set(key, new Map());
  }

  /** Notes at once what a task was resumed with: the next checkpoint may be stored before these writes are. */
  noteWrites(thread: Thread, pending: readonly PendingWrite[], task_id: string): void {
    const known = this.#waiting.get(threadKey(thread));
    if (known) for (const [, values] of pending.filter(isResume)) known.set(task_id, [...(values as unknown[])]);
  }

  /** The writes of a task are stored: answers the pauses that it was resumed from, and asks what it asks. */
  async written(place: Place, pending: readonly PendingWrite[], task_id: string): Promise<void> {
    const { thread } = place;
    // An interrupt of a subgraph is written for the task of its parent, too.
    if (thread.namespace !== '') return;
    const interrupts = pending.filter(([channel]) => channel === INTERRUPT);
    const resumes = pending.filter(isResume);
    if (interrupts.length + resumes.length === 0) return;
    const index = (resumes[0]?.[1] as unknown[] | undefined)?.length ?? 0;
    const keys: string[] = [];
    for (const [, interrupt] of interrupts) keys.push(await this.#ask(place, task_id, index, interrupt));
    if (!this.#waiting.has(threadKey(thread))) return this.note(thread);
    // Run again, a task may ask another question in place of the one before.
    const isReplaced = ({ details, ask_key }: Pause): boolean =>
      keys.length > 0 && details?.task_id === task_id && details.index === index && !keys.includes(ask_key!);
    await this.#settle(place, isReplaced);
  }

  /** A checkpoint with this parent is stored: the graph has moved past the interrupts of the parent. */
  async moved(thread: Thread, execution_id: string, parent_id: string | null): Promise<void> {
    const key = threadKey(thread);
    if (parent_id === null || !this.#waiting.has(key)) return;
    const place = { thread, execution_id, checkpoint_id: parent_id };
    if (await this.#settle(place, ({ checkpoint_id }) => checkpoint_id === parent_id)) this.#waiting.delete(key);
  }

  forget(thread: Thread): void {
    this.#waiting.delete(threadKey(thread));
  }

  /** By the id of each interrupt of the checkpoint that has an answer: what to resume it with. */
  async answers({ execution_id, checkpoint_id }: Omit<Place, 'thread'>): Promise<Record<string, Json>> {
    const { pauses } = await this.#cairn.pauses.list({ execution_id, order: 'desc', limit: PAGE });
    const latest = new Map<string, Pause>();
    for (const pause of pauses) {
      const id = pause.details?.interrupt_id;
      if (pause.checkpoint_id === checkpoint_id && typeof id === 'string' && !latest.has(id)) latest.set(id, pause);
    }
    const answered = [...latest].flatMap(([id, { answer }]) =>
      answer === null ? [] : [[id, resumeOf(answer)] as const],
    );
    return Object.fromEntries(answered);
  }

  async #ask(place: Place, task_id: string, index: number, interrupt: unknown): Promise<string> {
    const { execution_id, checkpoint_id, thread } = place;
    const { id, value } = (isObject(interrupt as Json) ? interrupt : { value: interrupt }) as Interrupted;
    const json = await this.#readable(value);
    const text = typeof json === 'string' ? json : JSON.stringify(json ?? null);
    const hasText = json !== undefined && /\S/.test(text);
    const question = hasText ? text.slice(0, MAX_QUESTION).toWellFormed() : 'LangGraph was interrupted';
    const details: JsonObject = {
      thread_id: thread.thread_id,
      interrupt_id: typeof id === 'string' ? id : task_id,
      task_id,
      index,
      ...(json === undefined ? {} : { value: json }),
    };
    const ask_key = derivedId('interrupt', checkpoint_id, task_id, index, details.interrupt_id, text);
    const asked = { execution_id, checkpoint_id, ask_key, question, details, outside: true };
    await unless(GONE, this.#cairn.pauses.create({ ...asked, trigger: 'human_review' }));
    return ask_key;
  }

  /**
   * Answers open pauses whose tasks were resumed, with the value that the graph was given, and cancels those that are over.
   * True if none is left.
   */
  async #settle({ thread, execution_id }: Place, isOver: (pause: Pause) => boolean): Promise<boolean> {
    const resumed = this.#waiting.get(threadKey(thread));
    const listed = await this.#cairn.pauses.list({ execution_id, status: 'open', limit: PAGE });
    const open = listed.pauses.filter(({ outside }) => outside);
    let left = open.length;
    for (const pause of open) {
      const { task_id, index } = pause.details ?? {};
      const values = resumed?.get(String(task_id)) ?? [];
      const isResumed = Number(index) < values.length;
      if (!isResumed && !isOver(pause)) continue;
      const value = isResumed ? await this.#readable(values[Number(index)]) : undefined;
      const answer: PauseAnswer = isResumed
        ? { action: 'continue', ...(value === undefined ? {} : { value }) }
        : { action: 'cancel' };
      await unless(ENDED, this.#cairn.pauses.answer({ pause_id: pause.pause_id, ...answer }));
      left--;
    }
    return left === 0;
  }

  /** A value as JSON; undefined if it is too long, or a serializer of the user's hides it. */
  async #readable(value: unknown): Promise<Json | undefined> {
    if (!this.#codec.transparent) return undefined;
    const json = await this.#codec.dump(value, 1);
    return json !== undefined && sizeOf(json) <= MAX_VALUE ? json : undefined;
  }
}

/** Per task, the values that its interrupts were resumed with, in their order. */
const isResume = ([channel, values]: PendingWrite): boolean => channel === RESUME && Array.isArray(values);

const resumeOf = ({ value, choice, action }: PauseAnswer): Json => (value === undefined ? (choice ?? action) : value);
