/** How a worker ends an agent_turn: what its handle gave or threw, told until it is known to be known. */
import type { Api, CallOptions } from '../../api/index.js';
import type { AgentTurn, TurnError } from '../../coordination/contract.js';
import { type JsonObject, newId } from '../../kernel/contract.js';
import { CairnError, invalid } from '../../kernel/index.js';
import { retrying, within } from '../retries.js';
import { type HeldLease, SHORTEST_TRY_MS } from './held-lease.js';
import type { WorkerSettings } from './settings.js';

/** What a handle gives: the deliverable alone, or with what else there is to say. */
export type TurnResult = string | DetailedResult | Readonly<Record<string, unknown>>;

export interface DetailedResult {
  readonly deliverable: string | JsonObject;
  readonly status?: 'success' | 'partial';
  readonly summary?: string;
  readonly artifact_ids?: string[];
}

export type Outcome = { readonly result: DetailedResult } | { readonly error: unknown };

const MEMBERS = ['deliverable', 'status', 'summary', 'artifact_ids'];

/** An object with a deliverable and nothing unknown beside it is a detailed result; any other is the deliverable itself. */
export function resultOf(given: unknown): DetailedResult {
  if (typeof given === 'string') return { deliverable: given };
  if (typeof given !== 'object' || given === null || Array.isArray(given)) {
    throw invalid('the handle of a worker must give text or an object');
  }
  const isDetailed = Object.hasOwn(given, 'deliverable') && Object.keys(given).every((name) => MEMBERS.includes(name));
  return isDetailed ? (given as DetailedResult) : { deliverable: given as JsonObject };
}

function errorOf(thrown: unknown): TurnError {
  const { code, message } = (thrown ?? {}) as { code?: unknown; message?: unknown };
  const named = typeof code === 'string' && code !== '' ? code : 'HANDLE_FAILED';
  return { code: fitting(named, 200), message: fitting(String(message ?? thrown), 20_000) };
}

/** What an agent_turn takes of a text that may hold anything. */
const fitting = (text: string, length: number): string =>
  text.replaceAll('\u0000', ' ').slice(0, length).toWellFormed();

export interface Ending {
  readonly cairn: Api;
  readonly agent_turn: AgentTurn;
  readonly lease: HeldLease;
  readonly settings: WorkerSettings;
  /** Given when the worker may wait no longer. */
  readonly signal: AbortSignal;
}

/** Ends it by what came of it. That it is another's by now is told to nobody: who has it will end it. */
export async function endTurn(ending: Ending, outcome: Outcome): Promise<void> {
  const { cairn, settings } = ending;
  const fail = (error: unknown) =>
    told(ending, (held, options) => cairn.agent_turns.fail({ ...held, error: errorOf(error) }, options));
  try {
    if ('error' in outcome) return await fail(outcome.error);
    await told(ending, (held, options) => cairn.agent_turns.complete({ ...held, ...outcome.result }, options)).catch(
      (error) => {
        settings.on_error(error);
        const refused = error instanceof CairnError && error.status < 500 && !isOver(error);
        // What was given does not fit, such as for want of a field that the task asks for.
        if (refused) return fail(error);
      },
    );
  } catch (error) {
    settings.on_error(error);
  }
}

/** It is another's by now, or has ended otherwise, as by the handle itself. */
const isOver = ({ code, details }: CairnError): boolean =>
  code === 'STALE_TURN' || (code === 'STATE_CONFLICT' && ['completed', 'failed'].includes(String(details?.status)));

type Held = Pick<AgentTurn, 'agent_turn_id' | 'turn_epoch'>;

/** Until as long again after the lease is over: it may have been done, and its answer lost. */
async function told(
  { agent_turn, lease, settings, signal }: Ending,
  tell: (held: Held, options: CallOptions) => Promise<unknown>,
): Promise<void> {
  const { agent_turn_id, turn_epoch } = agent_turn;
  const { backoff, lease_ms, on_error } = settings;
  const options = { agent_turn: `${agent_turn_id}:${turn_epoch}`, idempotency_key: newId() };
  const goesOn = () => lease.left_ms > -lease_ms;
  await retrying({ backoff, signal, goesOn, onFailure: on_error }, () =>
    within(Math.max(lease_ms, SHORTEST_TRY_MS), signal, (ends) =>
      tell({ agent_turn_id, turn_epoch }, { ...options, signal: ends }),
    ),
  );
}
