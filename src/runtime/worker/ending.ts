/** How a worker ends an agent_turn: with the result or error of its handle, reported until the server has answered. */
import type { Api, CallOptions } from '../../api/index.js';
import type { AgentTurn, TurnError } from '../../coordination/contract.js';
import { type JsonObject, newId } from '../../kernel/contract.js';
import { CairnError, invalid, isObject } from '../../kernel/index.js';
import { withRetries, withTimeout } from '../retries.js';
import { type HeldLease, MIN_TIMEOUT_MS } from './held-lease.js';
import type { WorkerSettings } from './settings.js';

/** The result of a handle: the deliverable alone, or with details. */
export type TurnResult = string | DetailedResult | Readonly<Record<string, unknown>>;

export interface DetailedResult {
  readonly deliverable: string | JsonObject;
  readonly status?: 'success' | 'partial';
  readonly summary?: string;
  readonly artifact_ids?: string[];
}

export type Outcome = { readonly result: DetailedResult } | { readonly error: unknown };

const MEMBERS = ['deliverable', 'status', 'summary', 'artifact_ids'];

/** An object with `deliverable` and only known members is a detailed result; any other object is the deliverable. */
export function resultOf(given: unknown): DetailedResult {
  if (typeof given === 'string') return { deliverable: given };
  if (!isObject(given)) throw invalid('the handle of a worker must return a string or an object');
  const isDetailed = Object.hasOwn(given, 'deliverable') && Object.keys(given).every((name) => MEMBERS.includes(name));
  return isDetailed ? (given as unknown as DetailedResult) : { deliverable: given as JsonObject };
}

function errorOf(thrown: unknown): TurnError {
  const { code, message } = (thrown ?? {}) as { code?: unknown; message?: unknown };
  const named = typeof code === 'string' && code !== '' ? code : 'HANDLE_FAILED';
  return { code: fitting(named, 200), message: fitting(String(message ?? thrown), 20_000) };
}

/** A text as an agent_turn accepts it. */
const fitting = (text: string, length: number): string =>
  text.replaceAll('\u0000', ' ').slice(0, length).toWellFormed();

interface Ending {
  readonly cairn: Api;
  readonly agent_turn: AgentTurn;
  readonly lease: HeldLease;
  readonly settings: WorkerSettings;
  /** Aborts when the worker may wait no longer. */
  readonly signal: AbortSignal;
}

/** Ends an agent_turn with its outcome. A turn that another worker holds by now is left to that worker. */
export async function endTurn(ending: Ending, outcome: Outcome): Promise<void> {
  const { cairn, settings } = ending;
  const fail = (error: unknown) =>
    report(ending, (held, options) => cairn.agent_turns.fail({ ...held, error: errorOf(error) }, options));
  try {
    if ('error' in outcome) return await fail(outcome.error);
    await report(ending, (held, options) => cairn.agent_turns.complete({ ...held, ...outcome.result }, options)).catch(
      (error) => {
        settings.on_error(error);
        const refused = error instanceof CairnError && error.status < 500 && !isOver(error);
        // The result is invalid: for example, it lacks a field that the task requires.
        if (refused) return fail(error);
      },
    );
  } catch (error) {
    settings.on_error(error);
  }
}

/** Another worker holds the turn by now, or it has already ended, for example through the handle. */
const isOver = ({ code, details }: CairnError): boolean =>
  code === 'STALE_TURN' || (code === 'STATE_CONFLICT' && ['completed', 'failed'].includes(String(details?.status)));

type Held = Pick<AgentTurn, 'agent_turn_id' | 'turn_epoch'>;

/** Retries until one lease time after the lease has expired: the call may have succeeded and its answer been lost. */
async function report(
  { agent_turn, lease, settings, signal }: Ending,
  send: (held: Held, options: CallOptions) => Promise<unknown>,
): Promise<void> {
  const { agent_turn_id, turn_epoch } = agent_turn;
  const { backoff, lease_ms, on_error } = settings;
  const options = { agent_turn: `${agent_turn_id}:${turn_epoch}`, idempotency_key: newId() };
  const hasTime = () => lease.left_ms > -lease_ms;
  await withRetries({ backoff, signal, hasTime, onFailure: on_error }, () =>
    withTimeout(Math.max(lease_ms, MIN_TIMEOUT_MS), signal, (ends) =>
      send({ agent_turn_id, turn_epoch }, { ...options, signal: ends }),
    ),
  );
}
