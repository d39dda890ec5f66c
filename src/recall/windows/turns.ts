/** Turns as a window shows them: which of them belong together, since a tool call and its result are never separated. */
import { readCall, type Transcript, transcriptOf } from '../../facts/index.js';
import type { Json, JsonObject } from '../../kernel/contract.js';
import { isBlank, isObject } from '../../kernel/index.js';
import { saidText } from './content.js';
import { cutAt, shortened } from './cut.js';

/** What is read of a turn. */
export interface TurnCard {
  readonly card_id: string;
  readonly role: string;
  readonly content: Json;
  readonly tool_calls: readonly Json[] | null;
  readonly tool_results: readonly Json[] | null;
  /** That of a tool's turn that names its call in its metadata. */
  readonly tool_call_id: string | null;
  readonly created_at: number;
}

interface Result {
  /** Null where the turn does not say which call it answers. */
  readonly id: string | null;
  readonly content: Json;
}

/** A turn taken apart: what is said, what is called, what is answered. */
interface Parts {
  readonly turn: TurnCard;
  readonly says: Json;
  readonly call_ids: readonly string[];
  readonly results: readonly Result[];
}

function partsOf(turn: TurnCard): Parts {
  const listed = (turn.tool_results ?? []).map(readResult);
  const calls = turn.role === 'assistant' ? (turn.tool_calls ?? []) : [];
  const call_ids = calls.flatMap((call, i) => readCall(call, null, `${turn.card_id}/${i}`)?.id ?? []);
  if (turn.role !== 'tool') return { turn, says: turn.content, call_ids, results: listed };
  if (listed.length === 0) {
    return { turn, says: null, call_ids, results: [{ id: turn.tool_call_id, content: turn.content }] };
  }
  // What a tool's turn says besides its results is mostly one of them once more; else it goes before the first.
  const said = saidText(turn.content);
  const isAgain = isBlank(said) || listed.some(({ content }) => saidText(content) === said);
  const [first, ...rest] = listed as [Result, ...Result[]];
  const told = { ...first, content: `${said}\n${saidText(first.content)}` };
  return { turn, says: null, call_ids, results: isAgain ? listed : [told, ...rest] };
}

const ID_MEMBERS = ['tool_call_id', 'tool_use_id', 'call_id', 'id'] as const;
const CONTENT_MEMBERS = ['content', 'result', 'output', 'error'] as const;

/** A result in any of the shapes that results are written in. */
function readResult(value: Json): Result {
  if (!isObject(value)) return { id: null, content: value };
  const id = ID_MEMBERS.map((name) => value[name]).find((one) => typeof one === 'string');
  const member = contentMember(value);
  return { id: (id as string | undefined) ?? null, content: member === undefined ? value : value[member]! };
}

const contentMember = (value: JsonObject): (typeof CONTENT_MEMBERS)[number] | undefined =>
  CONTENT_MEMBERS.find((name) => value[name] !== undefined && value[name] !== null);

/** Results with the calls that they answer: each is the turn that called, or null where none that is known did. */
interface Answered {
  readonly parts: Parts;
  readonly results: readonly (Result & { readonly caller: number | null })[];
}

/** A result without an id answers the first call that waits, of the last turn that has one waiting. */
function answeredIn(turns: readonly TurnCard[]): Answered[] {
  const waiting: { readonly caller: number; readonly id: string }[] = [];
  const early: { readonly id: string; readonly settle: (caller: number) => void }[] = [];
  const known = new Set<string>();
  const answered = turns.map((turn, i): Answered => {
    const parts = partsOf(turn);
    for (const id of parts.call_ids) {
      waiting.push({ caller: i, id });
      known.add(id);
    }
    const results = parts.results.map((result) => {
      const at = placeOf(waiting, result.id);
      if (at !== -1) {
        const [call] = waiting.splice(at, 1);
        return { ...result, id: call!.id, caller: call!.caller };
      }
      const stray: Result & { caller: number | null } = { ...result, caller: null };
      const { id } = result;
      if (id !== null && !known.has(id)) early.push({ id, settle: (caller) => (stray.caller = caller) });
      return stray;
    });
    return { parts, results };
  });
  // A result may stand before its call, when scopes were put together.
  for (const { id, settle } of early) {
    const at = waiting.findIndex((call) => call.id === id);
    if (at !== -1) settle(waiting.splice(at, 1)[0]!.caller);
  }
  return answered;
}

function placeOf(waiting: readonly { readonly caller: number; readonly id: string }[], id: string | null): number {
  if (id !== null) return waiting.findLastIndex((call) => call.id === id);
  const last = waiting.at(-1)?.caller;
  return waiting.findIndex(({ caller }) => caller === last);
}

/** Turns that are shown together or not at all, by their places in the list, the second excluded. */
export interface Unit {
  readonly from: number;
  readonly until: number;
  /** Whether it has a result whose call is not in the list: that may be in turns before it. */
  readonly orphaned: boolean;
}

/** It only says something: neither calls nor answers. */
export const isPlain = ({ role, tool_calls, tool_results }: TurnCard): boolean =>
  role !== 'tool' && tool_calls === null && tool_results === null;

/** A turn of whose text so many characters are shown; of the texts of one with results, each for itself, at most so many. */
export function shortenedTurn(turn: TurnCard, kept: number): TurnCard {
  const cut = (content: Json): Json => {
    const text = saidText(content);
    if (text.length <= kept) return content;
    return shortened(text, turn.tool_results === null ? kept : cutAt(text, kept));
  };
  const results = turn.tool_results?.map((value): Json => {
    if (!isObject(value)) return cut(value);
    const member = contentMember(value);
    if (member !== undefined) return { ...value, [member]: cut(value[member]!) };
    const text = cut(value);
    // What it answers is told apart from what is shown of it.
    const ids = Object.entries(value).filter(([name]) => ID_MEMBERS.some((one) => one === name));
    return text === value ? value : { ...Object.fromEntries(ids), content: text };
  });
  return { ...turn, content: cut(turn.content), tool_results: results ?? null };
}

/** What a turn says, and what its results do. */
export const textsOf = ({ content, tool_results }: TurnCard): string[] =>
  [content, ...(tool_results ?? []).map((one) => readResult(one).content)].map(saidText);

/** How long the longest text of a turn is. */
export const longestText = (turn: TurnCard): number => Math.max(...textsOf(turn).map(({ length }) => length));

/** The units of turns that follow each other, in order. */
export function unitsOf(turns: readonly TurnCard[]): Unit[] {
  // Most conversations have no tools.
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
    for (let i = from; i < until; i++) until = Math.max(until, reaches[i]! + 1);
    let orphaned = false;
    for (let i = from; i < until; i++) orphaned ||= orphans.has(i);
    units.push({ from, until, orphaned });
    from = until;
  }
  return units;
}

/** Turns as a conversation. What a system's turn says goes into the system prompt, as everywhere. */
export function conversationOf(turns: readonly TurnCard[]): Transcript {
  return transcriptOf(
    answeredIn(turns).flatMap(({ parts, results }) => {
      const { turn, says } = parts;
      const card = { card_id: turn.card_id, tool_calls: null, tool_call_id: null };
      const said = {
        ...card,
        content: saidText(says),
        tool_calls: turn.tool_calls as never,
        metadata: { type: 'turn', role: turn.role },
      };
      const answers = results.map(({ id, content }) => ({
        ...card,
        content: saidText(content),
        tool_call_id: id,
        metadata: { role: 'tool' },
      }));
      if (turn.role === 'tool') return answers;
      return turn.role === 'assistant' ? [said, ...answers] : [...answers, said];
    }),
  );
}
