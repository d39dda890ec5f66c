/** Splits a source into tokens of the grammar, in steps, and keeps comments apart. Loaded at the first use. */
import { createToken, type IToken, type TokenType } from 'chevrotain';
import type { Steps } from '../../kernel/index.js';
import { type Comment, MAX_TOKENS, type Mistake, type Position } from './ast.js';
import { unknownCharacters, unquotedName } from './characters.js';
import { ESCAPES, unknownEscapes } from './strings.js';

const Word = createToken({ name: 'Word', label: 'a name' });
export const tokens = {
  Word,
  Extends: createToken({ name: 'Extends', label: '`extends`', categories: Word }),
  Text: createToken({ name: 'Text', label: 'a quoted text' }),
  Numeric: createToken({ name: 'Numeric', label: 'a number' }),
  OpenBlock: createToken({ name: 'OpenBlock', label: '`{`' }),
  CloseBlock: createToken({ name: 'CloseBlock', label: '`}`' }),
  OpenList: createToken({ name: 'OpenList', label: '`[`' }),
  CloseList: createToken({ name: 'CloseList', label: '`]`' }),
  Colon: createToken({ name: 'Colon', label: '`:`' }),
  Comma: createToken({ name: 'Comma', label: '`,`' }),
};

const SIGNS: Readonly<Record<string, TokenType>> = {
  '{': tokens.OpenBlock,
  '}': tokens.CloseBlock,
  '[': tokens.OpenList,
  ']': tokens.CloseList,
  ':': tokens.Colon,
  ',': tokens.Comma,
  '*': Word,
};

