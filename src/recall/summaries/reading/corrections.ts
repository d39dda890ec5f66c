/** Corrections: a statement that gives a value anew replaces the older value, which then stands as "(before: …)". */
import type { CooperativeYield } from '../../../kernel/index.js';
import { parseDate } from '../../../text/index.js';
import { factStated } from '../../extraction/english/extraction.js';
import { sameFact } from '../../extraction/english/same-fact.js';
import type { ExtractedFact } from '../../extraction/extractor.js';
import type { TextSource } from '../sources.js';
import { changedValues, concludes, correctsOpenly, deniedName, isDenied, withoutLead } from './correction-marks.js';
import { type StatedValue, valuesIn } from './values.js';

/** A statement as it was read. */
export interface Statement {
  readonly source: number;
  readonly text: string;
  /** Whether an assistant or a tool says it. */
  readonly derived: boolean;
  /** Stems of its turn, and of the question that the turn answers. */
  readonly topic: ReadonlySet<string>;
}

export interface Correction {
  /** The text with the new value; undefined if the statement does not hold any more. */
  readonly text: string | undefined;
  /** The old values as the statement has them. */
  readonly old: readonly string[];
  /** Index of the source that corrects it. */
  readonly by: number;
}

/** Turns back in which a value without a common word can be meant. */
const RECENT = 3;
/** Earlier statements that a correction is compared with. */
const MAX_BACK = 500;

/** By index of the statement, how it was corrected by a later one. */
export async function correctionsOf(
  statements: readonly Statement[],
  sources: readonly TextSource[],
  maybe_yield: CooperativeYield,
): Promise<ReadonlyMap<number, Correction>> {
  const corrector = new Corrector(statements, sources);
  for (const at of statements.keys()) {
    await maybe_yield();
    corrector.read(at);
  }
  corrector.dropConclusions();
  return corrector.corrections;
}

/** Reads statements in order, each against those before it. */
class Corrector {
  readonly corrections = new Map<number, Correction>();
  readonly #statements: readonly Statement[];
  readonly #sources: readonly TextSource[];
  readonly #values: StatedValue[][] = [];
  /** By whom it is about, subject and slot, the last statement that the rules of extraction read. */
  readonly #slots = new Map<string, { readonly at: number; readonly fact: ExtractedFact }>();

  constructor(statements: readonly Statement[], sources: readonly TextSource[]) {
    this.#statements = statements;
    this.#sources = sources;
  }

