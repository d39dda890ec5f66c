/** Messages for characters that begin no token, with what to write in place of them. */

interface Hint {
  readonly pattern: RegExp;
  readonly fix: string;
  readonly suggestion?: string;
}

/** By the characters found and the one behind them. */
const HINTS: readonly Hint[] = [
  { pattern: /^=/, fix: 'write `:` between a field and its value', suggestion: ':' },
  { pattern: /^;/, fix: 'remove it, or write `,`', suggestion: ',' },
  { pattern: /^['`‘’‚‛“”„‟«»‹›]/, fix: 'write a text in straight double quotes, such as "text"', suggestion: '"' },
  { pattern: /^[()]/, fix: 'write a list as [a, b] and a block as { … }' },
  { pattern: /^[-–—•](?:\s|$)/, fix: 'write a list as [a, b]' },
  { pattern: /^[-+]?\.\d/, fix: 'write a digit before the point, such as 0.5' },
  { pattern: /^[-+−]/, fix: 'write a number as 5 or -5' },
];

const OTHERWISE: Hint = { pattern: /^/, fix: 'remove it, or quote the text that has it' };

const MAX_SHOWN = 10;

const isPrintable = (text: string): boolean => /^[\p{L}\p{M}\p{N}\p{P}\p{S}]+$/u.test(text);

const codeOf = (char: string): string => `U+${char.codePointAt(0)!.toString(16).toUpperCase().padStart(4, '0')}`;

/** Invisible characters by their code. */
function show(text: string): string {
  if (text.startsWith('`')) return 'backtick';
  const characters = [...text.slice(0, 2 * MAX_SHOWN)].slice(0, MAX_SHOWN);
  const shown = characters.join('');
  const more = shown.length < text.length ? '…' : '';
  return isPrintable(shown) ? `\`${shown}${more}\`` : `${characters.map(codeOf).join(' ')}${more}`;
}

/** `next` is the character behind those found. */
export function unknownCharacters(found: string, next: string): { message: string; suggestion?: string } {
  const text = `${found.slice(0, 2)}${next}`;
  const { fix, suggestion } = HINTS.find(({ pattern }) => pattern.test(text)) ?? OTHERWISE;
  return { message: `unexpected ${show(found)}: ${fix}`, ...(suggestion === undefined ? {} : { suggestion }) };
}

/** A name with letters that only quoted names have. */
export function unquotedName(name: string): string {
  const shown = [...name.slice(0, 60)].slice(0, 30).join('');
  return `\`${shown}${shown.length < name.length ? '…' : ''}\` must be quoted: a bare name has the letters A to Z, digits, "_", "-" and "."`;
}
