/** Exact token counts by o200k_base, with the vocabulary of gpt-tokenizer. */
import { hash } from 'node:crypto';
import { type CooperativeYield, cooperativeYield } from '../kernel/index.js';
import { longPieceTokens, type RankOfBytes } from './byte-pairs.js';

/** The used part of gpt-tokenizer: vocabulary, splitting, and merging of short pieces. */
interface Encoding {
  readonly bytePairEncodingCoreProcessor: {
    readonly tokenSplitRegex: RegExp;
    getBpeRankFromString(piece: string): number | undefined;
    getBpeRankFromBytes: RankOfBytes;
    bytePairEncode(piece: string): readonly number[];
  };
  clearMergeCache(): void;
}

/** Longer pieces, in characters, are merged by a heap instead of in quadratic time. */
const LONG_PIECE = 256;
/** Maximum length of a token, in characters. */
export const LONGEST_TOKEN = 256;
/** Longer texts are split lazily. */
const SPLIT_AT_ONCE = 32_768;
/** Characters between two yields. */
const CHARACTERS_PER_YIELD = 512;

let loading: Promise<Encoding> | undefined;

/** Loads at first use: it takes 170 ms and the memory of 200,000 tokens, and many stores never count. */
function encoding(): Promise<Encoding> {
  loading ??= import('gpt-tokenizer/encoding/o200k_base').then((module) => module.default as unknown as Encoding);
  return loading;
}

/** Preloads the tokenizer; the first count reports a failure. */
export async function loadTokenizer(): Promise<void> {
  await encoding().catch(() => undefined);
}

/** Counts of recent pieces: most texts consist of the same few thousand. */
const counts = new Map<string, number>();
const MAX_COUNTS = 20_000;
/** Longer pieces rarely recur. */
const CACHED_LENGTH = 32;

/** Counts tokens; `<|endoftext|>` and the like as plain text. Above `at_most` it stops early with a larger number. */
export async function countTokens(text: string, at_most = Infinity): Promise<number> {
  const api = await encoding();
  const { tokenSplitRegex } = api.bytePairEncodingCoreProcessor;
  const maybeYield = cooperativeYield();
  // Many counts may start at once.
  const due = text.length > CHARACTERS_PER_YIELD ? maybeYield() : undefined;
  if (due) await due;
  // Splitting at once takes half the time of lazy splitting.
  const pieces = text.length <= SPLIT_AT_ONCE ? (text.match(tokenSplitRegex) ?? []) : piecesOf(text, tokenSplitRegex);
  let tokens = 0;
  let since = 0;
  try {
    for (const piece of pieces) {
      since += piece.length;
      if (since > CHARACTERS_PER_YIELD) {
        since = 0;
        const wait = maybeYield();
        if (wait) await wait;
      }
      if (piece.length > LONG_PIECE && (await exceeds(api, piece, at_most - tokens, maybeYield))) return at_most + 1;
      const counted = tokensOf(api, piece, maybeYield);
      tokens += typeof counted === 'number' ? counted : await counted;
      if (tokens > at_most) return tokens;
    }
    return tokens;
  } finally {
    // Its keys are slices, which would keep every counted text in memory.
    api.clearMergeCache();
  }
}

/** The start of a piece may end within a token, and have a few tokens more than within the whole. */
const SLACK = 64;
/** Assumed maximum of characters per token in a long piece. */
const LONG_CHARACTERS = 16;

/** Whether a long piece certainly exceeds the limit, judged by its start. */
async function exceeds(api: Encoding, piece: string, limit: number, maybeYield: CooperativeYield): Promise<boolean> {
  const start = (limit + SLACK) * LONG_CHARACTERS;
  if (!(piece.length > 2 * start)) return false;
  return (await tokensOf(api, piece.slice(0, start), maybeYield)) > limit + SLACK;
}

function* piecesOf(text: string, split: RegExp): Generator<string> {
  for (const [piece] of text.matchAll(split)) yield piece;
}

