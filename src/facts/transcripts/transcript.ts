/** Turns cards into a conversation: messages, and each tool call with its result. */
import type { Json } from '../../kernel/contract.js';
import { asList, isBlank, isObject } from '../../kernel/index.js';
import { canonical } from '../../kernel/node.js';
import type { Card } from '../cards/model.js';
import { type CallRequest, readCall } from './tool-calls.js';

interface ToolAnswer {
  readonly text: string;
  readonly failed: boolean;
}

interface ShownCall extends CallRequest {
  /** Null while there is none. */
  result: ToolAnswer | null;
}

export interface Message {
  readonly role: 'user' | 'assistant';
  readonly text: string;
  /** Only the assistant has calls. */
  readonly calls: ShownCall[];
}

export interface Transcript {
  /** The texts of system cards, in order. */
  readonly system: readonly string[];
  readonly messages: readonly Message[];
}

export type HydratedCard = Pick<Card, 'card_id' | 'content' | 'tool_calls' | 'tool_call_id' | 'metadata'>;

/** A result without an earlier call that waits for it; a later call may still claim it. */
interface Stray {
  readonly id: string | null;
  readonly answer: ToolAnswer;
  claimed: boolean;
}

class Draft {
  readonly system: string[] = [];
  readonly entries: (Message | Stray)[] = [];
  /** The assistant message that further calls join, until another message follows. */
  open: Message | null = null;
  /** Calls without a result, by id (an id stays once it was called) and by exactKey. */
  readonly waiting = new Map<string, ShownCall[]>();
  readonly waitingExactly = new Set<string>();
  /** The first result of each id that was not called yet. */
  readonly early = new Map<string, Stray>();
}

/** Types that are no messages: records, and content that goes into the tools or the system prompt elsewhere. */
const NOT_MESSAGES = new Set<Json | undefined>([
  'meta.parent_pointer',
  'sys.profile',
  'sys.rendered_prompt',
  'sys.tools',
  'task.result_fields',
]);

export function transcriptOf(cards: readonly HydratedCard[]): Transcript {
  const draft = new Draft();
  for (const card of cards) if (!NOT_MESSAGES.has(card.metadata.type)) addCard(draft, card);
  claimStrays(draft);
  const messages = draft.entries
    .filter((entry) => !('answer' in entry && entry.claimed))
    .map((entry) => ('answer' in entry ? toMessage(entry) : entry))
    .filter(({ text, calls }) => calls.length > 0 || !isBlank(text));
  return { system: draft.system, messages };
}

export const callsIn = (messages: readonly Message[]): ShownCall[] => messages.flatMap(({ calls }) => calls);

/** Calls and results go by type, whatever their role: model APIs take them only from the assistant and the tool. */
function addCard(draft: Draft, card: HydratedCard): void {
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

function addAssistant(draft: Draft, { card_id, content, tool_calls }: HydratedCard): void {
  const listed = asList(tool_calls);
  const calls = listed.map((call, i) => readCall(call, null, `${card_id}/${i}`));
  // An unreadable call is still text of the assistant.
  const rest = listed.filter((_, i) => !calls[i]).map(canonical);
  say(draft, 'assistant', [textOf(content), ...rest].filter((text) => !isBlank(text)).join('\n'));
  for (const call of calls) if (call) addCall(draft, call);
}

function addCalls(draft: Draft, { card_id, content, tool_call_id }: HydratedCard): void {
  const call = readCall(content, tool_call_id, card_id);
  if (call) addCall(draft, call);
  else say(draft, 'assistant', textOf(content));
}

function addCall(draft: Draft, request: CallRequest): void {
  const { id } = request;
  const exactly = exactKey(request);
  // A worker may write a call twice: with the assistant's message, and as its own card when it runs.
  if (draft.waitingExactly.has(exactly)) return;
  const call: ShownCall = { ...request, result: null };
  const waiting = draft.waiting.get(id);
  if (waiting) waiting.push(call);
  else draft.waiting.set(id, [call]);
  draft.waitingExactly.add(exactly);
  (draft.open ?? say(draft, 'assistant', '')).calls.push(call);
}

const exactKey = ({ id, name, input }: CallRequest): string => canonical([id, name, input]);

/** Where boxes were concatenated, a result may precede its call. */
function claimStrays({ early, waiting }: Draft): void {
  for (const [id, stray] of early) {
    const call = waiting.get(id)?.shift();
    if (!call) continue;
    call.result = stray.answer;
    stray.claimed = true;
  }
}

/** Answers the last waiting call of its id: models may restart their call ids each time. */
function addResult(draft: Draft, { content, tool_call_id: id, metadata }: HydratedCard): void {
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
  // A result that follows a call of its id is a second one, and answers no later call.
  if (id !== null && !draft.waiting.has(id) && !draft.early.has(id)) draft.early.set(id, stray);
}

const hasFailed = (content: Json): boolean => isObject(content) && content.status !== 'success';

const toMessage = ({ id, answer }: Stray): Message => ({
  role: 'user',
  text: `${id === null ? 'Result of a tool call without an id' : `Result of the tool call ${id}`}:\n${answerText(answer)}`,
  calls: [],
});

/** A text as it is, '' for null, otherwise canonical JSON. */
export function textOf(content: Json): string {
  if (content === null) return '';
  return typeof content === 'string' ? content : canonical(content);
}

const PENDING = canonical({ status: 'pending', message: 'There is no result yet.' });

/** The shown result of a call: never empty, since every call needs one. */
export function answerText(result: ToolAnswer | null): string {
  if (!result) return PENDING;
  return isBlank(result.text) ? '(empty)' : result.text;
}
