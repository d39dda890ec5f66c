/** Asking a question in a run: what is asked, what comes of it, and the key under which it is found again. */
import { z } from 'zod';
import type { Api } from '../api/index.js';
import type { CheckpointReason } from '../checkpoints/contract.js';
import type { Pause, PauseAction, PauseAnswer, PauseTrigger } from '../coordination/contract.js';
import { type JsonObject, newId, stableJson } from '../kernel/contract.js';
import { CairnError } from '../kernel/index.js';
import { type Backoff, withRetries, withTimeout } from './retries.js';

type Asked = Parameters<Api['pauses']['create']>[0];

/** A question of a run. */
export interface Question {
  readonly question: string;
  /** Why the run asks, which sets the allowed actions; default: manual. */
  readonly trigger?: PauseTrigger;
  /** Values, or values with labels. */
  readonly choices?: (string | { value: string; label?: string })[];
  /** What the question is about, such as the tool call to confirm. */
  readonly details?: JsonObject;
  /** Allowed actions; default: by the trigger. */
  readonly answers?: PauseAction[];
  /** Time to answer; default: no deadline. */
  readonly timeout_ms?: number;
  /** The same as a time (ISO 8601). */
  readonly deadline_at?: string;
  /** The answer that counts at the deadline. */
  readonly default?: PauseAnswer;
  /** Asks this agent; default: people and the delegator. */
  readonly to_agent_id?: string;
  /** Asks any agent of this type. */
  readonly to_agent_type?: string;
  /** Names the question within its run; default: derived from its content and how often the run asked it. */
  readonly key?: string;
}

/** The answer to a question. */
export interface Answer extends PauseAnswer {
  readonly pause_id: string;
  readonly answered_at: string;
  /** Null if the default counted. */
  readonly answered_by: Pause['answered_by'];
}

/** The answer of a pause that has ended. Throws if it expired or was cancelled. */
export function answerIn({ pause_id, status, question, deadline_at, answer, answered_at, answered_by }: Pause): Answer {
  if (answer !== null) return { ...answer, pause_id, answered_at: answered_at!, answered_by };
  if (status === 'expired') {
    const message = `nobody answered "${question.slice(0, 200)}" by ${deadline_at}, and it has no default`;
    throw new CairnError('PAUSE_EXPIRED', message, { pause_id, deadline_at });
  }
  throw new CairnError('STATE_CONFLICT', `pause ${pause_id} is ${status}: its run has ended`, { pause_id, status });
}

/** Counts the questions of a run, so that a run that asks the same again finds each with its answer. */
export class AskKeys {
  readonly #asked = new Map<string, number>();

  /**
   * The key of the next question. It follows from the content: an answer never counts for another question than the one
   * that was answered. `place`: where in the run it is asked.
   */
  next({ key, timeout_ms: _, deadline_at: __, ...content }: Question, place: string): Promise<string> | string {
    if (key !== undefined) return key;
    const text = `${place} ${stableJson(z.unknown(), content)}`;
    const count = (this.#asked.get(text) ?? 0) + 1;
    this.#asked.set(text, count);
    return digestOf(text).then((digest) => `${digest}:${count}`);
  }
}

/** By the Web Crypto API, which browsers have too. */
async function digestOf(text: string): Promise<string> {
  const digest = await crypto.subtle.digest('SHA-256', new TextEncoder().encode(text));
  return Array.from(new Uint8Array(digest).subarray(0, 16), (byte) => byte.toString(16).padStart(2, '0')).join('');
}

/** The reason of the checkpoint in which an execution waits. */
export const reasonOf = (trigger: PauseTrigger = 'manual'): CheckpointReason =>
  trigger === 'tool_error' ? 'tool_error' : trigger === 'confidence_low' ? 'low_confidence' : 'manual';

/** The part of a store that an execution asks through. */
export type PauseSink = Pick<Api['pauses'], 'create' | 'get'>;

const BACKOFF: Backoff = { first_ms: 100, longest_ms: 5000 };
/** How long one request for an answer waits. */
const WAIT_MS = 20_000;
const TIMEOUT_MS = WAIT_MS + 10_000;

/** Asks, and waits for the answer over any outage of the server; only the signal ends it. */
export async function askAndWait(pauses: PauseSink, asked: Asked, signal: AbortSignal): Promise<Answer> {
  const patiently = <T>(run: (signal: AbortSignal) => Promise<T>): Promise<T> =>
    withRetries({ backoff: BACKOFF, signal }, () => withTimeout(TIMEOUT_MS, signal, run));
  const idempotency_key = newId();
  let pause = await patiently((ends) => pauses.create(asked, { idempotency_key, signal: ends }));
  while (pause.status === 'open') {
    signal.throwIfAborted();
    const { pause_id } = pause;
    pause = await patiently((ends) => pauses.get({ pause_id, wait_ms: WAIT_MS }, { signal: ends }));
  }
  return answerIn(pause);
}
