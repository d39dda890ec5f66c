/** The part of a text that answers a question best, and where in it the words of the question are. */
import type { GiveWay } from '../../kernel/index.js';
import { fold, ownCopy, partsOf, stem, WORD, wordsOf } from '../../text/index.js';

export interface Snippet {
  readonly snippet: string;
  readonly highlights: { start: number; end: number }[];
}

/** A text is looked at in parts, until one has a word of the question, and no further than it is searched. */
const PART = 10_000;
const LOOKED_AT = 100_000;
const LENGTH = 240;
interface Place {
  readonly start: number;
  readonly end: number;
  readonly term: string;
}

/** The terms of words that were met before: most are met again. */
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

function placesOf(text: string, terms: ReadonlySet<string>): Place[] {
  const places: Place[] = [];
  const look = (word: string, start: number, found = termsOf(word)) => {
    const term = found.find((one) => terms.has(one));
    if (term !== undefined) places.push({ start, end: start + word.length, term });
  };
  for (const { 0: run, index } of text.matchAll(WORD)) {
    let at = index;
    for (const part of partsOf(run)) {
      if (part.unspaced) lookAtLetters(part.text, at, look);
      else look(part.text, at);
      at += part.text.length;
    }
  }
  return places;
}

/** Where no space parts words, each letter and each two of them may be one. */
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

/** The place from which a stretch has the most different words of the question. */
function bestStart(places: readonly Place[]): Place | undefined {
  let best: Place | undefined;
  let most = 0;
  let from = 0;
  const within = new Map<string, number>();
  for (const [at, place] of places.entries()) {
    within.set(place.term, (within.get(place.term) ?? 0) + 1);
    // One word may be longer than all that is shown.
    while (from < at && place.end - places[from]!.start > LENGTH) {
      const { term } = places[from++]!;
      const left = within.get(term)! - 1;
      if (left === 0) within.delete(term);
      else within.set(term, left);
    }
    if (within.size > most) [most, best] = [within.size, places[from]];
  }
  return best;
}

/** Places that meet or overlap are one. */
function merged(places: readonly Place[]): { start: number; end: number }[] {
  const all: { start: number; end: number }[] = [];
  for (const { start, end } of [...places].sort((a, b) => a.start - b.start)) {
    const last = all.at(-1);
    if (last && start <= last.end) last.end = Math.max(last.end, end);
    else all.push({ start, end });
  }
  return all;
}

/** Never between the two halves of a character. */
function cut(text: string, at: number): number {
  const unit = text.charCodeAt(at);
  return unit >= 0xdc00 && unit <= 0xdfff ? at - 1 : at;
}

/** The words of the question in the first part that has any. */
async function firstPlaces(text: string, terms: ReadonlySet<string>, giveWay: GiveWay): Promise<Place[]> {
  const end = Math.min(text.length, LOOKED_AT);
  if (terms.size === 0) return [];
  for (let from = 0; from < end; ) {
    const space = from + PART < end ? text.lastIndexOf(' ', from + PART) : -1;
    const to = space > from ? space : cut(text, Math.min(end, from + PART));
    const places = placesOf(text.slice(from, to), terms);
    if (places.length > 0)
      return places.map(({ start, end, term }) => ({ start: start + from, end: end + from, term }));
    from = to;
    await giveWay();
  }
  return [];
}

/** Of the first of these texts that has a word of the question; where none has, of the first. */
export async function snippetAmong(
  texts: readonly string[],
  terms: ReadonlySet<string>,
  giveWay: GiveWay,
): Promise<Snippet> {
  let first: Snippet | undefined;
  for (const text of texts) {
    const found = await snippetOf(text, terms, giveWay);
    if (found.highlights.length > 0) return found;
    first ??= found;
  }
  return first ?? { snippet: '', highlights: [] };
}

const GO_ON: GiveWay = () => undefined;

export const snippetOf = async (text: string, terms: ReadonlySet<string>, giveWay: GiveWay = GO_ON): Promise<Snippet> =>
  shownAt(text, await firstPlaces(text, terms, giveWay));

/** As much of the beginning as is shown. */
export const beginningOf = (text: string): string => shownAt(text, []).snippet;

function shownAt(text: string, places: readonly Place[]): Snippet {
  const first = bestStart(places);
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
  const highlights = merged(places)
    .map((place) => ({ start: Math.max(place.start, start), end: Math.min(place.end, end) }))
    .filter((place) => place.start < place.end)
    .map((place) => ({ start: place.start + shift, end: place.end + shift }));
  return { snippet: before + text.slice(start, end) + (end < text.length ? '…' : ''), highlights };
}
