/** Parses tool calls of cards, in any known shape, and gives each the id that the model sees. */
import type { Json, JsonObject } from '../../kernel/contract.js';
import { isObject } from '../../kernel/index.js';
import { canonical, sha256 } from '../../kernel/node.js';

export interface CallRequest {
  readonly id: string;
  readonly name: string;
  readonly input: JsonObject;
}

/** Reads `{tool_name, arguments}`, OpenAI's `{id, function}`, and `{id, name, arguments}`. */
export function readCall(call: Json, id: string | null, derivedFrom: string): CallRequest | undefined {
  if (!isObject(call)) return undefined;
  const inner = isObject(call.function) ? call.function : call;
  const name = inner.tool_name ?? inner.name;
  if (typeof name !== 'string' || name === '') return undefined;
  const input = inputOf((inner.arguments ?? inner.args ?? inner.input) as Json | undefined);
  return { id: (id ?? idIn(call)) || derivedId(derivedFrom), name, input };
}

const idIn = ({ id, tool_call_id }: Record<string, unknown>): string =>
  [id, tool_call_id].find((one): one is string => typeof one === 'string') ?? '';

/** Always an object, since model APIs take nothing else; another value becomes its `arguments`. */
function inputOf(given: Json | undefined): JsonObject {
  const value = typeof given === 'string' ? parsed(given) : given;
  if (value === undefined || value === null || value === '') return {};
  return isObject(value) ? (value as JsonObject) : { arguments: value };
}

function parsed(text: string): Json {
  try {
    return JSON.parse(text) as Json;
  } catch {
    return text;
  }
}

/** Short enough for every API: OpenAI allows 40 characters. */
const derivedId = (source: string): string => `call_${sha256(source).slice(0, 24)}`;

/** The id that the model sees: its own if that fits and is free, else a derived one. */
export function shownIds<C extends CallRequest>(calls: readonly C[], fits: RegExp): Map<C, string> {
  const ids = new Map<C, string>();
  const taken = new Set<string>();
  const count = new Map<string, number>();
  for (const call of calls) {
    const { id } = call;
    let shown = fits.test(id) ? id : derivedId(id);
    // Counts on per id, so that a thousand calls with one id do not probe each other's ids.
    while (taken.has(shown)) {
      const next = (count.get(id) ?? 1) + 1;
      count.set(id, next);
      shown = derivedId(canonical([id, next]));
    }
    taken.add(shown);
    ids.set(call, shown);
  }
  return ids;
}
