/** Terminals: colours, stored text without control characters, and questions before what cannot be undone. */
import { createInterface } from 'node:readline/promises';
import { invalid } from '../kernel/index.js';

interface Stream {
  readonly isTTY?: boolean;
}

/** A non-empty NO_COLOR switches colours off (no-color.org). */
export const showsColors = (stream: Stream, env: NodeJS.ProcessEnv = process.env): boolean =>
  redrawsLines(stream, env) && !env.NO_COLOR;

/** Whether a progress bar can redraw its line. */
export const redrawsLines = (stream: Stream, env: NodeJS.ProcessEnv = process.env): boolean =>
  stream.isTTY === true && env.TERM !== 'dumb';

export const color = (code: number, text: string): string =>
  showsColors(process.stdout) ? `\u001b[${code}m${text}\u001b[0m` : text;

/** Stored text must not break the line, control the terminal or turn around what follows it. */
export const plain = (text: string): string =>
  // biome-ignore lint/suspicious/noControlCharactersInRegex: it replaces them
  text.replace(/[\u0000-\u001f\u007f-\u009f\u2028-\u202e\u2066-\u2069]/g, '\ufffd');

export const grey = (text: string): string => color(90, text);

export const shorten = (text: string, length: number): string =>
  text.length > length ? `${text.slice(0, length - 1)}…` : text;

/** Asks on a terminal. Without one, or if stdin is the input of the command, the answer must be --yes. */
export async function isConfirmed(what: string, is_stdin = false): Promise<boolean> {
  if (is_stdin || !process.stdin.isTTY || !process.stderr.isTTY) throw invalid(`${what}: confirm it with --yes`);
  const terminal = createInterface({ input: process.stdin, output: process.stderr });
  try {
    return /^y(es)?$/i.test((await terminal.question(`${what}. Continue? [y/N] `)).trim());
  } finally {
    terminal.close();
  }
}
