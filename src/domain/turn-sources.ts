/** Turns as sources of summaries and facts: what they say, and which of them belong together. */
import type { Json, JsonObject } from '../model/json.js';
import type { Turn } from '../model/turn.js';
import { canonical } from './canonical.js';
import { isObject } from './json-values.js';
import type { TextSource } from './sources.js';

/** The text of a content that may be a list of parts, or any JSON. */
export function textOf(content: Json): string {
  if (typeof content === 'string') return content;
  if (content === null) return '';
  if (!Array.isArray(content)) return canonical(content);
  return content
    .map((part) => {
      if (typeof part === 'string') return part;
      if (isObject(part) && typeof part.text === 'string') return part.text;
      // A picture or a sound has no text; what is neither is kept as it is.
      return isObject(part) && typeof part.type === 'string' ? '' : canonical(part);
    })
    .filter((text) => text !== '')
    .join('\n');
}

const member = (value: Json, names: readonly string[]): Json | undefined =>
  isObject(value)
    ? names.map((name) => (value as JsonObject)[name]).find((one) => one !== undefined)
    : undefined;

/** What a call is known by: in the style of OpenAI, of Anthropic, or of a card. */
const callId = (call: Json): string | undefined => {
  const id = member(call, ['id', 'tool_call_id', 'tool_use_id']);
  return typeof id === 'string' ? id : undefined;
};
const answeredId = (result: Json): string | undefined => {
  const id = member(result, ['tool_call_id', 'tool_use_id', 'id']);
  return typeof id === 'string' ? id : undefined;
};

function callText(call: Json): string {
  const told = isObject(call) && isObject(call.function) ? call.function : call;
  const name = member(told, ['name', 'tool_name']);
  const given = member(told, ['arguments', 'input']);
  if (typeof name !== 'string') return canonical(call);
  return `${name}(${given === undefined ? '' : typeof given === 'string' ? given : canonical(given)})`;
}

function resultText(result: Json): string {
  const said = member(result, ['content', 'result', 'output', 'error']);
  return said === undefined ? textOf(result) : textOf(said);
}

const turnText = ({ content, tool_calls, tool_results }: Turn): string =>
  [textOf(content), ...(tool_calls ?? []).map(callText), ...(tool_results ?? []).map(resultText)]
    .filter((text) => text !== '')
    .join('\n');

/** Which turns of a list are a tool call and its results, and which calls at the end are still without one. */
export interface Grouped {
  /** By turn_id, the turn that made the call. */
  readonly groups: ReadonlyMap<string, string>;
  /** From here on the last turns wait for results: none of them can be taken yet. */
  readonly settled: number;
}

/** A call that was made last, and how much of its answer is still to come. */
interface OpenCall {
  readonly group: string;
  /** Ids without a result. */
  readonly ids: Set<string>;
  /** Calls without an id, which the next results are taken for. */
  unnamed: number;
}

const opened = (group: string, calls: readonly Json[]): OpenCall => {
  const ids = calls.map(callId);
  const named = ids.filter((id) => id !== undefined);
  return { group, ids: new Set(named), unnamed: ids.length - named.length };
};

const waits = (open: OpenCall | undefined): open is OpenCall =>
  open !== undefined && (open.ids.size > 0 || open.unnamed > 0);

export function groupTurns(turns: readonly Turn[]): Grouped {
  const groups = new Map<string, string>();
  const callers = new Map<string, string>();
  let open: OpenCall | undefined;
  for (const turn of turns) {
    const { turn_id, role, tool_calls, tool_results } = turn;
    const calls = tool_calls ?? [];
    const results = tool_results ?? [];
    const isResult = role === 'Tool' || results.length > 0;
    if (isResult) {
      const ids = results.map(answeredId).filter((id) => id !== undefined);
      const named = ids.find((id) => callers.has(id));
      const group = named === undefined ? open?.group : callers.get(named);
      if (group !== undefined) groups.set(turn_id, group);
      for (const id of ids) open?.ids.delete(id);
      if (open && named === undefined) {
        // Results that name no call are those of the calls before them.
        open.unnamed -= Math.max(1, results.length);
        if (open.unnamed < 0) open.ids.clear();
      }
    }
    if (calls.length > 0) {
      const group = groups.get(turn_id) ?? turn_id;
      groups.set(turn_id, group);
      open = opened(group, calls);
      for (const id of open.ids) callers.set(id, group);
    } else if (!isResult) {
      // Somebody went on: a result that did not come by now is not waited for.
      open = undefined;
    }
  }
  const { group } = waits(open) ? open : { group: undefined };
  const waiting = group === undefined ? -1 : turns.findIndex(({ turn_id }) => groups.get(turn_id) === group);
  return { groups, settled: waiting === -1 ? turns.length : waiting };
}

const text = (value: Json | undefined): string | null => (typeof value === 'string' ? value : null);

/** Turns as sources, in their order. */
export function sourcesOf(turns: readonly Turn[], trajectory_id: string): TextSource[] {
  const { groups } = groupTurns(turns);
  return turns.map((turn) => ({
    id: turn.turn_id,
    role: turn.role,
    speaker: text(turn.metadata.speaker),
    text: turnText(turn),
    occurred_at: text(turn.metadata.occurred_at) ?? turn.created_at,
    group: groups.get(turn.turn_id) ?? null,
    trajectory_id,
    recalled: turn.metadata.recalled !== undefined && turn.metadata.recalled !== false,
  }));
}

/** Texts that were recalled for a conversation: those of turns that say so, and those that a turn names. */
export function recalledIn(turns: readonly Turn[]): string[] {
  return turns.flatMap((turn) => {
    const { recalled } = turn.metadata;
    if (recalled === undefined || recalled === false) return [];
    const named = Array.isArray(recalled) ? recalled.filter((one) => typeof one === 'string') : [];
    return [turnText(turn), ...named];
  });
}
