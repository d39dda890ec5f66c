/** An Api whose every call is made in an agent_turn, and outlives a server that goes and comes back. */
import type { AnyMethod, Api, CallOptions } from '../../api/index.js';
import { newId } from '../../kernel/contract.js';

export interface Guarding {
  /** `<agent_turn_id>:<turn_epoch>`. */
  readonly agent_turn: string;
  /** Ends calls and streams, unless a call brings a signal of its own. */
  readonly signal: AbortSignal;
  /** Tries again what may be tried again. */
  readonly retry: <T>(run: () => Promise<T>) => Promise<T>;
}

export function guardedApi(cairn: Api, guarding: Guarding): Api {
  const api: Record<string, Record<string, AnyMethod>> = {};
  for (const [group, methods] of Object.entries(cairn)) {
    if (typeof methods !== 'object') continue;
    api[group] = {};
    for (const [verb, method] of Object.entries(methods as Record<string, AnyMethod>)) {
      api[group][verb] = guarded(method, guarding);
    }
  }
  return api as unknown as Api;
}

function guarded(method: AnyMethod, { agent_turn, signal, retry }: Guarding): AnyMethod {
  return (input, options) => {
    // The key lets a call be sent again whose answer was lost. Of reads it means nothing.
    const call: CallOptions = { idempotency_key: newId(), agent_turn, signal, ...options };
    const first = method(input, call);
    if (Symbol.asyncIterator in first) return first;
    let answer: Promise<unknown> | undefined = first;
    return retry(() => {
      const attempt = answer ?? (method(input, call) as Promise<unknown>);
      answer = undefined;
      return attempt;
    });
  };
}
