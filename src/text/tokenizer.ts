/** Exact token counts by o200k_base. */
import { hash } from 'node:crypto';
import { type CooperativeYield, cooperativeYield } from '../kernel/index.js';
import { longPieceTokens, SHORT_BYTES, shortPieceTokens } from './byte-pairs.js';
import { NO_TOKEN, Vocabulary } from './vocabulary.js';

/** The build puts it here: one level up from this module, and from the bundle. */
const VOCABULARY = new URL('../o200k_base.bin', import.meta.url);
const TOKENS = 199_998;

let loaded: Vocabulary | undefined;
/** Read at first use, in about a millisecond. */
const vocabulary = (): Vocabulary => (loaded ??= new Vocabulary(VOCABULARY, TOKENS));

/** A piece begins with at most one character before a word, holds up to three digits, or is a run of signs or of space. */
const PIECES = piecePattern();

function piecePattern(): RegExp {
  const other = String.raw`[^\r\n\p{L}\p{N}]?`;
  const upper = String.raw`[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]`;
  const lower = String.raw`[\p{Ll}\p{Lm}\p{Lo}\p{M}]`;
  const contraction = "(?:'(?:[sS]|[dD]|[mM]|[tT]|[lL][lL]|[vV][eE]|[rR][eE]))?";
  const words = [`${other}${upper}*${lower}+${contraction}`, `${other}${upper}+${lower}*${contraction}`];
  const others = String.raw`\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+`;
  return new RegExp([...words, others].join('|'), 'gu');
}

/** Longer pieces, in characters, are merged by a heap instead of in quadratic time. */
const LONG_PIECE = SHORT_BYTES / 3;
/** Maximum length of a token, in characters. */
export const LONGEST_TOKEN = 256;
/** Longer texts are split lazily. */
const SPLIT_AT_ONCE = 32_768;
/** Characters between two yields. */
const CHARACTERS_PER_YIELD = 512;

/** Counts of recent pieces: most texts consist of the same few thousand. */
const counts = new Map<string, number>();
const MAX_COUNTS = 20_000;
/** Longer pieces rarely recur. */
const CACHED_LENGTH = 32;

/** Counts tokens; `<|endoftext|>` and the like as plain text. Above `at_most` it stops early with a larger number. */
export async function countTokens(text: string, at_most = Infinity): Promise<number> {
  const maybeYield = cooperativeYield();
  // Many counts may start at once.
  const due = text.length > CHARACTERS_PER_YIELD ? maybeYield() : undefined;
  if (due) await due;
  // Splitting at once takes half the time of lazy splitting.
  const pieces = text.length <= SPLIT_AT_ONCE ? (text.match(PIECES) ?? []) : piecesOf(text);
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
      if (piece.length > LONG_PIECE && (await exceeds(piece, at_most - tokens, maybeYield))) return at_most + 1;
      const counted = tokensOf(piece, maybeYield);
      tokens += typeof counted === 'number' ? counted : await counted;
      if (tokens > at_most) return tokens;
    }
    return tokens;
  } finally {
    scratch.fill(0);
  }
}

/** The start of a piece may end within a token, and have a few tokens more than within the whole. */
const SLACK = 64;
/** Assumed maximum of characters per token in a long piece. */
const LONG_CHARACTERS = 16;

/** Whether a long piece certainly exceeds the limit, judged by its start. */
async function exceeds(piece: string, limit: number, maybeYield: CooperativeYield): Promise<boolean> {
  const start = (limit + SLACK) * LONG_CHARACTERS;
  if (!(piece.length > 2 * start)) return false;
  return (await tokensOf(piece.slice(0, start), maybeYield)) > limit + SLACK;
}

function* piecesOf(text: string): Generator<string> {
  for (const [piece] of text.matchAll(PIECES)) yield piece;
}

