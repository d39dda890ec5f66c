/** The words of a text that say what it is about: their stems, their weight by rarity, and how alike two of them are. */
import {
  fold,
  rarityOf,
  scriptRuns,
  stem,
  stopWords,
  vectorIdOf,
  WORD,
  wordSimilarities,
} from '../../../text/index.js';
import type { WordSpan } from './change-words.js';

export interface ContentWord extends WordSpan {
  readonly stem: string;
  readonly folded: string;
  /** From 0 for the most frequent words to 1. */
  readonly weight: number;
  readonly vector: number | undefined;
  /** With a capital within a sentence, or spelled like a name. */
  readonly is_name: boolean;
}

/** Common words of other languages, and English words that say little of a subject. */
const COMMON = new Set(
  (
    'go goes going went gone get gets got getting come comes came take takes took taken make makes made put puts keep keeps kept use uses used using need needs want wants like likes really still already also too well back ' +
    'per each every everything everyone everybody nobody nothing someone something anyone anything one ones thing things way lot bit time times day days week weeks month months year years today tomorrow yesterday ' +
    'hour hours minute minutes min mins second seconds sec night nights percent dollar dollars usd euro euros eur pound pounds quid gbp franc francs cent cents uhr prozent stunden minuten heures horas ' +
    'us via around about near yet ever even quite because until till within without upon along across next last first second third same another ' +
    'der die das den dem des ein eine einen einem einer und oder aber ist sind war wird werden hat haben wir ich ihr sie er es mit auf aus bei nach von vom zum zur zu im in am an um für über unter vor zwischen gegen ohne durch während seit beim wieder immer alle jeder jede jedes dass sich nicht auch noch nur schon sehr mein meine unser unsere dein seine ' +
    'le la les un une des du de et ou est sont était a ont il elle on nous vous je tu mon ma mes notre nos son sa ses leur au aux en dans sur pour par avec sans chez que qui se ce cette pas plus très ' +
    'el los las unos unas y o es son era fue ha han yo tú él ella nosotros mi mis tu su sus nuestro nuestra con sin para por como más muy se lo al del que hay está están ' +
    'il lo gli i uno e è sono ho abbiamo io noi mio mia nostro con per tra fra di da non che si o os as um uma eu nós meu minha nosso com sem para não het een van ik wij ons onze met voor niet te zijn was'
  ).split(' '),
);

/** Weight of a word without a vector, such as a name. */
const UNKNOWN = 1;
/** A pair of Han letters. */
const PAIR = 0.6;

const isHidden = (hidden: readonly WordSpan[], start: number, end: number): boolean =>
  hidden.some((one) => start < one.end && end > one.start);

/** `hidden`: parts of the text that are no subject, such as values. */
export function contentWordsIn(text: string, hidden: readonly WordSpan[]): ContentWord[] {
  const found: ContentWord[] = [];
  let sentenceStart = true;
  let last = 0;
  for (const { 0: word, index } of text.matchAll(WORD)) {
    const gap = text.slice(last, index);
    if (/[.!?:;\n–—。！？；]/.test(gap)) sentenceStart = true;
    last = index + word.length;
    const starts = sentenceStart;
    sentenceStart = false;
    let at = index;
    for (const { text: run, unspaced } of scriptRuns(word)) {
      const start = at;
      at += run.length;
      if (unspaced) found.push(...pairsOf(run, start).filter((one) => !isHidden(hidden, one.start, one.end)));
      else if (!isHidden(hidden, start, at)) {
        const one = wordAt(run, start, starts);
        if (one) found.push(one);
      }
    }
  }
  return found;
}

/** Letters of pronouns, particles and common verbs. */
const COMMON_HAN = /[的了是在我们你他她它不也都和与有这那就到把被给从每上去来会要很已经家个]/u;

function pairsOf(run: string, start: number): ContentWord[] {
  const pairs: ContentWord[] = [];
  for (let at = 0; at + 1 < run.length; at++) {
    const pair = run.slice(at, at + 2);
    if (COMMON_HAN.test(pair)) continue;
    pairs.push({
      stem: pair,
      folded: pair,
      weight: PAIR,
      vector: undefined,
      is_name: false,
      start: start + at,
      end: start + at + 2,
    });
  }
  return pairs;
}

function wordAt(word: string, start: number, starts_sentence: boolean): ContentWord | undefined {
  const bare = word.replace(/['’](?:s|re|ve|ll|d|m|t)?$/i, '').replace(/^(?:[ldjtmnsc]|qu)['’]/i, '');
  const folded = fold(bare);
  if (
    folded.length < 2 ||
    stopWords.has(folded.replace(/['’]/g, '')) ||
    COMMON.has(folded) ||
    COMMON.has(bare.toLowerCase())
  )
    return undefined;
  const vector = vectorIdOf(folded);
  const rarity = vector === undefined ? UNKNOWN : rarityOf(vector);
  const is_name =
    /[\p{L}]/u.test(bare) && (/\p{Ll}\p{Lu}|^\p{Lu}{2,}|\d/u.test(bare) || (!starts_sentence && /^\p{Lu}/u.test(bare)));
  const weight = is_name ? Math.max(0.8, rarity) : rarity;
  return { stem: stem(folded), folded, weight: weight ** 2, vector, is_name, start, end: start + word.length };
}

/** Similarity of two words from which they mean much the same. */
const ALIKE = 0.5;
const MIN_COMPOUND = 4;

/** From 0 to 1. */
export function likeness(a: ContentWord, b: ContentWord): number {
  if (a.stem === b.stem) return 1;
  const [short, long] = a.folded.length <= b.folded.length ? [a.folded, b.folded] : [b.folded, a.folded];
  // "Kaltmiete" is about "kalt" and "Miete".
  if (
    short.length >= MIN_COMPOUND &&
    long.length >= short.length + 3 &&
    (long.startsWith(short) || long.endsWith(short))
  )
    return 0.8;
  if (a.is_name || b.is_name || a.vector === undefined || b.vector === undefined) return 0;
  const similarity = wordSimilarities([a.vector], b.vector)[0]!;
  return similarity < ALIKE ? 0 : Math.min(0.7, similarity);
}
