/** Texts in quotes: escapes, and texts over several lines whose common indentation is removed. */

const NAMED: Readonly<Record<string, string>> = {
  '"': '"',
  '\\': '\\',
  '/': '/',
  n: '\n',
  r: '\r',
  t: '\t',
  b: '\b',
  f: '\f',
};

/** All escapes, as written. */
export const ESCAPES: readonly string[] = [...Object.keys(NAMED).map((letter) => `\\${letter}`), '\\uXXXX'];

const ESCAPE = /\\(?:u([\da-fA-F]{4})|([\s\S]))/g;

/** Offset and spelling of the first escapes that do not exist. */
export function unknownEscapes(raw: string, limit: number): { readonly offset: number; readonly spelling: string }[] {
  const unknown: { readonly offset: number; readonly spelling: string }[] = [];
  if (!raw.includes('\\')) return unknown;
  for (const { 0: spelling, 1: hex, 2: letter, index: offset } of raw.matchAll(ESCAPE)) {
    if (hex !== undefined || Object.hasOwn(NAMED, letter!)) continue;
    unknown.push({ offset, spelling: /\s$/.test(spelling) ? '\\' : spelling });
    if (unknown.length >= limit) break;
  }
  return unknown;
}

/** Unknown escapes keep their letter. */
export const unescapeText = (raw: string): string =>
  raw.includes('\\')
    ? raw.replace(ESCAPE, (_, hex: string | undefined, letter: string) =>
        hex === undefined ? (NAMED[letter] ?? letter) : String.fromCharCode(Number.parseInt(hex, 16)),
      )
    : raw;

const indentationOf = (line: string): number => line.length - line.trimStart().length;
const isBlankLine = (line: string): boolean => line.trim() === '';

/**
 * The lines between triple quotes. The line of the opening quotes counts only if it has text; a blank line of the closing
 * quotes only for its indentation. The indentation that all lines share is removed.
 */
export function dedent(raw: string): string {
  const lines = raw.split(/\r\n|\r|\n/);
  if (lines.length === 1) return raw;
  const [first = '', ...rest] = lines;
  const last = rest.at(-1)!;
  let common = indentationOf(last);
  for (const line of rest) if (!isBlankLine(line)) common = Math.min(common, indentationOf(line));
  if (isBlankLine(last)) rest.pop();
  const kept = rest.map((line) => (isBlankLine(line) ? '' : line.slice(common)));
  return [...(isBlankLine(first) ? [] : [first]), ...kept].join('\n');
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is escaped
const UNPRINTABLE = /[\u0000-\u001f\u007f-\u009f\u2028\u2029\ufeff]|\p{Surrogate}/gu;

const hexEscape = (char: string): string => `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`;

const SHORT: Readonly<Record<string, string>> = { '\n': '\\n', '\r': '\\r', '\t': '\\t', '\b': '\\b', '\f': '\\f' };

const escapeUnprintable = (text: string): string => text.replace(UNPRINTABLE, (one) => SHORT[one] ?? hexEscape(one));

export const quoteText = (text: string): string =>
  `"${escapeUnprintable(text.replaceAll('\\', '\\\\').replaceAll('"', '\\"'))}"`;

const TABS = /[^\t]+/g;

/** What a line may have that is escaped. Most lines have none of it, and a text may have half a million lines. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is escaped
const ESCAPED = /[\\\u0000-\u0008\u000a-\u001f\u007f-\u009f\u2028\u2029\ufeff]|"{3}|\p{Surrogate}|\s$/u;

/** Tabs stay. White space at the end of a line is escaped, since editors remove it. */
const escapeLine = (line: string): string => (ESCAPED.test(line) ? escapedLine(line) : line);

const escapedLine = (line: string): string =>
  line
    .replaceAll('\\', '\\\\')
    .replace(/"{3,}/g, (run) => run.replaceAll('"', '\\"'))
    .replace(TABS, escapeUnprintable)
    .replace(/\s$/, hexEscape);

/** A text in triple quotes, the lines behind the first with this indentation. */
export function quoteLines(text: string, indentation: string): string {
  const lines = text.split('\n').map((line) => (line === '' ? '' : `${indentation}${escapeLine(line)}`));
  return `"""\n${lines.join('\n')}\n${indentation}"""`;
}
