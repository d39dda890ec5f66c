/** Turns as a window shows them. A tool call and its results form one unit, which is never split. */
import { readCall, type Transcript, transcriptOf } from '../../facts/index.js';
import type { Json, JsonObject } from '../../kernel/contract.js';
import { isBlank, isObject } from '../../kernel/index.js';
import { contentText } from './content.js';
import { cutAt, shortened } from './cut.js';

export interface TurnCard {
  readonly card_id: string;
  readonly role: string;
  readonly content: Json;
  readonly tool_calls: readonly Json[] | null;
  readonly tool_results: readonly Json[] | null;
  /** From the metadata of a turn with role `tool`. */
  readonly tool_call_id: string | null;
}

interface Result {
  /** Null if the turn does not name the call that it answers. */
  readonly id: string | null;
  readonly content: Json;
}

/** A turn split into its message, calls and results. */
interface Parts {
  readonly turn: TurnCard;
  readonly message: Json;
  readonly call_ids: readonly string[];
  readonly results: readonly Result[];
}

function partsOf(turn: TurnCard): Parts {
  const listed = (turn.tool_results ?? []).map(readResult);
  const calls = turn.role === 'assistant' ? (turn.tool_calls ?? []) : [];
  const call_ids = calls.flatMap((call, i) => readCall(call, null, `${turn.card_id}/${i}`)?.id ?? []);
  if (turn.role !== 'tool') return { turn, message: turn.content, call_ids, results: listed };
  if (listed.length === 0) {
    return { turn, message: null, call_ids, results: [{ id: turn.tool_call_id, content: turn.content }] };
  }
  // The content of a tool's turn mostly repeats one of its results; otherwise it is prepended to the first.
  const text = contentText(turn.content);
  const isRepeated = isBlank(text) || listed.some(({ content }) => contentText(content) === text);
  const [first, ...rest] = listed as [Result, ...Result[]];
  const prefixed = { ...first, content: `${text}\n${contentText(first.content)}` };
  return { turn, message: null, call_ids, results: isRepeated ? listed : [prefixed, ...rest] };
}

const ID_MEMBERS = ['tool_call_id', 'tool_use_id', 'call_id', 'id'] as const;
const CONTENT_MEMBERS = ['content', 'result', 'output', 'error'] as const;

/** Reads a result in any of the common shapes. */
function readResult(value: Json): Result {
  if (!isObject(value)) return { id: null, content: value };
  const id = ID_MEMBERS.map((name) => value[name]).find((one) => typeof one === 'string');
  const member = contentMember(value);
  return { id: (id as string | undefined) ?? null, content: member === undefined ? value : value[member]! };
}

const contentMember = (value: JsonObject): (typeof CONTENT_MEMBERS)[number] | undefined =>
  CONTENT_MEMBERS.find((name) => value[name] !== undefined && value[name] !== null);

/** A turn whose results name the index of the calling turn, or null if no known turn made the call. */
interface Answered extends Omit<Parts, 'results'> {
  readonly results: readonly (Result & { readonly caller: number | null })[];
}

interface WaitingCall {
  readonly caller: number;
  readonly id: string;
}

/** A result without an id answers the first unanswered call of the last turn that has one. */
function answeredIn(turns: readonly TurnCard[]): Answered[] {
  const waiting: WaitingCall[] = [];
  const early: { readonly id: string; readonly settle: (caller: number) => void }[] = [];
  const known = new Set<string>();
  const answered = turns.map((turn, i): Answered => {
    const parts = partsOf(turn);
    for (const id of parts.call_ids) {
      waiting.push({ caller: i, id });
      known.add(id);
    }
    const results = parts.results.map((result) => {
      const at = indexOfCall(waiting, result.id);
      if (at !== -1) {
        const [call] = waiting.splice(at, 1);
        return { ...result, id: call!.id, caller: call!.caller };
      }
      const stray: Result & { caller: number | null } = { ...result, caller: null };
      const { id } = result;
      if (id !== null && !known.has(id)) early.push({ id, settle: (caller) => (stray.caller = caller) });
      return stray;
    });
    return { ...parts, results };
  });
  // Where scopes are joined, a result may come before its call.
  for (const { id, settle } of early) {
    const at = waiting.findIndex((call) => call.id === id);
    if (at !== -1) settle(waiting.splice(at, 1)[0]!.caller);
  }
  return answered;
}

