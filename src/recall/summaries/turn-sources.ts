/** Turns as sources of summaries and facts: what they say, and which of them belong together. */
import type { Json, JsonObject } from '../../kernel/contract.js';
import { asList, isObject } from '../../kernel/index.js';
import { canonical } from '../../kernel/node.js';
import type { Turn } from '../../memory/contract.js';
import { type TextSource, wholeGroups } from './sources.js';

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
  isObject(value) ? names.map((name) => (value as JsonObject)[name]).find((one) => one !== undefined) : undefined;

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
  [textOf(content), ...asList(tool_calls).map(callText), ...asList(tool_results).map(resultText)]
    .filter((text) => text !== '')
    .join('\n');

/** Which turns of a list are a tool call and its results, and which calls are still without one. */
export interface Grouped {
  /** By turn_id, the turn that made the call. */
  readonly groups: ReadonlyMap<string, string>;
  /** So many of the first turns can be taken: none of them waits for a result behind them. */
  readonly settled: number;
}

/** Behind so many further turns a result is no longer waited for. */
const WAITING_TURNS = 64;

/** A call without a result. Without an id, the next results are taken for it. */
interface OpenCall {
  readonly caller: number;
  readonly id: string | undefined;
}

/** The ids of the calls that a turn answers; undefined where it does not say which. */
function answersOf({ role, tool_results, metadata }: Turn): (string | undefined)[] {
  const results = asList(tool_results);
  if (results.length > 0) return results.map(answeredId);
  if (role !== 'Tool') return [];
  const { tool_call_id } = metadata;
  return [typeof tool_call_id === 'string' ? tool_call_id : undefined];
}

/** The call that a result answers: by its id, else the first that waits of the turn that called last. */
function placeOf(open: readonly OpenCall[], id: string | undefined): number {
  const named = id === undefined ? -1 : open.findLastIndex((call) => call.id === id);
  if (named !== -1) return named;
  const last = open.at(-1)?.caller;
  return open.findIndex((call) => call.caller === last && (id === undefined || call.id === undefined));
}

export function groupTurns(turns: readonly Turn[]): Grouped {
  const groups = new Map<string, string>();
  const callers = new Map<string, number>();
  const open: OpenCall[] = [];
  const join = (turn_id: string, group: string): void => {
    const before = groups.get(turn_id);
    // One turn may answer several, which then belong together.
    if (before !== undefined) for (const [id, one] of groups) if (one === before) groups.set(id, group);
    groups.set(turn_id, group);
  };
  turns.forEach((turn, at) => {
    for (const id of answersOf(turn)) {
      const place = placeOf(open, id);
      const caller = place === -1 ? id && callers.get(id) : open.splice(place, 1)[0]!.caller;
      if (typeof caller === 'number') join(turn.turn_id, groups.get(turns[caller]!.turn_id)!);
    }
    for (const call of asList(turn.tool_calls)) {
      const id = callId(call);
      if (!groups.has(turn.turn_id)) groups.set(turn.turn_id, turn.turn_id);
      open.push({ caller: at, id });
      if (id !== undefined) callers.set(id, at);
    }
  });
  const waiting = open.find(({ caller }) => turns.length - caller <= WAITING_TURNS)?.caller ?? turns.length;
  const grouped = turns.map(({ turn_id }) => ({ group: groups.get(turn_id) }));
  return { groups, settled: wholeGroups(grouped, waiting) };
}

export const stringOrNull = (value: Json | undefined): string | null => (typeof value === 'string' ? value : null);

/** Turns as sources, in their order. */
export function sourcesOf(turns: readonly Turn[], trajectory_id: string): TextSource[] {
  const { groups } = groupTurns(turns);
  return turns.map((turn) => ({
    id: turn.turn_id,
    role: turn.role,
    speaker: stringOrNull(turn.metadata.speaker),
    text: turnText(turn),
    occurred_at: stringOrNull(turn.metadata.occurred_at) ?? turn.created_at,
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