  read(at: number): void {
    const statement = this.#statements[at]!;
    const stated = valuesIn(statement.text);
    this.#values.push(stated);
    if (statement.derived) return;
    this.#replaceSlot(at, statement);
    this.#replaceName(at, statement);
    const denied = stated.filter((value) => isDenied(statement.text, value));
    if (denied.length > 0) {
      const kept = stated.filter((value) => !denied.includes(value));
      const news = kept.length > 0 ? kept : this.#laterInTurn(at);
      for (const value of denied) this.#replaceDenied(at, value, news);
      return;
    }
    const changed = changedValues(statement.text);
    for (const kind of new Set(changed.map((value) => value.kind)))
      this.#replaceMeant(
        at,
        changed.filter((value) => value.kind === kind),
      );
  }

  /** Drops what an assistant concluded from an old value just after it. */
  dropConclusions(): void {
    for (const [from, { by }] of [...this.corrections]) {
      const last = this.#statements[from]!.source + RECENT;
      for (let i = from + 1; i < this.#statements.length && this.#statements[i]!.source <= last; i++) {
        const { text, derived, source } = this.#statements[i]!;
        const old = this.#values[i]!.map((value) => value.text);
        if (!derived || source >= by || this.corrections.has(i) || old.length === 0 || !concludes(text)) continue;
        this.corrections.set(i, { text: undefined, old, by });
      }
    }
  }

  /** "Lena lives in Hamburg", later "Lena lives in Munich": a slot that the rules of extraction know. */
  #replaceSlot(at: number, { source, text }: Statement): void {
    const fact = factStated({ ...this.#sources[source]!, text: withoutLead(text) });
    if (!fact || fact.slot === '' || fact.kind !== 'note') return;
    const slot = `${this.#sources[source]!.about ?? ''}\n${fact.subject}\n${fact.slot}`;
    const before = this.#slots.get(slot);
    this.#slots.set(slot, { at, fact });
    if (!before || this.corrections.has(before.at) || this.#statements[before.at]!.source === source) return;
    if (sameFact(fact, before.fact) !== 'contradicts') return;
    const index = this.#statements[before.at]!.text.indexOf(before.fact.value);
    const old = named(before.fact.value, index);
    this.#note(before.at, [old], index < 0 || fact.negated ? undefined : [named(fact.value, 0)], source);
  }

  #replaceName(at: number, { source, text, topic }: Statement): void {
    const denied = deniedName(text);
    if (!denied) return;
    for (const [i, other] of this.#before(at)) {
      const index = other.text.indexOf(denied.old);
      if (index < 0 || this.corrections.has(i) || !isRelated(other.topic, topic, denied.old)) continue;
      this.#note(i, [named(denied.old, index)], [named(denied.name, 0)], source);
    }
  }

  /** Every earlier statement of a denied value. */
  #replaceDenied(at: number, old: StatedValue, given: readonly StatedValue[]): void {
    const { source, topic } = this.#statements[at]!;
    for (const [i, other] of this.#before(at))
      for (const value of this.#values[i]!) {
        if (!isSameValue(value, old)) continue;
        const news = given.findLast(({ kind, key }) => key !== value.key && (kind === value.kind || kind === 'number'));
        const related = isRelated(other.topic, topic, '');
        // "Not 5" is about 5 % if the new value is a percentage, and about no number of people.
        const otherKind = news === undefined && value.kind !== 'number' && given.some(({ kind }) => kind !== 'number');
        const bare = value.kind === 'number' && other.source < source - RECENT;
        if (!related && old.kind === 'number' && (otherKind || bare)) continue;
        this.#note(i, [value], news && [news], source);
      }
  }

  /** The earlier statement with the same kind of value that shares most with the correction. */
  #replaceMeant(at: number, given: readonly StatedValue[]): void {
    const { source, topic, text } = this.#statements[at]!;
    const { kind } = given[0]!;
    const open = correctsOpenly(text);
    const months = new Set(given.map(({ month }) => month));
    let best: { readonly i: number; readonly score: number; readonly olds: readonly StatedValue[] } | undefined;
    let inMonths = 0;
    for (const [i, other] of this.#before(at)) {
      const olds = this.#values[i]!.filter((value) => value.kind === kind);
      // A statement that repeats one of the new values is not corrected.
      if (other.derived || olds.length === 0 || olds.some(({ key }) => given.some((one) => one.key === key))) continue;
      const common = [...other.topic].filter((one) => hasTerm(topic, one)).length;
      const near = source - other.source <= RECENT;
      const inMonth = kind === 'date' && olds[0]!.month !== undefined && months.has(olds[0]!.month);
      if (inMonth) inMonths += 1;
      // A bare answer: "71" – "wait, 72".
      const bare = near && open && other.text.trim().length <= olds[0]!.text.length + 1;
      if (kind === 'number' ? !bare : common === 0 && !inMonth && !(near && open)) continue;
      const score = common + (near ? 1 : 0) + (inMonth ? 2 : 0) + i / this.#statements.length;
      if (!best || score >= best.score) best = { i, score, olds };
    }
    // Of several days in the month, only a common word tells which is meant.
    if (best && (inMonths < 2 || best.score >= 3)) this.#note(best.i, best.olds, given, source);
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

  #note(i: number, olds: readonly StatedValue[], news: readonly StatedValue[] | undefined, by: number): void {
    const { text, derived, source } = this.#statements[i]!;
    const old = [...(this.corrections.get(i)?.old ?? []), ...olds.map((value) => value.text)];
    // What an assistant concluded from an old value does not hold with the new one.
    const lost = news === undefined || derived || this.corrections.has(i);
    const since = sinceOf(this.#sources[source]!, this.#sources[by]!);
    this.corrections.set(i, { text: lost ? undefined : replaced(text, olds, news, since), old, by });
  }
}

const named = (text: string, index: number): StatedValue => ({ kind: 'name', text, index, key: text });

const isSameValue = (value: StatedValue, old: StatedValue): boolean =>
  value.key === old.key && (value.kind === old.kind || old.kind === 'number' || value.kind === 'number');

/** Whether topics have a term in common, besides one that is given. */
const isRelated = (one: ReadonlySet<string>, other: ReadonlySet<string>, except: string): boolean =>
  [...one].some((term) => !except.toLowerCase().startsWith(term.slice(0, 4)) && hasTerm(other, term));

/** Whether a topic has a term, or a short form of it: "Zbig" for "Zbigniew". */
function hasTerm(topic: ReadonlySet<string>, term: string): boolean {
  if (topic.has(term)) return true;
  if (term.length < 4) return false;
  for (const one of topic) if (one.length >= 4 && (one.startsWith(term) || term.startsWith(one))) return true;
  return false;
}

/** Replaces the values in order. */
function replaced(text: string, olds: readonly StatedValue[], news: readonly StatedValue[], since: string): string {
  let result = text;
  for (const [n, old] of [...olds.entries()].reverse()) {
    const value = news[Math.min(n, news.length - 1)]!;
    const mark = `${value.text} (${since}before: ${old.text})`;
    result = `${result.slice(0, old.index)}${mark}${result.slice(old.index + old.text.length)}`;
  }
  return result;
}

/** The day of the correction, unless both were said on the same day. */
function sinceOf(old: TextSource, news: TextSource): string {
  const [before, at] = [parseDate(old.occurred_at), parseDate(news.occurred_at)];
  if (before === undefined || at === undefined) return '';
  const day = new Date(at).toISOString().slice(0, 10);
  return new Date(before).toISOString().slice(0, 10) === day ? '' : `since ${day}; `;
}
