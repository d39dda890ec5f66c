/** The part of a text that answers a question best, and where in it the words of the question are. */
import { analyse } from './text-analysis.js';

export interface Snippet {
  readonly snippet: string;
  readonly highlights: { start: number; end: number }[];
}

/** Of a longer text the beginning is looked at. */
const LOOKED_AT = 50_000;
const LENGTH = 240;
const WORD = /[\p{L}\p{N}\p{M}_]+/gu;

interface Place {
  readonly start: number;
  readonly end: number;
  readonly term: string;
}

/** The terms of words that were met before: most are met again. */
const known = new Map<string, readonly string[]>();
const MAX_KNOWN = 20_000;

function termsOf(word: string): readonly string[] {
  let terms = known.get(word);
  if (!terms) {
    if (known.size >= MAX_KNOWN) known.clear();
    known.set(word, (terms = analyse(word)));
  }
  return terms;
}

function placesOf(text: string, terms: ReadonlySet<string>): Place[] {
  const places: Place[] = [];
  if (terms.size === 0) return places;
  for (const { 0: word, index } of text.slice(0, LOOKED_AT).matchAll(WORD)) {
    const term = termsOf(word).find((one) => terms.has(one));
    if (term !== undefined) places.push({ start: index, end: index + word.length, term });
  }
  return places;
}

/** The place from which a stretch has the most different words of the question. */
function bestStart(places: readonly Place[]): Place | undefined {
  let best: Place | undefined;
  let most = 0;
  let from = 0;
  const within = new Map<string, number>();
  for (const place of places) {
    within.set(place.term, (within.get(place.term) ?? 0) + 1);
    while (place.end - places[from]!.start > LENGTH) {
      const { term } = places[from++]!;
      const left = within.get(term)! - 1;
      if (left === 0) within.delete(term);
      else within.set(term, left);
    }
    if (within.size > most) [most, best] = [within.size, places[from]];
  }
  return best;
}

/** Never between the two halves of a character. */
function cut(text: string, at: number): number {
  const unit = text.charCodeAt(at);
  return unit >= 0xdc00 && unit <= 0xdfff ? at - 1 : at;
}

export function snippetOf(text: string, terms: ReadonlySet<string>): Snippet {
  const places = placesOf(text, terms);
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
  const highlights = places
    .filter((place) => place.start >= start && place.end <= end)
    .map((place) => ({ start: place.start + shift, end: place.end + shift }));
  return { snippet: before + text.slice(start, end) + (end < text.length ? '…' : ''), highlights };
}
