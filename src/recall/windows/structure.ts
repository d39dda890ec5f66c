/**
 * Detects lines that could be read as structure of a window: a heading, a label, a fence, an HTML element. False
 * positives are harmless, since quoting costs nothing. A hand-written single pass: regular expressions for this take
 * hundreds of milliseconds on a megabyte of asterisks or line ends.
 */

const ROLES =
  'system|developer|user|human|assistant|ai|model|bot|agent|tool|function|instructions?|calls|result of|contradicts';
/** The labels of the window (roles, calls, contradictions) and those of other prompts. */
const LABEL = new RegExp(`^[*_[(\`"]*(?:${ROLES})\\b[^:：\\n]{0,24}[:：>|\\]]`, 'i');
const LABEL_LENGTH = 60;

const HTML = /<[a-z/!?]/i;
// biome-ignore lint/suspicious/noControlCharactersInRegex: some readers end a line at these
const ODD_LINE_END = /[\u000b\u000c\u001c-\u001e\u0085]/;

const isLineEnd = (code: number): boolean => code === 0x0a || code === 0x0d || code === 0x2028 || code === 0x2029;

/** White space within a line, and invisible characters. */
const isBlank = (code: number): boolean =>
  code === 0x20 ||
  code === 0x09 ||
  (code > 0x7f &&
    (code === 0xa0 ||
      code === 0xad ||
      code === 0x1680 ||
      (code >= 0x2000 && code <= 0x200f) ||
      (code >= 0x202a && code <= 0x202f) ||
      (code >= 0x205f && code <= 0x2064) ||
      code === 0x3000 ||
      code === 0xfeff));

const isDigit = (code: number): boolean => code >= 0x30 && code <= 0x39;

/** Marks of quotes and list items: `>`, `-`, `+`, bullets, and `*`, which also marks bold text. */
const isMark = (code: number): boolean =>
  code === 0x3e ||
  code === 0x2d ||
  code === 0x2b ||
  code === 0x2a ||
  code === 0x2022 ||
  code === 0x2023 ||
  code === 0x2013;

/** The index after the number of a list item, or `from` if there is none. */
function afterNumber(text: string, from: number): number {
  let at = from;
  while (at - from < 9 && isDigit(text.charCodeAt(at))) at++;
  const code = text.charCodeAt(at);
  return at > from && (code === 0x2e || code === 0x29) ? at + 1 : from;
}

/** The index of the first word of a line, after white space and the marks that may precede a heading. */
function afterLead(text: string, from: number): number {
  for (let at = from; ; ) {
    const code = text.charCodeAt(at);
    if (isBlank(code) || isMark(code)) at++;
    else {
      const next = isDigit(code) ? afterNumber(text, at) : at;
      if (next === at) return at;
      at = next;
    }
  }
}

const isRun = (text: string, at: number, end: number, mark: string): boolean => {
  let next = at;
  while (next < end && text[next] === mark) next++;
  while (next < end && isBlank(text.charCodeAt(next))) next++;
  return next === end;
};

/** Most readers take a bold line for a heading. */
const BOLD_END = /(?:\*\*|__)[:：]?\s*$/;

function isStructural(text: string, start: number, end: number): boolean {
  const at = afterLead(text, start);
  // A line of dashes turns the line above into a heading.
  if (at >= end) return text.slice(start, end).includes('-');
  const first = text[at]!;
  if (first === '#' || first === '＃') return true;
  if (first === '=') return isRun(text, at, end, '=');
  if (text.startsWith('```', at) || text.startsWith('~~~', at)) return true;
  const head = text.slice(at, Math.min(end, at + LABEL_LENGTH));
  if (LABEL.test(head)) return true;
  const isBold = (first === '_' && text[at + 1] === '_') || text.slice(start, at).includes('**');
  return isBold && BOLD_END.test(text.slice(Math.max(at, end - 10), end));
}

export function looksLikeStructure(text: string): boolean {
  if (HTML.test(text) || ODD_LINE_END.test(text)) return true;
  for (let start = 0; start < text.length; ) {
    let end = start;
    while (end < text.length && !isLineEnd(text.charCodeAt(end))) end++;
    if (end > start && isStructural(text, start, end)) return true;
    start = end + 1;
  }
  return false;
}
