/**
 * Escapes stored text so that it is read neither as the structure of the window nor as tokens of a chat template.
 * In Markdown, text that looks like structure is quoted in a fence that it cannot close.
 */
import type { Message, Transcript } from '../../facts/index.js';
import type { Json } from '../../kernel/contract.js';
import { isObject } from '../../kernel/index.js';
import { canonical } from '../../kernel/node.js';
import { FENCE } from '../../text/index.js';
import { looksLikeStructure } from './structure.js';

/** Control tokens by which the chat templates of the common model families separate messages and roles. */
const TEMPLATE = new RegExp(
  [
    '<(?=[|｜])',
    '<(?=<?/?(?:s|sys|bos|eos|pad|unk|mask|eot|(?:start|end)_of_(?:turn|image|text)|extra_id_\\d+)>)',
    '\\[(?=/?(?:inst|system_prompt|available_tools|tool_(?:calls|results|content)|model_settings|args|call_id|img)\\])',
  ].join('|'),
  'gi',
);

/** Breaks every control token with a backslash; the text reads the same. */
export const escapeTemplateTokens = (text: string): string =>
  text.includes('<') || text.includes('[') ? text.replace(TEMPLATE, '$&\\') : text;

/** A longer run of backticks is escaped with a backslash instead of getting a longer fence. */
const LONGEST_FENCE = 16;
const LONG_RUN = new RegExp(`\`{${LONGEST_FENCE},}`, 'g');

function fenced(text: string): string {
  const longest = longestRun(text);
  const isLong = longest >= LONGEST_FENCE;
  const fence = '`'.repeat(isLong ? LONGEST_FENCE : Math.max(3, longest + 1));
  const body = isLong ? text.replace(LONG_RUN, '\\$&') : text;
  return `${fence}\n${body}${body.endsWith('\n') ? '' : '\n'}${fence}`;
}

function longestRun(text: string): number {
  let longest = 0;
  for (let at = text.indexOf('`'); at !== -1; ) {
    let end = at + 1;
    while (text[end] === '`') end++;
    longest = Math.max(longest, end - at);
    at = text.indexOf('`', end);
  }
  return longest;
}

/** Stored text as Markdown shows it: unchanged, or quoted in a fence. */
export function contained(text: string): string {
  const shown = escapeTemplateTokens(text);
  return looksLikeStructure(shown) ? fenced(shown) : shown;
}

/** Whether `contained` quoted the text: a fence must begin on its own line. */
export const isQuoted = (shown: string): boolean => shown.startsWith('```');

/** Whether the last line of a text opens or closes a code block. */
export const endsWithFence = (text: string): boolean =>
  FENCE.test(text.slice(Math.max(text.lastIndexOf('\n'), text.lastIndexOf('\r')) + 1));

// biome-ignore lint/suspicious/noControlCharactersInRegex: they end lines
const LINE_ENDS = /[\n\r\u000b\u000c\u001c-\u001e\u0085\u2028\u2029]+/g;

/** A stored title or label as one line without HTML elements. */
export const inOneLine = (title: string): string =>
  escapeTemplateTokens(title.replace(LINE_ENDS, ' ')).replace(/<(?=[a-z/!?])/gi, '\\<');

/** Ids and names allow no backslash, so their brackets are replaced. */
const escapedName = (name: string): string => (escapeTemplateTokens(name) === name ? name : name.replace(/[<[]/g, '_'));

function escapedJson(value: Json): Json {
  if (typeof value === 'string') return escapeTemplateTokens(value);
  if (Array.isArray(value)) return value.map(escapedJson);
  if (!isObject(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([name, one]) => [escapeTemplateTokens(name), escapedJson(one)]));
}

const escapedMessage = (message: Message): Message => ({
  ...message,
  text: escapeTemplateTokens(message.text),
  calls: message.calls.map((call) => {
    const input = canonical(call.input);
    return {
      ...call,
      id: escapedName(call.id),
      name: escapedName(call.name),
      input: escapeTemplateTokens(input) === input ? call.input : (escapedJson(call.input) as typeof call.input),
      result: call.result && { ...call.result, text: escapeTemplateTokens(call.result.text) },
    };
  }),
});

/** The messages of a conversation without control tokens. */
export const escapedTranscript = ({ system, messages }: Transcript): Transcript => ({
  system,
  messages: messages.map(escapedMessage),
});
