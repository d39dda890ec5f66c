/** Request bodies: UTF-8 JSON, with numbers that a double can hold. Anything else is refused before it is looked at. */
import { isUtf8 } from 'node:buffer';
import { CairnError } from '../model/errors.js';
import { MAX_DEPTH } from '../model/json.js';

export function parseBody(bytes: Buffer): unknown {
  if (bytes.length === 0) return undefined;
  if (!isUtf8(bytes)) throw new CairnError('INVALID_JSON', 'the body is not valid UTF-8');
  const text = bytes.toString('utf8');
  if (bytes.length > WORTH_A_LOOK) checkDepth(text);
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    throw new CairnError('INVALID_JSON', `the body is not valid JSON: ${(error as Error).message}`);
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw new CairnError('INVALID_INPUT', 'the body must be a JSON object');
  }
  const lossy = lossyNumber(text);
  if (lossy !== undefined) {
    throw new CairnError(
      'INVALID_INPUT',
      `the number ${lossy.slice(0, 40)} does not fit a double and would be altered: send it as a string`,
    );
  }
  return value;
}

/** A smaller body is parsed in no time however deep it is, and its values are checked anyway. */
const WORTH_A_LOOK = 64 * 1024;

/** A body may be a few levels deeper than a value in it; what is far beyond that is not worth parsing. */
function checkDepth(text: string): void {
  let depth = 0;
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i);
    if (code === 0x22) i = endOfString(text, i);
    else if (code === 0x7b || code === 0x5b) {
      if (++depth > MAX_DEPTH + 8) {
        throw new CairnError('INVALID_INPUT', `the body is nested deeper than ${MAX_DEPTH} levels`);
      }
    } else if (code === 0x7d || code === 0x5d) depth--;
  }
}

/** Where the string that begins here has its last quote. By steps: an expression would run out of stack on a long one. */
function endOfString(text: string, from: number): number {
  for (let i = from + 1; i < text.length; i++) {
    const code = text.charCodeAt(i);
    if (code === 0x5c) i++;
    else if (code === 0x22) return i;
  }
  return text.length;
}

/** Cheap to pass: only long digit runs and large exponents can be lossy, and few bodies have either. */
const SUSPICIOUS = /\d{16}|\d[eE][+-]?\d{3}|\d[\d.]{17}/;
const NUMBER = /-?\d+(\.\d+)?([eE][+-]?\d+)?/y;

/** The first number literal that parsing would alter; of a text that is valid JSON. */
export function lossyNumber(text: string): string | undefined {
  if (!SUSPICIOUS.test(text)) return undefined;
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i);
    if (code === 0x22) i = endOfString(text, i);
    else if (code === 0x2d || (code >= 0x30 && code <= 0x39)) {
      NUMBER.lastIndex = i;
      const [token] = NUMBER.exec(text)!;
      if (isLossy(token)) return token;
      i += token.length - 1;
    }
  }
  return undefined;
}

/** A double holds a number if it prints it again, in as many digits as were sent or in its own shortest form. */
function isLossy(token: string): boolean {
  const value = Number(token);
  if (!Number.isFinite(value)) return true;
  const sent = plain(token);
  const digits = Math.min(17, Math.max(1, sent.split('e')[0]!.length));
  return sent !== plain(value.toPrecision(digits)) && sent !== plain(String(value));
}

/** A number as its digits and an exponent, in one form: 1.50 and 15e-1 are the same. */
function plain(number: string): string {
  const [mantissa, exponent = '0'] = number.toLowerCase().replace(/^-/, '').split('e');
  const [whole, fraction = ''] = mantissa!.split('.');
  const digits = `${whole}${fraction}`.replace(/^0+/, '');
  const significant = digits.replace(/0+$/, '');
  if (significant === '') return '0';
  return `${significant}e${Number(exponent) - fraction.length + digits.length - significant.length}`;
}
