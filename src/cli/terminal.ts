/** What commands print: colours where there is a terminal, and text of others made harmless. */

interface Stream {
  readonly isTTY?: boolean;
}

/** Colours need a terminal that has some, and a user who wants them (no-color.org: any text but an empty one says no). */
export const showsColors = (stream: Stream, env: NodeJS.ProcessEnv = process.env): boolean =>
  redrawsLines(stream, env) && !env.NO_COLOR;

/** Whether a line can be drawn over, as a progress bar needs it. */
export const redrawsLines = (stream: Stream, env: NodeJS.ProcessEnv = process.env): boolean =>
  stream.isTTY === true && env.TERM !== 'dumb';

export const color = (code: number, text: string): string =>
  showsColors(process.stdout) ? `\u001b[${code}m${text}\u001b[0m` : text;

/** What others wrote must neither break the line nor command the terminal. */
export const plain = (text: string): string =>
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is replaced
  text.replace(/[\u0000-\u001f\u007f-\u009f\u2028\u2029]/g, '\ufffd');

export const grey = (text: string): string => color(90, text);

export const shorten = (text: string, length: number): string =>
  text.length > length ? `${text.slice(0, length - 1)}…` : text;