const WORD = /[A-Za-z_][\w.-]*/y;
const NUMERIC = /-?\d(?:[eE][+-]|[\w.])*/y;
const LINE_COMMENT = /(?:\/\/|#)[^\n\r]*/y;
const LINE_BREAK = /\r\n|\r|\n/g;

/** Characters that begin nothing, up to where something may begin. */
const UNKNOWN = /[^\s\w{}[\]:,*"#/]+|./suy;

const UNICODE_LETTER = /[\p{L}\p{M}]/uy;
/** A name in any script. */
const UNICODE_WORD = /[\p{L}\p{M}\p{N}_.-]+/uy;
const MAX_SUGGESTED = 60;

const isSpace = (char: string): boolean => (char <= ' ' && char !== '\0') || (char > '~' && /\s/.test(char));
const isDigit = (char: string | undefined): boolean => char !== undefined && char >= '0' && char <= '9';
const isLetter = (char: string): boolean =>
  (char >= 'a' && char <= 'z') || (char >= 'A' && char <= 'Z') || char === '_';

export interface Lexed {
  readonly tokens: readonly IToken[];
  readonly comments: readonly Comment[];
  readonly mistakes: readonly Mistake[];
  /** Where texts without closing quotes begin. */
  readonly unclosed: readonly Position[];
  /** Where the first token or comment beyond the limit begins. */
  readonly exceeded: Position | undefined;
}

const TOKENS_PER_STEP = 500;

/** Stops at `limit` mistakes, and beyond the maximum number of tokens. */
export function* lex(source: string, limit: number): Steps<Lexed> {
  const scanner = new Scanner(source, limit);
  for (let steps = 0; scanner.at < source.length && scanner.mistakes.length < limit && !scanner.exceeded; steps++) {
    scanner.next();
    if (steps % TOKENS_PER_STEP === 0) yield;
  }
  return scanner;
}

class Scanner implements Lexed {
  readonly source: string;
  readonly tokens: IToken[] = [];
  readonly comments: Comment[] = [];
  readonly mistakes: Mistake[] = [];
  readonly unclosed: Position[] = [];
  exceeded: Position | undefined;
  at = 0;
  #line = 1;
  #lineStart: number;
  readonly #limit: number;

  constructor(source: string, limit: number) {
    this.source = source;
    this.#limit = limit;
    // Editors show no byte order mark.
    this.#lineStart = source.startsWith('\ufeff') ? 1 : 0;
  }

  next(): void {
    const { source, at } = this;
    const char = source[at]!;
    const sign = SIGNS[char];
    if (isSpace(char)) this.#space(char);
    else if (this.tokens.length + this.comments.length >= MAX_TOKENS) this.exceeded = this.#position();
    else if (sign) this.#token(sign, 1);
    else if (isLetter(char)) this.#word();
    else if (isDigit(char) || (char === '-' && isDigit(source[at + 1])))
      this.#token(tokens.Numeric, this.#match(NUMERIC)!.length);
    else if (char === '"') this.#text();
    else if (char === '/' && source[at + 1] === '*') this.#blockComment();
    else this.#commentOrUnknown();
  }

  #commentOrUnknown(): void {
    const comment = this.#match(LINE_COMMENT);
    if (comment !== undefined) this.#comment(comment);
    else if (this.#match(UNICODE_LETTER) === undefined) this.#unknown(this.#match(UNKNOWN)!);
    else this.#unquotedName();
  }

  #match(pattern: RegExp): string | undefined {
    pattern.lastIndex = this.at;
    return pattern.exec(this.source)?.[0];
  }

  #space(char: string): void {
    this.at++;
    if (char !== '\n' && (char !== '\r' || this.source[this.at] === '\n')) return;
    this.#line++;
    this.#lineStart = this.at;
  }

  #word(): void {
    const { length } = this.#match(WORD)!;
    const isExtends = length === 7 && this.source.startsWith('extends', this.at);
    this.#token(isExtends ? tokens.Extends : Word, length);
  }

  #position(): Position {
    return { line: this.#line, column: this.at - this.#lineStart + 1 };
  }

  /** Moves behind a text that may have line breaks. */
  #skip(text: string): void {
    const start = this.at;
    this.at += text.length;
    if (!text.includes('\n') && !text.includes('\r')) return;
    for (const { 0: lineBreak, index } of text.matchAll(LINE_BREAK)) {
      this.#line++;
      this.#lineStart = start + index + lineBreak.length;
    }
  }

  #token(tokenType: TokenType, length: number): void {
    const { at } = this;
    const image = this.source.slice(at, at + length);
    const { line: startLine, column: startColumn } = this.#position();
    const tokenTypeIdx = tokenType.tokenTypeIdx!;
    if (tokenType === tokens.Text) this.#skip(image);
    else this.at += length;
    this.tokens.push({
      image,
      startOffset: at,
      endOffset: at + length - 1,
      startLine,
      startColumn,
      tokenTypeIdx,
      tokenType,
    });
  }

  #comment(text: string): void {
    const { at: start } = this;
    this.comments.push({
      text: text.trimEnd().replaceAll('\r\n', '\n').replaceAll('\r', '\n'),
      ...this.#position(),
      start,
      end: start + text.length,
    });
    this.#skip(text);
  }

  #blockComment(): void {
    const end = this.source.indexOf('*/', this.at + 2);
    if (end === -1) this.#mistake('the comment is not closed: write `*/` at its end', { expected: ['`*/`'] });
    if (end === -1) this.#skip(this.source.slice(this.at));
    else this.#comment(this.source.slice(this.at, end + 2));
  }

  #mistake(message: string, more: Pick<Mistake, 'expected' | 'suggestion'> & { readonly at?: Position } = {}): void {
    const { at = this.#position(), ...rest } = more;
    this.mistakes.push({ code: 'syntax', message, ...rest, ...at });
  }

  #unknown(found: string): void {
    const next = this.source.slice(this.at + found.length, this.at + found.length + 1);
    const { message, suggestion } = unknownCharacters(found, next);
    this.#mistake(message, suggestion === undefined ? {} : { suggestion });
    this.at += found.length;
  }

  /** The letters before the unknown one are a token already. */
  #unquotedName(): void {
    const before = this.tokens.at(-1);
    const isPart = before?.tokenType === Word && before.endOffset! + 1 === this.at;
    const begin = isPart ? before.startOffset : this.at;
    const position = this.#positionAt(begin);
    const rest = this.#match(UNICODE_WORD)!;
    const name = this.source.slice(begin, this.at + rest.length);
    const suggestion = name.length > MAX_SUGGESTED ? undefined : `"${name}"`;
    this.#mistake(unquotedName(name), { ...(suggestion === undefined ? {} : { suggestion }), at: position });
    this.at += rest.length;
  }

  #text(): void {
    const { source, at } = this;
    const isLong = source.startsWith('"""', at);
    const [begin, quotes] = isLong ? [at + 3, '"""'] : [at + 1, '"'];
    const end = this.#closingQuotes(begin, quotes);
    const closed = source.startsWith(quotes, end);
    if (!closed) {
      this.#mistake(`the text is not closed: write \`${quotes}\` at its end`, { expected: [`\`${quotes}\``] });
      this.unclosed.push(this.#position());
    }
    for (const { offset, spelling } of unknownEscapes(source.slice(begin, end), this.#limit)) {
      const fix =
        spelling === '\\u' ? 'write four hex digits behind it, such as \\u00e9' : 'write \\\\ for a backslash';
      const at = this.#positionAt(begin + offset);
      this.#mistake(`\`${spelling}\` is not an escape: ${fix}`, { expected: ESCAPES, at });
    }
    // Without its end it still counts as a text, so that nothing else is reported for it.
    this.#token(tokens.Text, end - at + (closed ? quotes.length : 0));
  }

  #positionAt(offset: number): Position {
    const before = this.source.slice(this.at, offset);
    const breaks = [...before.matchAll(LINE_BREAK)];
    const last = breaks.at(-1);
    if (!last) return { line: this.#line, column: offset - this.#lineStart + 1 };
    return { line: this.#line + breaks.length, column: offset - (this.at + last.index + last[0].length) + 1 };
  }

  /** The offset of the closing quotes; without any, the end of the line, or of the source for a text over several lines. */
  #closingQuotes(begin: number, quotes: string): number {
    const { source } = this;
    for (let i = begin; i < source.length; i++) {
      const char = source[i];
      if (char === '\\') i++;
      else if (char === '"' && source.startsWith(quotes, i)) return i;
      else if (quotes.length === 1 && (char === '\n' || char === '\r')) return i;
      if (quotes.length === 1 && char === '\\' && (source[i] === '\n' || source[i] === '\r')) return i;
    }
    return source.length;
  }
}
