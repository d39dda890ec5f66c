/** Counts tokens exactly as o200k_base has them, with the vocabulary of gpt-tokenizer that the build puts into dist. */
import { setImmediate } from 'node:timers/promises';
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
/** After so many characters others get their turn: a long text must not hold up all the rest. */
const CHARACTERS_AT_A_TIME = 32_768;

let loading: Promise<Encoding> | undefined;

/** Loaded at first use: it costs a sixth of a second and the memory of 200,000 tokens, and many stores never count. */
function encoding(): Promise<Encoding> {
  // Not a literal: the folder is there only beside the build, and the compiler must not look for it.
  const vendored = new URL('../vendor/gpt-tokenizer/encoding/o200k_base.js', import.meta.url).href;
  loading ??= (import(vendored) as Promise<{ default: Encoding }>).then((module) => module.default);
  return loading;
}

/** Tokens of the pieces that were met last: most texts are made of the same few thousand. */
const met = new Map<string, number>();
const MET_LIMIT = 20_000;
/** Longer pieces hardly come again. */
const MET_LENGTH = 32;

/** How many tokens a text has. What looks like a special token, such as `<|endoftext|>`, counts as plain text. */
export async function countTokens(text: string): Promise<number> {
  const api = await encoding();
  const { tokenSplitRegex } = api.bytePairEncodingCoreProcessor;
  let tokens = 0;
  try {
    if (text.length <= CHARACTERS_AT_A_TIME) {
      // All pieces at once takes half the time of one after another.
      for (const piece of text.match(tokenSplitRegex) ?? []) tokens += tokensOf(api, piece);
      return tokens;
    }
    let pauseAt = CHARACTERS_AT_A_TIME;
    for (const { 0: piece, index } of text.matchAll(tokenSplitRegex)) {
      if (index >= pauseAt) {
        await setImmediate();
        pauseAt = index + CHARACTERS_AT_A_TIME;
      }
      tokens += tokensOf(api, piece);
    }
    return tokens;
  } finally {
    // Its keys are slices that hold on to the whole text: kept beyond the call, they would add up without bound.
    api.clearMergeCache();
  }
}

function tokensOf(api: Encoding, piece: string): number {
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
  if (core.getBpeRankFromString(piece) !== undefined) return 1;
  if (piece.length <= LONG_PIECE) return core.bytePairEncode(piece).length;
  return longPieceTokens(Buffer.from(piece), (bytes) => core.getBpeRankFromBytes(bytes));
}

/** How many characters from the start of a text have at most so many tokens; whole pieces, but for one that is long. */
export async function charactersWithin(text: string, limit: number): Promise<number> {
  const api = await encoding();
  const { tokenSplitRegex } = api.bytePairEncodingCoreProcessor;
  let tokens = 0;
  let pauseAt = CHARACTERS_AT_A_TIME;
  try {
    for (const { 0: piece, index } of text.matchAll(tokenSplitRegex)) {
      if (index >= pauseAt) {
        await setImmediate();
        pauseAt = index + CHARACTERS_AT_A_TIME;
      }
      const more = tokensOf(api, piece);
      if (tokens + more > limit) return index + startWithin(api, piece, limit - tokens);
      tokens += more;
    }
    return text.length;
  } finally {
    api.clearMergeCache();
  }
}

/** Of a piece that does not fit whole, a start that does: halved until it fits, which need not be the longest. */
function startWithin(api: Encoding, piece: string, limit: number): number {
  let length = limit <= 0 || piece.length <= MET_LENGTH ? 0 : piece.length;
  while (length > 0) {
    length = Math.floor(length / 2);
    if (/[\ud800-\udbff]/.test(piece[length - 1] ?? '')) length--;
    if (length > 0 && merged(api, piece.slice(0, length)) <= limit) return length;
  }
  return 0;
}
