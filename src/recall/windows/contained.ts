/**
 * Stored text within Markdown: it can look neither like the structure of the window nor like that of a chat template.
 * A text that has nothing of the kind stands as it is; any other is quoted in a fence that it cannot close.
 */
import { FENCE } from '../../text/index.js';
import { looksLikeStructure } from './structure.js';

/** The tokens by which chat templates tell messages and roles apart, in the spelling of the common model families. */
const TEMPLATE = new RegExp(
  [
    '<(?=[|｜])',
    '<(?=<?/?(?:s|sys|bos|eos|pad|unk|mask|eot|(?:start|end)_of_(?:turn|image|text)|extra_id_\\d+)>)',
    '\\[(?=/?(?:inst|system_prompt|available_tools|tool_(?:calls|results|content)|model_settings|args|call_id|img)\\])',
  ].join('|'),
  'gi',
);

/** A backslash within each such token: it reads the same, and is none. */
export const defused = (text: string): string =>
  text.includes('<') || text.includes('[') ? text.replace(TEMPLATE, '$&\\') : text;

/** A longer run of backticks gets a backslash before it, rather than the fence its length. */
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

/** A text as the window shows it: as it is, or quoted. */
export function contained(text: string): string {
  const shown = defused(text);
  return looksLikeStructure(shown) ? fenced(shown) : shown;
}

/** Whether what `contained` gave is quoted: then it begins in a line of its own. */
export const isQuoted = (shown: string): boolean => shown.startsWith('```');

/** Whether a text ends with a line that opens or closes a block of code. */
export const endsWithFence = (text: string): boolean =>
  FENCE.test(text.slice(Math.max(text.lastIndexOf('\n'), text.lastIndexOf('\r')) + 1));

// biome-ignore lint/suspicious/noControlCharactersInRegex: they end lines
const LINE_ENDS = /[\n\r\u000b\u000c\u001c-\u001e\u0085\u2028\u2029]+/g;

/** A title or label: one line, whatever somebody wrote, with no element of HTML. */
export const inOneLine = (title: string): string =>
  defused(title.replace(LINE_ENDS, ' ')).replace(/<(?=[a-z/!?])/gi, '\\<');
