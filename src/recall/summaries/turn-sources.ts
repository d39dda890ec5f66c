/** Turns as sources of summaries and facts: their texts, and which of them belong together. */
import type { Json, JsonObject } from '../../kernel/contract.js';
import { asList, isObject } from '../../kernel/index.js';
import { canonical } from '../../kernel/node.js';
import type { Turn } from '../../memory/contract.js';
import { type TextSource, wholeGroups } from './sources.js';

/** The text of a content: a string, a list of parts, or any JSON. */
export function textOf(content: Json): string {
  if (typeof content === 'string') return content;
  if (content === null) return '';
  if (!Array.isArray(content)) return canonical(content);
  return content
    .map((part) => {
      if (typeof part === 'string') return part;
      if (isObject(part) && typeof part.text === 'string') return part.text;
      // Images and sounds have no text; other parts are rendered as JSON.
      return isObject(part) && typeof part.type === 'string' ? '' : canonical(part);
    })
    .filter((text) => text !== '')
    .join('\n');
}

/** The first of these members that there is, null included; else the default. */
function member(value: Json, names: readonly string[], otherwise: Json): Json {
  const name = isObject(value) ? names.find((one) => value[one] !== undefined) : undefined;
  return name === undefined ? otherwise : (value as JsonObject)[name]!;
}

/** The names of an id in the style of OpenAI, of Anthropic, and of a card. */
const CALL_ID = ['id', 'tool_call_id', 'tool_use_id'];
const ANSWERED_ID = ['tool_call_id', 'tool_use_id', 'id'];

const idOf = (value: Json, names: readonly string[]): string | undefined =>
  stringOrNull(member(value, names, null)) ?? undefined;

function callText(call: Json): string {
  const named = isObject(call) && isObject(call.function) ? call.function : call;
  const name = member(named, ['name', 'tool_name'], null);
  const given = member(named, ['arguments', 'input'], '');
  if (typeof name !== 'string') return canonical(call);
  return `${name}(${typeof given === 'string' ? given : canonical(given)})`;
}

const resultText = (result: Json): string => textOf(member(result, ['content', 'result', 'output', 'error'], result));

const turnText = ({ content, tool_calls, tool_results }: Turn): string =>
  [textOf(content), ...asList(tool_calls).map(callText), ...asList(tool_results).map(resultText)]
    .filter((text) => text !== '')
    .join('\n');

interface GroupedTurns {
  /** By turn_id, the turn that made the call. */
  readonly groups: ReadonlyMap<string, string>;
  /** Number of first turns whose calls all have their results. */
  readonly settled: number;
}

/** After so many further turns a result is no longer expected. */
const WAITING_TURNS = 64;

/** A call without a result. A call without an id takes the next result. */
interface OpenCall {
  readonly caller: number;
  readonly id: string | undefined;
}

/** The ids of the calls that a turn answers; undefined for a result without an id. */
function answersOf({ role, tool_results, metadata }: Turn): (string | undefined)[] {
  const results = asList(tool_results);
  if (results.length > 0) return results.map((result) => idOf(result, ANSWERED_ID));
  return role === 'Tool' ? [stringOrNull(metadata.tool_call_id) ?? undefined] : [];
}

/** Index of the call that a result answers: by id, else the first open call of the last calling turn. */
function answeredCall(open: readonly OpenCall[], id: string | undefined): number {
  const named = id === undefined ? -1 : open.findLastIndex((call) => call.id === id);
  if (named !== -1) return named;
  const last = open.at(-1)?.caller;
  return open.findIndex((call) => call.caller === last && (id === undefined || call.id === undefined));
}

export function groupTurns(turns: readonly Turn[]): GroupedTurns {
  const groups = new Map<string, string>();
  const callers = new Map<string, number>();
  const open: OpenCall[] = [];
  const join = (turn_id: string, group: string): void => {
    const before = groups.get(turn_id);
    // One turn may answer several calls, whose groups then merge.
    if (before !== undefined) for (const [id, one] of groups) if (one === before) groups.set(id, group);
    groups.set(turn_id, group);
  };
  turns.forEach((turn, at) => {
    for (const id of answersOf(turn)) {
      const answered = answeredCall(open, id);
      const caller = answered === -1 ? id && callers.get(id) : open.splice(answered, 1)[0]!.caller;
      if (typeof caller === 'number') join(turn.turn_id, groups.get(turns[caller]!.turn_id)!);
    }
    for (const call of asList(turn.tool_calls)) {
      const id = idOf(call, CALL_ID);
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

const isRecalled = ({ metadata: { recalled } }: Turn): boolean => recalled !== undefined && recalled !== false;

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
    recalled: isRecalled(turn),
    ...(turn.subject_ids.length === 0 ? {} : { about: canonical([...turn.subject_ids].sort()) }),
  }));
}

/** Texts recalled for a conversation: recalled turns, and the texts that their metadata lists. */
export const recalledIn = (turns: readonly Turn[]): string[] =>
  turns.filter(isRecalled).flatMap((turn) => {
    const { recalled } = turn.metadata;
    return [turnText(turn), ...(Array.isArray(recalled) ? recalled.filter((one) => typeof one === 'string') : [])];
  });
