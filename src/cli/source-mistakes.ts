/** Mistakes of a source as lines for people and editors. */
import type { Mistake } from '../dsl/index.js';
import { plain } from './terminal.js';

/** Characters shown of a long line, around the mistake. */
const WINDOW = 100;

/** Characters that take two columns of a terminal. */
const WIDE =
  /[\u1100-\u115f\u2e80-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6]|\p{Emoji_Presentation}/u;

const widthOf = (text: string): number => [...text].reduce((width, char) => width + (WIDE.test(char) ? 2 : 1), 0);

/** Tabs as spaces, so that the caret stands where the terminal shows the mistake. */
const shown = (text: string): string => plain(text.replaceAll('\t', ' '));

/** The line of a mistake and a caret under it. */
function caretLines(source: string, { line, column }: Mistake): string[] {
  const text = source.split(/\r\n|\r|\n/)[line - 1] ?? '';
  const begin = column > WINDOW ? column - WINDOW / 2 : 0;
  const before = shown(text.slice(begin, column - 1));
  const rest = shown(text.slice(column - 1, begin + WINDOW));
  const number = `${line} | `;
  return [`  ${number}${before}${rest}`, `  ${' '.repeat(number.length - 2)}| ${' '.repeat(widthOf(before))}^`];
}

/** `file:line:column: message`, and the place in the source if `withSource`. */
export function mistakeLines(
  file: string,
  source: string,
  mistakes: readonly Mistake[],
  withSource: boolean,
): string[] {
  return mistakes.flatMap((mistake) => [
    `${plain(file)}:${mistake.line}:${mistake.column}: ${plain(mistake.message)}`,
    ...(withSource ? caretLines(source, mistake) : []),
  ]);
}
