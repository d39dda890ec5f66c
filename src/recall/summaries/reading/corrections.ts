/** Corrections: a statement that gives a value anew replaces the older value, which then stands as "(before: …)". */
import type { CooperativeYield } from '../../../kernel/index.js';
import { factStated } from '../../extraction/english/extraction.js';
import { sameFact } from '../../extraction/english/same-fact.js';
import type { ExtractedFact } from '../../extraction/extractor.js';
import type { TextSource } from '../sources.js';
import {
  announcesChange,
  changedValues,
  concludes,
  correctsOpenly,
  deniedName,
  hintsAtChange,
  isDenied,
  swappedName,
  withoutLead,
  withoutMarks,
} from './correction-marks.js';
import { isRelated, meantBy, type NewValues, RECENT, reachOf, type Statement } from './meant-values.js';
import { overlaps, type Replacement, sinceOf, withoutNow, withReplacements, withUnits } from './replacements.js';
import { type Mention, mentionsIn, specificTerms, topicTerms } from './value-contexts.js';
import { type StatedValue, valuesIn } from './values.js';

export interface Correction {
  /** The text with the new values; undefined if the statement does not hold any more. */
  readonly text: string | undefined;
  /** The old values as the statement has them. */
  readonly old: readonly string[];
  /** The old values that have a new one. */
  readonly replaced: readonly Replacement[];
  /** Index of the source that corrects it; of several, the last. */
  readonly by: number;
  /** Indexes of the statements whose new values the text has. */
  readonly merged: readonly number[];
}

/** Earlier statements that a correction is compared with. */
const MAX_BACK = 500;

/** By index of the statement, how it was corrected by a later one. */
export async function correctionsOf(
  statements: readonly Statement[],
  sources: readonly TextSource[],
  names: ReadonlySet<string>,
  maybe_yield: CooperativeYield,
): Promise<ReadonlyMap<number, Correction>> {
  const corrector = new Corrector(statements, sources, names);
  for (const at of statements.keys()) {
    await maybe_yield();
    corrector.read(at);
  }
  corrector.dropConclusions();
  return corrector.corrections;
}

/** Reads statements in order, each against those before it. */
class Corrector {
  readonly #statements: readonly Statement[];
  readonly #sources: readonly TextSource[];
  readonly #names: ReadonlySet<string>;
  readonly #mentions: Mention[][] = [];
  readonly #corrections = new Map<number, Correction>();
  readonly #replaced = new Map<number, Replacement[]>();
  /** By index of a correction, the statement that has its new value. */
  readonly #mergedInto = new Map<number, number>();
  /** By whom it is about, subject and slot, the last statement that the rules of extraction read. */
  readonly #slots = new Map<string, { readonly at: number; readonly fact: ExtractedFact }>();

  constructor(statements: readonly Statement[], sources: readonly TextSource[], names: ReadonlySet<string>) {
    this.#statements = statements;
    this.#sources = sources;
    this.#names = names;
  }

  get corrections(): ReadonlyMap<number, Correction> {
    return this.#corrections;
  }

