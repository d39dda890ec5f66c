/** An Api that makes every call in an agent_turn and retries while the server is unavailable. */
import type { AnyMethod, Api, CallOptions } from '../../api/index.js';
import { newId } from '../../kernel/contract.js';

interface Guard {
  /** `<agent_turn_id>:<turn_epoch>`. */
  readonly agent_turn: string;
  /** Ends calls and streams that have no signal of their own. */
  readonly signal: AbortSignal;
  readonly retry: <T>(run: () => Promise<T>) => Promise<T>;
}

export function guardedApi(cairn: Api, guard: Guard): Api {
  const api: Record<string, Record<string, AnyMethod>> = {};
  for (const [group, methods] of Object.entries(cairn)) {
    if (typeof methods !== 'object') continue;
    api[group] = {};
    for (const [verb, method] of Object.entries(methods as Record<string, AnyMethod>)) {
      api[group][verb] = guarded(method, guard);
    }
  }
  return api as unknown as Api;
}

function guarded(method: AnyMethod, { agent_turn, signal, retry }: Guard): AnyMethod {
  return (input, options) => {
    // The key lets a call be repeated after its answer was lost. Reads ignore it.
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
