/** Counts tokens exactly as o200k_base has them, with the vocabulary of gpt-tokenizer. */
import { hash } from 'node:crypto';
import { type GiveWay, givingWay } from '../kernel/index.js';
import { longPieceTokens, type RankOfBytes } from './byte-pairs.js';

/** What is used of gpt-tokenizer: its vocabulary, its way to split a text, and its merging of a short piece. */
interface Encoding {
  readonly bytePairEncodingCoreProcessor: {
    readonly tokenSplitRegex: RegExp;
    getBpeRankFromString(piece: string): number | undefined;
    getBpeRankFromBytes: RankOfBytes;
    bytePairEncode(piece: string): readonly number[];
  };
  clearMergeCache(): void;
}

/** Beyond this many characters in one piece, merging in a time that grows with the square of them is too slow. */
const LONG_PIECE = 256;
/** No token has more characters. */
export const LONGEST_TOKEN = 256;
/** Of a longer text the pieces are not all looked for at once. */
const SPLIT_AT_ONCE = 32_768;
/** After so many characters it is asked whether others should get their turn: a long text must not hold up all the rest. */
const CHARACTERS_AT_A_TIME = 512;

let loading: Promise<Encoding> | undefined;

/** Loaded at first use: it costs a sixth of a second and the memory of 200,000 tokens, and many stores never count. */
function encoding(): Promise<Encoding> {
  loading ??= import('gpt-tokenizer/encoding/o200k_base').then((module) => module.default as unknown as Encoding);
  return loading;
}

/** For who will count soon, and has something else to wait for until then. */
export async function loadTokenizer(): Promise<void> {
  // What goes wrong is told to who counts.
  await encoding().catch(() => undefined);
}

/** Tokens of the pieces that were met last: most texts are made of the same few thousand. */
const met = new Map<string, number>();
const MET_LIMIT = 20_000;
/** Longer pieces hardly come again. */
const MET_LENGTH = 32;

/**
 * How many tokens a text has. What looks like a special token, such as `<|endoftext|>`, counts as plain text. With
 * `at_most`, a text with more is not counted to its end: it gives some number above that.
 */
export async function countTokens(text: string, at_most = Infinity): Promise<number> {
  const api = await encoding();
  const { tokenSplitRegex } = api.bytePairEncodingCoreProcessor;
  const giveWay = givingWay();
  // Many may begin to count at once.
  const due = text.length > CHARACTERS_AT_A_TIME ? giveWay() : undefined;
  if (due) await due;
  // All pieces at once takes half the time of one after another.
  const pieces = text.length <= SPLIT_AT_ONCE ? (text.match(tokenSplitRegex) ?? []) : piecesOf(text, tokenSplitRegex);
  let tokens = 0;
  let since = 0;
  try {
    for (const piece of pieces) {
      since += piece.length;
      if (since > CHARACTERS_AT_A_TIME) {
        since = 0;
        const wait = giveWay();
        if (wait) await wait;
      }
      if (piece.length > LONG_PIECE && (await exceeds(api, piece, at_most - tokens, giveWay))) return at_most + 1;
      const counted = tokensOf(api, piece, giveWay);
      tokens += typeof counted === 'number' ? counted : await counted;
      if (tokens > at_most) return tokens;
    }
    return tokens;
  } finally {
    // Its keys are slices that hold on to the whole text: kept beyond the call, they would add up without bound.
    api.clearMergeCache();
  }
}

/** A start of a piece may end within a token, and have a few more than the same stretch of the whole. */
const SLACK = 64;
/** Most long pieces have fewer characters in a token. */
const LONG_CHARACTERS = 16;

/** Whether a long piece surely has more tokens: told by its start, without counting the whole. */
async function exceeds(api: Encoding, piece: string, limit: number, giveWay: GiveWay): Promise<boolean> {
  const start = (limit + SLACK) * LONG_CHARACTERS;
  if (!(piece.length > 2 * start)) return false;
  return (await tokensOf(api, piece.slice(0, start), giveWay)) > limit + SLACK;
}