/** Synchronous, except for a long piece. */
function tokensOf(api: Encoding, piece: string, maybeYield: CooperativeYield): number | Promise<number> {
  if (piece.length > LONG_PIECE) return mergedLong(api, piece, maybeYield);
  if (piece.length > CACHED_LENGTH) return merged(api, piece);
  let tokens = counts.get(piece);
  if (tokens === undefined) {
    tokens = merged(api, piece);
    if (counts.size >= MAX_COUNTS) counts.clear();
    // A copy, since a slice would keep the whole text in memory. Half a surrogate pair cannot be copied.
    if (piece.isWellFormed()) counts.set(Buffer.from(piece).toString(), tokens);
  }
  return tokens;
}

function merged({ bytePairEncodingCoreProcessor: core }: Encoding, piece: string): number {
  return core.getBpeRankFromString(piece) === undefined ? core.bytePairEncode(piece).length : 1;
}

/**
 * Counts of recent long pieces: a window counts the same text several times while it is filled. By hash, since a text must
 * not stay in memory after its erasure.
 */
const longCounts = new Map<string, number>();
const MAX_LONG_COUNTS = 4;

async function mergedLong(
  { bytePairEncodingCoreProcessor: core }: Encoding,
  piece: string,
  maybeYield: CooperativeYield,
) {
  const bytes = Buffer.from(piece);
  const key = hash('sha256', bytes, 'hex');
  const known = longCounts.get(key);
  if (known !== undefined) return known;
  const tokens = await longPieceTokens(bytes, (one) => core.getBpeRankFromBytes(one), maybeYield);
  if (longCounts.size >= MAX_LONG_COUNTS) longCounts.delete(longCounts.keys().next().value!);
  longCounts.set(key, tokens);
  return tokens;
}

/** The number of leading characters with at most `limit` tokens; in whole pieces, except for a long one. */
export async function charactersWithin(text: string, limit: number): Promise<number> {
  const api = await encoding();
  const { tokenSplitRegex } = api.bytePairEncodingCoreProcessor;
  const maybeYield = cooperativeYield();
  let tokens = 0;
  let pauseAt = CHARACTERS_PER_YIELD;
  try {
    for (const { 0: piece, index } of text.matchAll(tokenSplitRegex)) {
      if (index >= pauseAt) {
        pauseAt = index + CHARACTERS_PER_YIELD;
        const wait = maybeYield();
        if (wait) await wait;
      }
      // Avoids counting a long piece as a whole.
      const isMore =
        piece.length > (limit - tokens) * LONGEST_TOKEN ||
        (piece.length > LONG_PIECE && (await exceeds(api, piece, limit - tokens, maybeYield)));
      const whole = isMore ? Infinity : await tokensOf(api, piece, maybeYield);
      if (tokens + whole > limit) return index + (await startWithin(api, piece, limit - tokens, maybeYield));
      tokens += whole;
    }
    return text.length;
  } finally {
    api.clearMergeCache();
  }
}

/** The longest half, quarter, … of a piece that fits. From short to long, so that the work depends on the result. */
async function startWithin(api: Encoding, piece: string, limit: number, maybeYield: CooperativeYield): Promise<number> {
  if (limit <= 0 || piece.length <= CACHED_LENGTH) return 0;
  const lengths: number[] = [];
  for (let length = piece.length >> 1; length > 0; length >>= 1) lengths.push(length);
  let fitting = 0;
  for (const length of lengths.reverse()) {
    const start = /[\ud800-\udbff]/.test(piece[length - 1]!) ? length - 1 : length;
    const fits =
      start * MAX_TOKENS_PER_UNIT <= limit || (await tokensOf(api, piece.slice(0, start), maybeYield)) <= limit;
    if (!fits) break;
    fitting = start;
  }
  return fitting;
}

/** A UTF-16 unit has at most three bytes, and a token at least one. */
const MAX_TOKENS_PER_UNIT = 3;
