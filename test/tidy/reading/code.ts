/** Tells code from comments, strings and regular expressions, without a parser: TypeScript 7 has none for JavaScript. */
import { remembered } from './tree.js';

export interface Code {
  /** Comments are blank. */
  readonly text: string;
  /** Comments and what is between quotes, backticks or the slashes of a regular expression are blank. */
  readonly bare: string;
}

/** Characters that begin nothing but code. */
const PLAIN = /[^'"`/{}]+/y;

const BEFORE_REGEX = /(?:^|[([{,;=:!&|?+\-*%<>~^]|\b(?:return|typeof|case|in|of|throw|else|await|yield))$/;

/** Both texts are as long as the source, so that an index in one is an index in all. */
export const codeOf = remembered(scan);

const blank = (text: string): string => text.replace(/[^\n]/g, ' ');

function scan(source: string): Code {
  let text = '';
  let bare = '';
  /** For every template that is open, the braces that are open in its current expression. */
  const templates: number[] = [];
  let i = 0;
  const take = (end: number, keep: { text: boolean; bare: boolean }): void => {
    const part = source.slice(i, end);
    text += keep.text ? part : blank(part);
    bare += keep.bare ? part : blank(part);
    i = end;
  };
  const code = { text: true, bare: true };
  const content = { text: true, bare: false };
  const comment = { text: false, bare: false };
  /** From behind an opening backtick, or from the end of an expression, to the next expression or the closing backtick. */
  const takeTemplate = (): void => {
    let end = i;
    while (end < source.length && source[end] !== '`' && !source.startsWith('${', end))
      end += source[end] === '\\' ? 2 : 1;
    take(end, content);
    if (source[i] === '`') {
      take(i + 1, code);
      return;
    }
    templates.push(0);
    take(i + 2, code);
  };
  while (i < source.length) {
    PLAIN.lastIndex = i;
    if (PLAIN.test(source)) take(PLAIN.lastIndex, code);
    if (i >= source.length) break;
    const char = source[i]!;
    if (source.startsWith('//', i)) take(behind(source, '\n', i), comment);
    else if (source.startsWith('/*', i)) take(behind(source, '*/', i + 2), comment);
    else if (char === "'" || char === '"') {
      const end = endOfQuoted(source, i, char);
      take(i + 1, code);
      take(end, content);
      take(end + 1, code);
    } else if (char === '`') {
      take(i + 1, code);
      takeTemplate();
    } else if (char === '/' && BEFORE_REGEX.test(bare.slice(-60).trimEnd())) {
      const end = endOfRegex(source, i);
      take(i + 1, code);
      take(end, content);
      take(end + 1, code);
    } else if (char === '{') {
      if (templates.length > 0) templates[templates.length - 1]!++;
      take(i + 1, code);
    } else if (char === '}' && templates.at(-1) === 0) {
      templates.pop();
      take(i + 1, code);
      takeTemplate();
    } else {
      if (char === '}' && templates.length > 0) templates[templates.length - 1]!--;
      take(i + 1, code);
    }
  }
  return { text, bare };
}

function behind(source: string, mark: string, from: number): number {
  const at = source.indexOf(mark, from);
  return at === -1 ? source.length : at + mark.length;
}

function endOfQuoted(source: string, start: number, quote: string): number {
  let end = start + 1;
  while (end < source.length && source[end] !== quote) end += source[end] === '\\' ? 2 : 1;
  return end;
}

function endOfRegex(source: string, start: number): number {
  let inClass = false;
  let end = start + 1;
  for (; end < source.length && source[end] !== '\n' && (inClass || source[end] !== '/'); end++) {
    if (source[end] === '\\') end++;
    else if (source[end] === '[') inClass = true;
    else if (source[end] === ']') inClass = false;
  }
  return end;
}

export const lineOf = (source: string, index: number): number => source.slice(0, index).split('\n').length;
