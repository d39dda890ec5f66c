/**
 * Whether a text has a line that could be read as structure of a window: a heading, a label, a fence, an element of HTML.
 * It finds more than that, since quoting a harmless text costs nothing. One pass by hand: expressions for this take hundreds
 * of milliseconds on a megabyte of stars or line ends.
 */

const ROLES =
  'system|developer|user|human|assistant|ai|model|bot|agent|tool|function|instructions?|calls|result of|contradicts';
/** Who speaks, what is called, what contradicts: the labels of the window, and those of other prompts. */
const LABEL = new RegExp(`^[*_[(\`"]*(?:${ROLES})\\b[^:：\\n]{0,24}[:：>|\\]]`, 'i');
const LABEL_LENGTH = 60;

const HTML = /<[a-z/!?]/i;
/** Ends a line for some readers and not for others. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: these are such characters
const ODD_LINE_END = /[\u000b\u000c\u001c-\u001e\u0085]/;

const isLineEnd = (code: number): boolean => code === 0x0a || code === 0x0d || code === 0x2028 || code === 0x2029;

/** White space within a line, and characters that are not seen. */
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

/** Marks of quotes and list items: `>`, `-`, `+`, bullets, and `*`, which is also that of bold. */
const isMark = (code: number): boolean =>
  code === 0x3e ||
  code === 0x2d ||
  code === 0x2b ||
  code === 0x2a ||
  code === 0x2022 ||
  code === 0x2023 ||
  code === 0x2013;

/** Behind a number of a list item, or where the number began if it is none. */
function behindNumber(text: string, from: number): number {
  let at = from;
  while (at - from < 9 && isDigit(text.charCodeAt(at))) at++;
  const code = text.charCodeAt(at);
  return at > from && (code === 0x2e || code === 0x29) ? at + 1 : from;
}

/** What stands before the first word of a line: white space, and marks that leave a heading a heading. */
function behindLead(text: string, from: number): number {
  for (let at = from; ; ) {
    const code = text.charCodeAt(at);
    if (isBlank(code) || isMark(code)) at++;
    else {
      const next = isDigit(code) ? behindNumber(text, at) : at;
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

/** A line in bold is a heading to most readers. */
const BOLD_END = /(?:\*\*|__)[:：]?\s*$/;

function isStructural(text: string, start: number, end: number): boolean {
  const at = behindLead(text, start);
  // Nothing but marks: dashes make a heading of the line above.
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
