/** Stored text within Markdown: it can neither look like the headings and labels of the window nor leave a block of code open. */

import { FENCE } from './text-blocks.js';

/** What the window itself begins a line with: headings of its levels, and who says something. */
const STRUCTURE = /^(\s{0,3})(#{2,3}(?=\s|$)|\*\*(?=(?:user|assistant|system):|(?:calls|result of) ))/i;

/** Where there is neither, which is so in most texts, no line has to be looked at. */
const NEEDS_A_LOOK = /##|```|~~~|\*\*/;

const LINE_END = /(\r\n|[\n\r\u2028\u2029])/;

/** Whether a text begins, or ends, with a line that opens or closes a block of code. */
export const beginsWithFence = (text: string): boolean => FENCE.test(/^.*/.exec(text)![0]);
export const endsWithFence = (text: string): boolean =>
  FENCE.test(text.slice(Math.max(text.lastIndexOf('\n'), text.lastIndexOf('\r')) + 1));

/** In code all stays as it is; elsewhere a backslash goes before what would be taken for structure. */
export function contained(text: string): string {
  if (!NEEDS_A_LOOK.test(text)) return text;
  let open: string | null = null;
  const lines = text.split(LINE_END).map((line) => {
    const [, marks, behind] = FENCE.exec(line) ?? [];
    if (open !== null) {
      if (marks?.startsWith(open) && behind!.trim() === '') open = null;
      return line;
    }
    if (marks !== undefined) open = marks;
    return marks === undefined ? line.replace(STRUCTURE, '$1\\$2') : line;
  });
  const whole = lines.join('');
  if (open === null) return whole;
  return `${whole}${/[\n\r]$/.test(whole) ? '' : '\n'}${open}`;
}

/** A title is one line, whatever somebody wrote. */
export const inOneLine = (title: string): string => title.replace(/[\n\r\u2028\u2029]+/g, ' ');
