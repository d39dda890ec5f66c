/** Cards as a conversation: who said what, and each tool call together with its result. */
import type { Json } from '../../kernel/contract.js';
import { asList, isBlank, isObject } from '../../kernel/index.js';
import { canonical } from '../../kernel/node.js';
import type { Card } from '../cards/model.js';
import { type CallRequest, readCall } from './tool-calls.js';

export interface ToolAnswer {
  readonly text: string;
  readonly failed: boolean;
}

export interface ShownCall extends CallRequest {
  /** Null as long as there is none. */
  result: ToolAnswer | null;
}

export interface Message {
  readonly role: 'user' | 'assistant';
  readonly text: string;
  /** Of an assistant alone. */
  readonly calls: ShownCall[];
}

export interface Transcript {
  /** What system cards say, in their order. */
  readonly system: readonly string[];
  readonly messages: readonly Message[];
}

type SeenCard = Pick<Card, 'card_id' | 'content' | 'tool_calls' | 'tool_call_id' | 'metadata'>;

/** A result that no call before it waits for; a later call may still claim it. */
interface Stray {
  readonly id: string | null;
  readonly answer: ToolAnswer;
  claimed: boolean;
}

interface Draft {
  readonly system: string[];
  readonly entries: (Message | Stray)[];
  /** The assistant's message that calls join, until something else is said. */
  open: Message | null;
  /** Calls without a result by id (an id that was called stays), and by all that they are. */
  readonly waiting: Map<string, ShownCall[]>;
  readonly waitingExactly: Set<string>;
  /** The first results of ids that were not called yet. */
  readonly early: Map<string, Stray>;
}

/** Records, and what goes elsewhere: into the tools, or into the system prompt by other ways. */
const notSaid = new Set<Json | undefined>([
  'meta.parent_pointer',
  'sys.profile',
  'sys.rendered_prompt',
  'sys.tools',
  'task.result_fields',
]);

export function transcriptOf(cards: readonly SeenCard[]): Transcript {
  const draft: Draft = {
    system: [],
    entries: [],
    open: null,
    waiting: new Map(),
    waitingExactly: new Set(),
    early: new Map(),
  };
  for (const card of cards) if (!notSaid.has(card.metadata.type)) addCard(draft, card);
  claimStrays(draft);
  const messages = draft.entries
    .filter((entry) => !('answer' in entry && entry.claimed))
    .map((entry) => ('answer' in entry ? toMessage(entry) : entry))
    .filter(({ text, calls }) => calls.length > 0 || !isBlank(text));
  return { system: draft.system, messages };
}

export const callsIn = (messages: readonly Message[]): ShownCall[] => messages.flatMap(({ calls }) => calls);

/** A call and a result are what they are by type: in a model's API nobody but the assistant and the tool can send them. */
function addCard(draft: Draft, card: SeenCard): void {
  const { type, role } = card.metadata;
  if (type === 'tool.call') addCalls(draft, card);
  else if (type === 'tool.result' || role === 'tool') addResult(draft, card);
  else if (role === 'system') draft.system.push(textOf(card.content));
  else if (role === 'assistant' || (type === 'agent.thought' && !role)) addAssistant(draft, card);
  else say(draft, 'user', textOf(card.content));
}

function say(draft: Draft, role: Message['role'], text: string): Message {
  const message: Message = { role, text, calls: [] };
  draft.entries.push(message);
  draft.open = role === 'assistant' ? message : null;
  return message;
}

function addAssistant(draft: Draft, { card_id, content, tool_calls }: SeenCard): void {
  const listed = asList(tool_calls);
  const calls = listed.map((call, i) => readCall(call, null, `${card_id}/${i}`));
  // What cannot be read as a call is still something the assistant wrote.
  const rest = listed.filter((_, i) => !calls[i]).map(canonical);
  say(draft, 'assistant', [textOf(content), ...rest].filter((text) => !isBlank(text)).join('\n'));
  for (const call of calls) if (call) addCall(draft, call);
}

function addCalls(draft: Draft, { card_id, content, tool_call_id }: SeenCard): void {
  const call = readCall(content, tool_call_id, card_id);
  if (call) addCall(draft, call);
  else say(draft, 'assistant', textOf(content));
}

function addCall(draft: Draft, request: CallRequest): void {
  const { id } = request;
  const exactly = exactKey(request);
  // A worker may write a call twice: with what the assistant said, and as a card of its own when it runs.
  if (draft.waitingExactly.has(exactly)) return;
  const call: ShownCall = { ...request, result: null };
  const waiting = draft.waiting.get(id);
  if (waiting) waiting.push(call);
  else draft.waiting.set(id, [call]);
  draft.waitingExactly.add(exactly);
  (draft.open ?? say(draft, 'assistant', '')).calls.push(call);
}

const exactKey = ({ id, name, input }: CallRequest): string => canonical([id, name, input]);

/** A result may have come before its call, when boxes were put together. */
function claimStrays({ early, waiting }: Draft): void {
  for (const [id, stray] of early) {
    const call = waiting.get(id)?.shift();
    if (!call) continue;
    call.result = stray.answer;
    stray.claimed = true;
  }
}

/** Answers the last call of its id that waits: models may number their calls anew each time. */
function addResult(draft: Draft, { content, tool_call_id: id, metadata }: SeenCard): void {
  draft.open = null;
  const answer = { text: textOf(content), failed: metadata.type === 'tool.result' && hasFailed(content) };
  const call = id === null ? undefined : draft.waiting.get(id)?.pop();
  if (call) {
    call.result = answer;
    draft.waitingExactly.delete(exactKey(call));
    return;
  }
  const stray: Stray = { id, answer, claimed: false };
  draft.entries.push(stray);
  // One that follows a call of its id is a second result, and no later call's.
  if (id !== null && !draft.waiting.has(id) && !draft.early.has(id)) draft.early.set(id, stray);
}

const hasFailed = (content: Json): boolean => isObject(content) && content.status !== 'success';

const toMessage = ({ id, answer }: Stray): Message => ({
  role: 'user',
  text: `${id === null ? 'Result of a tool call without an id' : `Result of the tool call ${id}`}:\n${answerText(answer)}`,
  calls: [],
});

/** Text as it is, nothing for no content, else canonical JSON. */
export function textOf(content: Json): string {
  if (content === null) return '';
  return typeof content === 'string' ? content : canonical(content);
}

const PENDING = canonical({ status: 'pending', message: 'There is no result yet.' });

/** What is shown as the result of a call: never empty, since every call needs one. */
export function answerText(result: ToolAnswer | null): string {
  if (!result) return PENDING;
  return isBlank(result.text) ? '(empty)' : result.text;
}
