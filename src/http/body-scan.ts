/** Counts the values and levels of a body by its structural bytes before it is parsed: parsing millions takes seconds. */
import { MAX_DEPTH } from '../kernel/contract.js';
import { CairnError, invalid, withCommas } from '../kernel/index.js';

/** Values in one body: list items, members of objects, and the body itself. */
export const MAX_VALUES = 200_000;
/** Members of the body itself: no operation takes as many fields. */
const MAX_FIELDS = 1000;
/** Levels that a body may have above a value in it. */
const ENVELOPE_DEPTH = 8;

const SPACE = 0x20;
const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const COMMA = 0x2c;
const MINUS = 0x2d;
const ZERO = 0x30;
const NINE = 0x39;
/** `[` and `{`, `]` and `}` differ by this bit alone. */
const BRACE = 0x20;
const OPENS = 0x7b;
const CLOSES = 0x7d;

/** Scans a body in slices. The counts of invalid JSON mean little; parsing refuses it. */
export class BodyScan {
  lossy: string | undefined;
  readonly #bytes: Uint8Array;
  #at = 0;
  #depth = 0;
  #values = 1;
  #fields = 0;
  /** Whether the last token opened a container: closed at once, it holds no value. */
  #opened = false;

  constructor(bytes: Uint8Array) {
    this.#bytes = bytes;
  }

  /** Scans about `count` more bytes; false at the end. Refuses a body with too many values, levels or fields. */
  advance(count: number): boolean {
    const bytes = this.#bytes;
    const end = Math.min(bytes.length, this.#at + count);
    let at = this.#at;
    for (; at < end; at++) {
      const byte = bytes[at]!;
      if (byte === QUOTE) at = endOfString(bytes, at);
      else if (byte === COMMA) this.#separate();
      else if ((byte | BRACE) === OPENS) this.#open();
      else if ((byte | BRACE) === CLOSES) this.#close();
      else if (byte === MINUS || (byte >= ZERO && byte <= NINE)) at = this.#number(at);
      // Anything but white space is a value, such as the literal true.
      else if (byte <= SPACE) continue;
      this.#opened = (byte | BRACE) === OPENS;
    }
    this.#at = at;
    if (at < bytes.length) return true;
    if (this.#fields >= MAX_FIELDS)
      throw invalid(
        `the body has ${this.#fields + 1} fields: no operation takes more than a few dozen, see /openapi.json`,
      );
    return false;
  }

  #separate(): void {
    if (this.#depth === 1) this.#fields++;
    this.#count();
  }

  #open(): void {
    if (++this.#depth > MAX_DEPTH + ENVELOPE_DEPTH) throw invalid(`the body is nested deeper than ${MAX_DEPTH} levels`);
    this.#count();
  }

  #close(): void {
    this.#depth--;
    if (this.#opened) this.#values--;
  }

  /** A comma precedes a value, an opening bracket the first value of its container. */
  #count(): void {
    if (++this.#values <= MAX_VALUES) return;
    throw new CairnError(
      'TOO_LARGE',
      `the body holds more than ${withCommas(MAX_VALUES)} JSON values: split it into several requests`,
      { max_values: MAX_VALUES },
    );
  }

  #number(from: number): number {
    const bytes = this.#bytes;
    let at = from + 1;
    let exponent = false;
    for (; at < bytes.length; at++) {
      const byte = bytes[at]!;
      if (byte === 0x45 || byte === 0x65) exponent = true;
      else if (!((byte >= ZERO && byte <= NINE) || byte === 0x2e || byte === 0x2b || byte === MINUS)) break;
    }
    if (this.lossy === undefined && (exponent || at - from >= SHORTEST_LOSSY)) {
      const token = Buffer.from(bytes.buffer, bytes.byteOffset + from, at - from).toString('latin1');
      if (WHOLE_NUMBER.test(token) && isLossy(token)) this.lossy = token;
    }
    return at - 1;
  }
}

/** The position of the closing quote of the string that begins at `from`. */
function endOfString(bytes: Uint8Array, from: number): number {
  for (let at = from + 1; at < bytes.length; at++) {
    const byte = bytes[at]!;
    if (byte === BACKSLASH) at++;
    else if (byte === QUOTE) return at;
  }
  return bytes.length;
}

/** A double holds every number of 15 digits. */
const SHORTEST_LOSSY = 16;
/** A cheap test first: only long digit runs and large exponents can be lossy. It passes over the digits of UUIDs. */
const SUSPICIOUS = /[\s:,[]-?(?:\d{16}|\d[\d.]{17}|\d[\d.]*[eE][+-]?\d{3})/;
const WHOLE_NUMBER = /^-?\d+(\.\d+)?([eE][+-]?\d+)?$/;

/** The first number literal in valid JSON that parsing would change. */
export function lossyNumber(text: string): string | undefined {
  if (!SUSPICIOUS.test(text)) return undefined;
  const scan = new BodyScan(Buffer.from(text));
  scan.advance(text.length * 4);
  return scan.lossy;
}

/** A double holds a number if it prints the same number, with as many digits as were sent or in its shortest form. */
function isLossy(token: string): boolean {
  const value = Number(token);
  if (!Number.isFinite(value)) return true;
  const sent = normalized(token);
  const digits = Math.min(17, Math.max(1, sent.split('e')[0]!.length));
  return sent !== normalized(value.toPrecision(digits)) && sent !== normalized(String(value));
}

/** A normal form of digits and exponent: 1.50 and 15e-1 are the same. */
function normalized(number: string): string {
  const [mantissa, exponent = '0'] = number.toLowerCase().replace(/^-/, '').split('e');
  const [whole, fraction = ''] = mantissa!.split('.');
  const digits = `${whole}${fraction}`.replace(/^0+/, '');
  const significant = digits.replace(/0+$/, '');
  if (significant === '') return '0';
  return `${significant}e${Number(exponent) - fraction.length + digits.length - significant.length}`;
}