function* piecesOf(text: string, split: RegExp): Generator<string> {
  for (const [piece] of text.matchAll(split)) yield piece;
}

/** At once, but for a long piece. */
function tokensOf(api: Encoding, piece: string, giveWay: GiveWay): number | Promise<number> {
  if (piece.length > LONG_PIECE) return mergedLong(api, piece, giveWay);
  if (piece.length > MET_LENGTH) return merged(api, piece);
  let tokens = met.get(piece);
  if (tokens === undefined) {
    tokens = merged(api, piece);
    if (met.size >= MET_LIMIT) met.clear();
    // A copy, since a slice would hold on to the whole text. A half of a surrogate pair has none, and is not kept.
    if (piece.isWellFormed()) met.set(Buffer.from(piece).toString(), tokens);
  }
  return tokens;
}

function merged({ bytePairEncodingCoreProcessor: core }: Encoding, piece: string): number {
  return core.getBpeRankFromString(piece) === undefined ? core.bytePairEncode(piece).length : 1;
}

/**
 * Tokens of the long pieces that were counted last: a window counts the same text several times while it is filled.
 * Keyed by hash: a stored text must not stay in the memory of the process after its erasure.
 */
const metLong = new Map<string, number>();
const MET_LONG_LIMIT = 4;

async function mergedLong(
  { bytePairEncodingCoreProcessor: core }: Encoding,
  piece: string,
  giveWay: GiveWay,
): Promise<number> {
  const bytes = Buffer.from(piece);
  const key = hash('sha256', bytes, 'hex');
  const known = metLong.get(key);
  if (known !== undefined) return known;
  const tokens = await longPieceTokens(bytes, (one) => core.getBpeRankFromBytes(one), giveWay);
  if (metLong.size >= MET_LONG_LIMIT) metLong.delete(metLong.keys().next().value!);
  metLong.set(key, tokens);
  return tokens;
}

/** How many characters from the start of a text have at most so many tokens; whole pieces, but for one that is long. */
export async function charactersWithin(text: string, limit: number): Promise<number> {
  const api = await encoding();
  const { tokenSplitRegex } = api.bytePairEncodingCoreProcessor;
  const giveWay = givingWay();
  let tokens = 0;
  let pauseAt = CHARACTERS_AT_A_TIME;
  try {
    for (const { 0: piece, index } of text.matchAll(tokenSplitRegex)) {
      if (index >= pauseAt) {
        pauseAt = index + CHARACTERS_AT_A_TIME;
        const wait = giveWay();
        if (wait) await wait;
      }
      // A long piece is not counted whole to learn that a start of it is enough.
      const isMore =
        piece.length > (limit - tokens) * LONGEST_TOKEN ||
        (piece.length > LONG_PIECE && (await exceeds(api, piece, limit - tokens, giveWay)));
      const whole = isMore ? Infinity : await tokensOf(api, piece, giveWay);
      if (tokens + whole > limit) return index + (await startWithin(api, piece, limit - tokens, giveWay));
      tokens += whole;
    }
    return text.length;
  } finally {
    api.clearMergeCache();
  }
}

/**
 * Of a piece that does not fit whole, a start that does: the longest of its halves, quarters and so on. From the shortest
 * that surely fits upwards, so that the work goes with what is shown and not with what there is.
 */
async function startWithin(api: Encoding, piece: string, limit: number, giveWay: GiveWay): Promise<number> {
  if (limit <= 0 || piece.length <= MET_LENGTH) return 0;
  const lengths: number[] = [];
  for (let length = piece.length >> 1; length > 0; length >>= 1) lengths.push(length);
  let fitting = 0;
  for (const length of lengths.reverse()) {
    const start = /[\ud800-\udbff]/.test(piece[length - 1]!) ? length - 1 : length;
    const fits = start * MOST_TOKENS <= limit || (await tokensOf(api, piece.slice(0, start), giveWay)) <= limit;
    if (!fits) break;
    fitting = start;
  }
  return fitting;
}

/** No character has more bytes in UTF-8, and no token has less than a byte. */
const MOST_TOKENS = 3;
