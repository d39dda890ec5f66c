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

/** How many tokens a text has. What looks like a special token, such as `<|endoftext|>`, counts as plain text. */
export async function countTokens(text: string): Promise<number> {
  const api = await encoding();
  const core = api.bytePairEncodingCoreProcessor;
  let tokens = 0;
  let pauseAt = CHARACTERS_AT_A_TIME;
  try {
    for (const { 0: piece, index } of text.matchAll(core.tokenSplitRegex)) {
      if (index >= pauseAt) {
        await setImmediate();
        pauseAt = index + CHARACTERS_AT_A_TIME;
      }
      if (core.getBpeRankFromString(piece) !== undefined) tokens += 1;
      else if (piece.length <= LONG_PIECE) tokens += core.bytePairEncode(piece).length;
      else tokens += longPieceTokens(Buffer.from(piece), (bytes) => core.getBpeRankFromBytes(bytes));
    }
  } finally {
    // Its keys are slices that hold on to the whole text: kept beyond the call, they would add up without bound.
    api.clearMergeCache();
  }
  return tokens;
}
