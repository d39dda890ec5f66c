/** Snippets: the best matching part of a text, with the words of the question highlighted. */
import type { CooperativeYield } from '../../kernel/index.js';
import { fold, ownCopy, scriptRuns, stem, WORD, wordsOf } from '../../text/index.js';

interface Range {
  start: number;
  end: number;
}

export interface Snippet {
  readonly snippet: string;
  readonly highlights: Range[];
}

/** Characters of a part: parts are scanned until one has a word of the question. */
const PART = 10_000;
/** Text beyond this is not indexed either. */
const MAX_SCANNED = 100_000;
const LENGTH = 240;

interface Match extends Range {
  readonly term: string;
}

/** A cache of terms by word: most words recur. */
const known = new Map<string, readonly string[]>();
const MAX_KNOWN = 20_000;
const MAX_KNOWN_LENGTH = 40;

function termsOf(word: string): readonly string[] {
  if (word.length > MAX_KNOWN_LENGTH) return wordsOf(word).map(stem);
  let terms = known.get(word);
  if (!terms) {
    if (known.size >= MAX_KNOWN) known.clear();
    const own = ownCopy(word);
    terms = wordsOf(own).map(stem);
    known.set(own, terms);
  }
  return terms;
}

function matchesIn(text: string, terms: ReadonlySet<string>): Match[] {
  const matches: Match[] = [];
  const look = (word: string, start: number, found = termsOf(word)) => {
    const term = found.find((one) => terms.has(one));
    if (term !== undefined) matches.push({ start, end: start + word.length, term });
  };
  for (const { 0: run, index } of text.matchAll(WORD)) {
    let at = index;
    for (const part of scriptRuns(run)) {
      if (part.unspaced) lookAtLetters(part.text, at, look);
      else look(part.text, at);
      at += part.text.length;
    }
  }
  return matches;
}

/** In scripts without spaces, each letter and each pair of letters may be a word. */
function lookAtLetters(
  text: string,
  start: number,
  look: (word: string, start: number, terms?: readonly string[]) => void,
): void {
  let at = start;
  let before = '';
  for (const letter of text) {
    const pair = before + letter;
    if (before !== '') look(pair, at - before.length, [fold(pair.normalize('NFKC'))]);
    look(letter, at);
    at += letter.length;
    before = letter;
  }
}

/** The first match of the window with the most distinct words of the question, and how many these are. */
function bestWindow(matches: readonly Match[]): { readonly first: Match | undefined; readonly words: number } {
  let best: Match | undefined;
  let most = 0;
  let from = 0;
  const within = new Map<string, number>();
  for (const [at, match] of matches.entries()) {
    within.set(match.term, (within.get(match.term) ?? 0) + 1);
    // One word may be longer than a snippet.
    while (from < at && match.end - matches[from]!.start > LENGTH) {
      const { term } = matches[from++]!;
      const left = within.get(term)! - 1;
      if (left === 0) within.delete(term);
      else within.set(term, left);
    }
    if (within.size > most) [most, best] = [within.size, matches[from]];
  }
  return { first: best, words: most };
}

const bestStart = (matches: readonly Match[]): Match | undefined => bestWindow(matches).first;

/** Joins adjacent and overlapping matches. */
function merged(matches: readonly Match[]): Range[] {
  const all: Range[] = [];
  for (const { start, end } of [...matches].sort((a, b) => a.start - b.start)) {
    const last = all.at(-1);
    if (last && start <= last.end) last.end = Math.max(last.end, end);
    else all.push({ start, end });
  }
  return all;
}

/** Never splits a surrogate pair. */
function cut(text: string, at: number): number {
  const unit = text.charCodeAt(at);
  return unit >= 0xdc00 && unit <= 0xdfff ? at - 1 : at;
}

/** The matches in the first part that has any. */
async function firstMatches(text: string, terms: ReadonlySet<string>, maybeYield: CooperativeYield): Promise<Match[]> {
  const end = Math.min(text.length, MAX_SCANNED);
  if (terms.size === 0) return [];
  for (let from = 0; from < end; ) {
    const space = from + PART < end ? text.lastIndexOf(' ', from + PART) : -1;
    const to = space > from ? space : cut(text, Math.min(end, from + PART));
    const matches = matchesIn(text.slice(from, to), terms);
    if (matches.length > 0) {
      return matches.map(({ start, end, term }) => ({ start: start + from, end: end + from, term }));
    }
    from = to;
    await maybeYield();
  }
  return [];
}

/** Where the part of a text with the most distinct words of the question begins; undefined if it has none. */
export async function bestPlace(
  text: string,
  terms: ReadonlySet<string>,
  maybeYield: CooperativeYield,
): Promise<number | undefined> {
  let most = 0;
  let best: number | undefined;
  for (let from = 0; from < text.length && from < MAX_SCANNED && terms.size > 0; from += PART) {
    const { first, words } = bestWindow(matchesIn(text.slice(from, cut(text, from + PART + LENGTH)), terms));
    if (words > most) [most, best] = [words, from + first!.start];
    await maybeYield();
  }
  return best;
}

/** A snippet of the first text with a word of the question, else of the first text. */
export async function snippetAmong(
  texts: readonly string[],
  terms: ReadonlySet<string>,
  maybeYield: CooperativeYield,
): Promise<Snippet> {
  let first: Snippet | undefined;
  for (const text of texts) {
    const found = await snippetOf(text, terms, maybeYield);
    if (found.highlights.length > 0) return found;
    first ??= found;
  }
  return first ?? { snippet: '', highlights: [] };
}

const GO_ON: CooperativeYield = () => undefined;

export const snippetOf = async (
  text: string,
  terms: ReadonlySet<string>,
  maybeYield: CooperativeYield = GO_ON,
): Promise<Snippet> => shownAt(text, await firstMatches(text, terms, maybeYield));

export const beginningOf = (text: string): string => shownAt(text, []).snippet;

function shownAt(text: string, matches: readonly Match[]): Snippet {
  const first = bestStart(matches);
  let start = first && text.length > LENGTH ? Math.max(0, first.start - 40) : 0;
  if (start > 0) {
    const space = text.indexOf(' ', start);
    start = space >= 0 && space < first!.start ? space + 1 : cut(text, start);
  }
  let end = Math.min(text.length, start + LENGTH);
  if (end < text.length) {
    const space = text.lastIndexOf(' ', end);
    end = space > start + LENGTH / 2 ? space : cut(text, end);
  }
  const before = start > 0 ? '…' : '';
  const shift = before.length - start;
  const highlights = merged(matches)
    .map((match) => ({ start: Math.max(match.start, start) + shift, end: Math.min(match.end, end) + shift }))
    .filter((range) => range.start < range.end);
  return { snippet: before + text.slice(start, end) + (end < text.length ? '…' : ''), highlights };
}