/** Synchronous, except for a long piece. */
function tokensOf(piece: string, maybeYield: CooperativeYield): number | Promise<number> {
  if (piece.length > LONG_PIECE) return mergedLong(piece, maybeYield);
  if (piece.length > CACHED_LENGTH) return merged(piece);
  let tokens = counts.get(piece);
  if (tokens === undefined) {
    tokens = merged(piece);
    if (counts.size >= MAX_COUNTS) counts.clear();
    // A copy, since a slice would keep the whole text in memory. Half a surrogate pair cannot be copied.
    if (piece.isWellFormed()) counts.set(Buffer.from(piece).toString(), tokens);
  }
  return tokens;
}

/** The rank of a short text that is one token, else undefined. Frequent texts have low ranks, in any language. */
export function rankOf(text: string): number | undefined {
  if (text.length > CACHED_LENGTH) return undefined;
  const { written } = encoder.encodeInto(text, scratch);
  const rank = vocabulary().rankOf(scratch, 0, written);
  scratch.fill(0, 0, written);
  return rank === NO_TOKEN ? undefined : rank;
}

/** The bytes of one short piece, overwritten after each count: nothing of a text stays in memory. */
const scratch = new Uint8Array(SHORT_BYTES);
const encoder = new TextEncoder();

function merged(piece: string): number {
  const { written } = encoder.encodeInto(piece, scratch);
  return vocabulary().rankOf(scratch, 0, written) === NO_TOKEN ? shortPieceTokens(scratch, written, vocabulary()) : 1;
}

/**
 * Counts of recent long pieces: a window counts the same text several times while it is filled. By hash, since a text must
 * not stay in memory after its erasure.
 */
const longCounts = new Map<string, number>();
const MAX_LONG_COUNTS = 4;

async function mergedLong(piece: string, maybeYield: CooperativeYield) {
  const bytes = Buffer.from(piece);
  const key = hash('sha256', bytes, 'hex');
  const known = longCounts.get(key);
  if (known !== undefined) return known;
  const tokens = await longPieceTokens(bytes, vocabulary(), maybeYield);
  if (longCounts.size >= MAX_LONG_COUNTS) longCounts.delete(longCounts.keys().next().value!);
  longCounts.set(key, tokens);
  return tokens;
}

/** The number of leading characters with at most `limit` tokens; in whole pieces, except for a long one. */
export async function charactersWithin(text: string, limit: number): Promise<number> {
  const maybeYield = cooperativeYield();
  let tokens = 0;
  let pauseAt = CHARACTERS_PER_YIELD;
  try {
    for (const { 0: piece, index } of text.matchAll(PIECES)) {
      if (index >= pauseAt) {
        pauseAt = index + CHARACTERS_PER_YIELD;
        const wait = maybeYield();
        if (wait) await wait;
      }
      // Avoids counting a long piece as a whole.
      const isMore =
        piece.length > (limit - tokens) * LONGEST_TOKEN ||
        (piece.length > LONG_PIECE && (await exceeds(piece, limit - tokens, maybeYield)));
      const whole = isMore ? Infinity : await tokensOf(piece, maybeYield);
      if (tokens + whole > limit) return index + (await startWithin(piece, limit - tokens, maybeYield));
      tokens += whole;
    }
    return text.length;
  } finally {
    scratch.fill(0);
  }
}

/** The longest half, quarter, … of a piece that fits. From short to long, so that the work depends on the result. */
async function startWithin(piece: string, limit: number, maybeYield: CooperativeYield): Promise<number> {
  if (limit <= 0 || piece.length <= CACHED_LENGTH) return 0;
  const lengths: number[] = [];
  for (let length = piece.length >> 1; length > 0; length >>= 1) lengths.push(length);
  let fitting = 0;
  for (const length of lengths.reverse()) {
    const start = /[\ud800-\udbff]/.test(piece[length - 1]!) ? length - 1 : length;
    const fits = start * MAX_TOKENS_PER_UNIT <= limit || (await tokensOf(piece.slice(0, start), maybeYield)) <= limit;
    if (!fits) break;
    fitting = start;
  }
  return fitting;
}

/** A UTF-16 unit has at most three bytes, and a token at least one. */
const MAX_TOKENS_PER_UNIT = 3;