  read(at: number): void {
    const statement = this.#statements[at]!;
    const mentions = mentionsIn(statement.text, this.#names);
    this.#mentions.push(mentions);
    if (statement.derived) return;
    this.#replaceSlot(at, statement);
    this.#replaceName(at, statement);
    this.#replaceSwapped(at, statement);
    const stated = mentions.map(({ value }) => value);
    const denied = stated.filter((value) => isDenied(statement.text, value));
    if (denied.length > 0) {
      const kept = stated.filter((value) => !denied.includes(value));
      const news = kept.length > 0 ? kept : this.#laterInTurn(at);
      for (const value of denied) this.#replaceDenied(at, value, news);
      return;
    }
    const announced = this.#isAnnounced(at);
    const changed = new Set(changedValues(statement.text).map(({ index }) => index));
    const hinted = hintsAtChange(statement.text);
    const given = mentions.filter(({ value }) => announced || hinted || changed.has(value.index));
    for (const kind of new Set(given.map(({ value }) => value.kind))) {
      const some = given.filter(({ value }) => value.kind === kind);
      const hints = !announced && !some.some(({ value }) => changed.has(value.index));
      this.#replaceMeant(at, this.#given(at, some, announced), hints);
    }
  }

  /** Drops what an assistant concluded from an old value just after it. */
  dropConclusions(): void {
    for (const [from, { by }] of [...this.#corrections]) {
      const last = this.#statements[from]!.source + RECENT;
      for (let i = from + 1; i < this.#statements.length && this.#statements[i]!.source <= last; i++) {
        const { text, derived, source } = this.#statements[i]!;
        const old = this.#mentions[i]!.map(({ value }) => value.text);
        if (!derived || source >= by || this.#corrections.has(i) || old.length === 0 || !concludes(text)) continue;
        this.#corrections.set(i, { text: undefined, old, replaced: [], by, merged: [] });
      }
    }
  }

  /** "Lena lives in Hamburg", later "Lena lives in Munich": a slot that the rules of extraction know. */
  #replaceSlot(at: number, { source, text }: Statement): void {
    const fact = factStated({ ...this.#sources[source]!, text: withoutLead(text).replace(NOW, '') });
    if (!fact || fact.slot === '' || fact.kind !== 'note') return;
    const slot = `${this.#sources[source]!.about ?? ''}\n${fact.subject}\n${fact.slot}`;
    const before = this.#slots.get(slot);
    this.#slots.set(slot, { at, fact });
    if (!before || this.#statements[before.at]!.source === source) return;
    if (sameFact(fact, before.fact) !== 'contradicts') return;
    const value = withoutNow(before.fact.value);
    const index = this.#statements[before.at]!.text.indexOf(value);
    const news = named(withoutNow(fact.value), 0);
    const now = index < 0 || fact.negated ? undefined : withUnits([asValue(news)], [asValue(named(value, index))]);
    this.#note(before.at, [named(value, index)], now, at);
  }

  #replaceName(at: number, { text, topic }: Statement): void {
    const denied = deniedName(text);
    if (!denied) return;
    for (const [i, other] of this.#before(at)) {
      const index = other.text.toLowerCase().indexOf(denied.old.toLowerCase());
      if (index < 0 || this.#corrections.has(i)) continue;
      if (!denied.counted && !isRelated(other.topic, topic, denied.old)) continue;
      const old = other.text.slice(index, index + denied.old.length);
      this.#note(i, [named(old, index)], [named(denied.name, 0)], at);
    }
  }

  /** "Four songs by Elgar", later "we swapped the Elgar for three part-songs". */
  #replaceSwapped(at: number, { text }: Statement): void {
    const swapped = swappedName(text);
    if (!swapped) return;
    for (const [i, other] of this.#before(at)) {
      const index = other.text.indexOf(swapped.old);
      if (index < 0 || other.derived || this.#corrections.has(i)) continue;
      const old = named(swapped.old, index);
      this.#note(i, [old], [named(`${swapped.old} (replaced by ${swapped.name})`, index)], at);
      return;
    }
  }

  /** Every earlier statement of a denied value. */
  #replaceDenied(at: number, old: StatedValue, given: readonly StatedValue[]): void {
    const { source, topic } = this.#statements[at]!;
    const own = this.#termsOf(at);
    const found: { readonly i: number; readonly value: StatedValue; readonly news: StatedValue | undefined }[] = [];
    for (const [i, other] of this.#before(at))
      for (const { value, clause } of this.#mentions[i]!) {
        if (!isSameValue(value, old)) continue;
        const news = given.findLast(({ kind, key }) => key !== value.key && (kind === value.kind || kind === 'number'));
        const near = isRelated(reachOf(other), own, '');
        // A plan that changes leaves what was done on that day.
        if (!near && isTime(value) && isPast(other.text, clause)) continue;
        const related = near || isRelated(other.topic, topic, '');
        // "Not 5" is about 5 % if the new value is a percentage, and about no number of people.
        const otherKind = news === undefined && value.kind !== 'number' && given.some(({ kind }) => kind !== 'number');
        const bare = value.kind === 'number' && other.source < source - RECENT;
        if (!related && old.kind === 'number' && (otherKind || bare)) continue;
        found.push({ i, value, news });
      }
    // A bare number has the unit of the new value, if anything has.
    const exact = found.filter(({ value, news }) => news?.kind === value.kind && value.kind !== 'number');
    for (const { i, value, news } of exact.length > 0 && old.kind === 'number' ? exact : found)
      this.#note(i, [value], news && withUnits([news], [value]), at);
  }

  /** The earlier statement with the same kind of value that shares most with the correction. */
  #replaceMeant(at: number, given: NewValues, hinted: boolean): void {
    const news = given.mentions.map(({ value }) => value);
    let best: Best | undefined;
    let inMonths = 0;
    let bare = 0;
    for (const [i, other] of this.#before(at)) {
      if (other.derived) continue;
      const meant = meantBy(given, other, this.#mentions[i]!);
      // A mere hint has to be about the very same.
      if (meant === undefined || (hinted && !(meant.common >= 2 && !meant.apart))) continue;
      if (meant.inMonth) inMonths += 1;
      if (meant.bare && meant.common === 0) bare += 1;
      const score = meant.score + i / this.#statements.length;
      if (meant.accepted && (!best || score >= best.score)) best = { i, score, olds: meant.olds, common: meant.common };
    }
    // Of several days in the month, or bare answers, only a common word tells which is meant.
    if (!best || (inMonths >= 2 && best.score < 3) || (bare >= 2 && best.common === 0)) return;
    const { i, olds } = best;
    this.#note(i, olds, withUnits(news, olds), at);
    this.#replaceElsewhere(at, best, news);
  }

  /** What new values are said of: the terms of their sentence, or those of the sentence before. */
  #given(at: number, mentions: readonly Mention[], announced: boolean): NewValues {
    const { source, text, own } = this.#statements[at]!;
    const about = this.#termsOf(at);
    const says_more = about.size > 0;
    const before = this.#statements[at - 1];
    if ((announced || !says_more) && before?.source === source)
      for (const term of specificTerms(before.own)) about.add(term);
    const open = announced || correctsOpenly(text);
    return { source, mentions, about, own, says_more, open };
  }

  #termsOf(at: number): Set<string> {
    return specificTerms(topicTerms(withoutMarks(this.#statements[at]!.text), this.#names));
  }

  /** "The handover was moved. The keys come on 12 March." */
  #isAnnounced(at: number): boolean {
    const before = this.#statements[at - 1];
    if (before === undefined || before.source !== this.#statements[at]!.source) return false;
    return this.#mentions[at - 1]!.length === 0 && announcesChange(before.text);
  }

  /** What repeats the old value, and what an assistant made of it. */
  #replaceElsewhere(at: number, { i: best, olds }: Best, news: readonly StatedValue[]): void {
    const about = reachOf(this.#statements[best]!);
    for (const [i, other] of this.#before(at)) {
      if (i === best || this.#corrections.has(i)) continue;
      const again = this.#mentions[i]!.map(({ value }) => value).filter((value) =>
        olds.some((old) => old.kind === value.kind && old.key === value.key && value.kind !== 'number'),
      );
      if (again.length === 0 || !isRelated(specificTerms(other.topic), specificTerms(about), '')) continue;
      this.#note(i, again, withUnits(news, again), at);
    }
  }

  *#before(at: number): Generator<readonly [number, Statement]> {
    const { source } = this.#statements[at]!;
    for (let i = Math.max(0, at - MAX_BACK); i < at; i++)
      if (this.#statements[i]!.source < source && this.#mayCorrect(source, this.#statements[i]!.source))
        yield [i, this.#statements[i]!];
  }

  /** What is about nobody, such as an answer of an assistant, may correct anybody and be corrected by them. */
  #mayCorrect(source: number, earlier: number): boolean {
    const [own, other] = [this.#sources[source]!.about, this.#sources[earlier]!.about];
    return own === undefined || other === undefined || own === other;
  }

  /** The values of the whole turn. */
  #laterInTurn(at: number): StatedValue[] {
    const { source } = this.#statements[at]!;
    const values: StatedValue[] = [];
    for (let i = at; this.#statements[i]?.source === source; i++) values.push(...valuesIn(this.#statements[i]!.text));
    return values;
  }

  /** `at`: index of the statement that corrects. */
  #note(i: number, olds: readonly StatedValue[], news: readonly StatedValue[] | undefined, at: number): void {
    const { text, derived, source } = this.#statements[i]!;
    const by = this.#statements[at]!.source;
    const root = this.#mergedInto.get(i);
    if (root !== undefined && news !== undefined) this.#noteAgain(root, olds, news, at);
    const before = this.#corrections.get(i);
    const old = [...new Set([...(before?.old ?? []), ...olds.map((value) => value.text)])];
    const merged = [...(before?.merged ?? []), at];
    // What an assistant concluded from an old value does not hold with the new one.
    if (news === undefined || derived || root !== undefined || (before !== undefined && before.text === undefined)) {
      // The same statement may have named the new value by another rule.
      if (before?.by === by && before.text !== undefined) return;
      this.#corrections.set(i, { text: undefined, old, replaced: [], by, merged: [] });
      return;
    }
    const since = sinceOf(this.#sources[source]!, this.#sources[by]!);
    const replaced = this.#replaced.get(i) ?? [];
    this.#replaced.set(i, replaced);
    for (const [n, value] of olds.entries()) {
      const now = news[Math.min(n, news.length - 1)]!.text;
      const at = replaced.findIndex((one) => overlaps(one.old, value));
      if (at < 0) replaced.push({ old: value, since, before: [value.text], now });
      // Two rules may read the same correction.
      else if (before?.by !== by)
        replaced[at] = { ...replaced[at]!, since, before: [replaced[at]!.now, ...replaced[at]!.before], now };
    }
    this.#mergedInto.set(at, i);
    this.#corrections.set(i, { text: withReplacements(text, replaced), old, replaced, by, merged });
  }

  /** A statement whose value was replaced by one that does not hold any more either. */
  #noteAgain(root: number, olds: readonly StatedValue[], news: readonly StatedValue[], at: number): void {
    const present = (this.#replaced.get(root) ?? []).filter(({ now }) =>
      olds.some((old) => now.includes(old.text) || old.text.includes(now)),
    );
    const spans = present.map(({ old }) => old);
    if (spans.length > 0) this.#note(root, spans, withUnits(news, spans), at);
  }
}

/** The earlier statement that a correction means. */
interface Best {
  readonly i: number;
  readonly common: number;
  readonly score: number;
  readonly olds: readonly StatedValue[];
}

/** "Lena now works at Bosch." */
const NOW = /(?<![\p{L}])(?:now|currently|nowadays|these days|already) (?=\p{Ll})/giu;

const isTime = ({ kind }: StatedValue): boolean => kind === 'date' || kind === 'weekday' || kind === 'time';
const PAST = /\b(?:was|were|went|met|came|saw|had|got|did|took|said|told|heard|read|bought|sent|\p{L}{2,}ed)\b/iu;
const isPast = (text: string, clause: ReadonlySet<string>): boolean => clause.size > 0 && PAST.test(text);

const named = (text: string, index: number): StatedValue => ({ kind: 'name', text, index, key: text });

/** A name that is one value, such as an amount, as that value. */
function asValue(name: StatedValue): StatedValue {
  const [only] = valuesIn(name.text);
  return only?.text === name.text ? { ...only, index: name.index } : name;
}

const isSameValue = (value: StatedValue, old: StatedValue): boolean =>
  value.key === old.key && (value.kind === old.kind || old.kind === 'number' || value.kind === 'number');
