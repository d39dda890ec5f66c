/** The place that a page of a search ended at, as a text: cursors carry it. */
import type { Place } from './pages.js';

/**
 * Whole numbers in base 36, since it may be of many terms; the score, and what it was measured by, to the last bit. Behind
 * strokes, where stretches ended, and which terms were looked for.
 */
export function writePlace(place: Place): string {
  const { score, shown, stretch, last, up_to, docs, df, read, measures, ends } = place;
  const exact = measures ? [score, measures.mean, measures.deviation, measures.unit, measures.much] : [score];
  const whole = (numbers: readonly number[]) => numbers.map((one) => one.toString(36)).join(' ');
  const stretches = ends.flatMap(({ window, bits, doc_no }) => [window, bits, doc_no]);
  const counts = [shown, stretch, last, up_to, docs, ...df];
  return [exact.join(' '), whole(counts), whole(stretches), whole(read)].join('/');
}

/** Undefined where it is none. */
export function readPlace(text: string): Place | undefined {
  const [first, second, third, fourth] = text.split('/');
  if (first === undefined || second === undefined || third === undefined || fourth === undefined) return undefined;
  const [score = Number.NaN, ...measured] = first.split(' ').map(Number);
  const whole = (part: string) => (part === '' ? [] : part.split(' ')).map((one) => Number.parseInt(one, 36));
  const numbers = whole(second);
  const stretches = whole(third);
  const read = whole(fourth);
  const isPlain = [...numbers, ...stretches, ...read].every((one) => Number.isSafeInteger(one) && one >= 0);
  if (!isPlain || numbers.length < 5 || !(score >= 0)) return undefined;
  const [shown, stretch, last, up_to, docs, ...df] = numbers as [number, number, number, number, number];
  const [mean, deviation, unit, much] = measured as [number, number, number, number];
  const measures = measured.length === 4 ? { mean, deviation, unit, much } : undefined;
  const ends: Place['ends'][number][] = [];
  for (let at = 0; at + 2 < stretches.length; at += 3)
    ends.push({ window: stretches[at]!, bits: stretches[at + 1]!, doc_no: stretches[at + 2]! });
  return { score, shown, stretch, last, up_to, docs, df, read, measures, ends };
}
