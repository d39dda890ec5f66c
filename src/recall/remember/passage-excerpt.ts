/** Cuts a passage that is too long: the part that begins with the sentence that answers, or with the text. */
import { cooperativeYield } from '../../kernel/index.js';
import { analyse, charactersWithin, countTokens } from '../../text/index.js';
import { bestPlace } from '../ranking/snippets.js';
import { cutAt, excerptOf, sentenceStart } from '../windows/cut.js';

/** Minimum useful excerpt, in tokens. */
const MIN_TOKENS = 32;
/** Tokens of the marks of an excerpt. */
const MARKS = 8;

interface PassageExcerpt {
  readonly text: string;
  readonly token_count: number;
}

/** Undefined if too little of it would fit. `end`: what follows the excerpt, such as a mark. */
export async function passageExcerpt(
  text: string,
  query: string,
  tokens: number,
  end: string,
): Promise<PassageExcerpt | undefined> {
  const room = tokens - MARKS - (await countTokens(end));
  if (room < MIN_TOKENS) return undefined;
  const whole = cutAt(text, await charactersWithin(text, room));
  const best = await bestPlace(text, new Set(analyse(query)), cooperativeYield());
  const from = best === undefined || best < whole / 2 ? 0 : sentenceStart(text, best);
  const rest = text.slice(from);
  const shown = excerptOf(text, from, cutAt(rest, await charactersWithin(rest, room))) + end;
  const token_count = await countTokens(shown);
  return token_count <= tokens ? { text: shown, token_count } : undefined;
}
