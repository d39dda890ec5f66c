/** Messages for tokens that do not fit: what was expected, what was found, and what was probably meant. */
import type { IToken } from 'chevrotain';
import { type Mistake, type Position, UNITS } from './ast.js';
import { tokens } from './lexer.js';

const alternatives = (list: readonly string[]): string =>
  list.length < 2 ? (list[0] ?? '') : `${list.slice(0, -1).join(', ')} or ${list.at(-1)}`;

const MAX_SHOWN = 30;

function shown({ image, tokenType }: IToken): string {
  const [first = ''] = image.slice(0, 4 * MAX_SHOWN).split(/[\r\n]/, 1);
  const part = first.length > MAX_SHOWN ? `${first.slice(0, MAX_SHOWN)}…` : first.trimEnd();
  return tokenType === tokens.Text ? part : `\`${part}\``;
}

const startOf = ({ startLine, startColumn }: IToken): Position => ({ line: startLine!, column: startColumn! });

function endOf(token: IToken): Position {
  const { line, column } = startOf(token);
  const lines = token.image.split(/\r\n|\r|\n/);
  return { line: line + lines.length - 1, column: (lines.length === 1 ? column : 1) + lines.at(-1)!.length };
}

/** The innermost bracket that nothing closes. */
function openBracket(input: readonly IToken[]): IToken | undefined {
  const open: IToken[] = [];
  for (const token of input) {
    if (token.tokenType === tokens.OpenBlock || token.tokenType === tokens.OpenList) open.push(token);
    else if (token.tokenType === tokens.CloseBlock || token.tokenType === tokens.CloseList) open.pop();
  }
  return open.at(-1);
}

/** Behind the last token. */
function atEnd(expected: readonly string[], input: readonly IToken[]): Mistake {
  const last = input.at(-1)!;
  const open = openBracket(input);
  const mistake = { code: 'syntax', expected, ...endOf(last) } as const;
  if (!open || !expected.some((one) => one === '`}`' || one === '`]`'))
    return { ...mistake, message: `expected ${alternatives(expected)} behind ${shown(last)}` };
  const [noun, bracket] = open.tokenType === tokens.OpenBlock ? ['block', '`}`'] : ['list', '`]`'];
  return { ...mistake, message: `the ${noun} that begins on line ${open.startLine} is not closed: write ${bracket}` };
}

const isOn = (line: number | undefined, ...all: readonly (IToken | undefined)[]): boolean =>
  all.every((token) => token?.startLine === line);

/** What was probably meant; `before` are the two tokens in front of the one found. */
function hintOf(expected: readonly string[], found: IToken, before: readonly [IToken?, IToken?]): string {
  const [previous, earlier] = before;
  const { Word, Numeric, Comma, OpenBlock } = tokens;
  if (!isOn(found.startLine, previous)) return '';
  if (expected[0] === '`{`' && (found.tokenType === Word || found.tokenType === Numeric))
    return ': quote a name that has spaces or begins with a digit';
  if (!isOn(found.startLine, earlier)) return '';
  if (expected[0] === '`:`' && earlier!.tokenType === Numeric && Object.hasOwn(UNITS, previous!.image))
    return `: write ${earlier!.image}${previous!.image} without a space`;
  if (expected[0] === '`:`' && earlier!.tokenType === Word && previous!.tokenType === Word)
    return ': quote a text that has spaces';
  if (expected[0] === '`:`' && found.tokenType === Comma && earlier!.tokenType === OpenBlock)
    return ': write a list as [a, b]';
  if (found.tokenType === Numeric && previous!.tokenType === Comma && earlier!.tokenType === Numeric)
    return ': write a number without commas';
  return '';
}

/** Expected tokens that are easier to place with the token in front of them. */
const FOLLOWING: ReadonlySet<string> = new Set(['`:`', '`{`']);

/** Tokens are in the order of their offsets; the token at the end of the input is not among them. */
function indexOf(token: IToken, input: readonly IToken[]): number {
  let [low, high] = [0, input.length - 1];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (input[middle]!.startOffset < token.startOffset) low = middle + 1;
    else high = middle;
  }
  return input[low] === token ? low : -1;
}

/** A mistake at a token of `input`, or at the end of them. */
export function unexpected(expected: readonly string[], found: IToken, input: readonly IToken[]): Mistake {
  const index = indexOf(found, input);
  if (index === -1) return atEnd(expected, input);
  const [previous, earlier] = [input[index - 1], input[index - 2]];
  if (found.tokenType === tokens.Colon && earlier?.tokenType === tokens.Colon && expected[0] === 'a field')
    return {
      code: 'syntax',
      message: `expected a value of ${shown(input[index - 3]!)}, found the field ${shown(previous!)}`,
      expected: ['a value'],
      ...startOf(previous!),
    };
  const mistake = { code: 'syntax', expected, ...startOf(found) } as const;
  if (expected[0] !== 'a definition') {
    const behind = previous && FOLLOWING.has(expected[0]!) ? ` behind ${shown(previous)}` : '';
    const hint = hintOf(expected, found, [previous, earlier]);
    return { ...mistake, message: `expected ${alternatives(expected)}${behind}, found ${shown(found)}${hint}` };
  }
  if (found.tokenType === tokens.CloseBlock || found.tokenType === tokens.CloseList)
    return { ...mistake, message: `${shown(found)} closes nothing: remove it` };
  return { ...mistake, message: `expected a definition of the form \`kind Name { … }\`, found ${shown(found)}` };
}