function indexOfCall(waiting: readonly WaitingCall[], id: string | null): number {
  if (id !== null) return waiting.findLastIndex((call) => call.id === id);
  const last = waiting.at(-1)?.caller;
  return waiting.findIndex(({ caller }) => caller === last);
}

/** Turns that are shown together or not at all: the indexes `from` up to `until`, excluded. */
export interface Unit {
  readonly from: number;
  readonly until: number;
  /** Has a result whose call is not in the list: it may be in earlier turns. */
  readonly orphaned: boolean;
}

/** A message without calls or results. */
export const isPlain = ({ role, tool_calls, tool_results }: TurnCard): boolean =>
  role !== 'tool' && tool_calls === null && tool_results === null;

/** Keeps so many characters of a turn's text; in a turn with results, at most so many of each text. */
export function shortenedTurn(turn: TurnCard, kept: number): TurnCard {
  const cut = (content: Json): Json => {
    const text = contentText(content);
    if (text.length <= kept) return content;
    return shortened(text, turn.tool_results === null ? kept : cutAt(text, kept));
  };
  const results = turn.tool_results?.map((value): Json => {
    if (!isObject(value)) return cut(value);
    const member = contentMember(value);
    if (member !== undefined) return { ...value, [member]: cut(value[member]!) };
    const text = cut(value);
    // A result that is shown as text keeps the ids that name its call.
    const ids = Object.entries(value).filter(([name]) => ID_MEMBERS.some((one) => one === name));
    return text === value ? value : { ...Object.fromEntries(ids), content: text };
  });
  return { ...turn, content: cut(turn.content), tool_results: results ?? null };
}

/** The texts of a turn: its content and its results. */
export const textsOf = ({ content, tool_results }: TurnCard): string[] =>
  [content, ...(tool_results ?? []).map((one) => readResult(one).content)].map(contentText);

export const longestText = (turn: TurnCard): number => Math.max(...textsOf(turn).map(({ length }) => length));

export function unitsOf(turns: readonly TurnCard[]): Unit[] {
  // Fast path: most conversations have no tools.
  if (turns.every(isPlain)) return turns.map((_, i) => ({ from: i, until: i + 1, orphaned: false }));
  const reaches = turns.map((_, i) => i);
  const orphans = new Set<number>();
  answeredIn(turns).forEach(({ results }, i) => {
    for (const { caller, id } of results) {
      if (caller === null) {
        if (id !== null) orphans.add(i);
        continue;
      }
      const first = Math.min(caller, i);
      reaches[first] = Math.max(reaches[first]!, caller, i);
    }
  });
  const units: Unit[] = [];
  for (let from = 0; from < turns.length; ) {
    let until = from + 1;
    let orphaned = false;
    for (let i = from; i < until; i++) {
      until = Math.max(until, reaches[i]! + 1);
      orphaned ||= orphans.has(i);
    }
    units.push({ from, until, orphaned });
    from = until;
  }
  return units;
}

/** Turns as a transcript; turns with role `system` go into its system prompt. */
export function conversationOf(turns: readonly TurnCard[]): Transcript {
  return transcriptOf(
    answeredIn(turns).flatMap(({ turn, message, results }) => {
      const card = { card_id: turn.card_id, tool_calls: null, tool_call_id: null };
      const said = {
        ...card,
        content: contentText(message),
        tool_calls: turn.tool_calls as never,
        metadata: { type: 'turn', role: turn.role },
      };
      const answers = results.map(({ id, content }) => ({
        ...card,
        content: contentText(content),
        tool_call_id: id,
        metadata: { role: 'tool' },
      }));
      if (turn.role === 'tool') return answers;
      return turn.role === 'assistant' ? [said, ...answers] : [...answers, said];
    }),
  );
}
