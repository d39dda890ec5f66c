/** The statements of a conversation that a summary may keep, each with the terms it carries and its weight. */
import type { CooperativeYield } from '../../../kernel/index.js';
import { unitsOf } from '../../../text/index.js';
import { type Statement as Comparable, statementOf } from '../../extraction/english/statements.js';
import { roleOf, type SourceRole, type TextSource } from '../sources.js';
import { missingSubject } from './answers.js';
import { type CarriedTerms, carriedTerms, namesIn } from './carried-terms.js';
import { clausesOf, wordCount } from './clauses.js';
import { type Correction, correctionsOf, type Statement } from './corrections.js';
import {
  agrees,
  chosenOption,
  earnestness,
  importance,
  isCourtesy,
  isExclamation,
  isQuestion,
  muses,
  refuses,
  serves,
  suggests,
  withoutProposing,
  withoutTalk,
} from './speech-acts.js';

export interface Candidate {
  /** Index of its source. */
  readonly source: number;
  /** Further sources: the question that it answers, the agreement that makes it a decision, its correction. */
  readonly also: readonly number[];
  /** Index among all clauses read: summaries keep the order. */
  readonly order: number;
  /** The text between the clause before it in the same sentence and this one; undefined at the start of a sentence. */
  readonly gap: string | undefined;
  readonly text: string;
  readonly terms: CarriedTerms;
  readonly words: number;
  readonly weight: number;
  readonly statement: Comparable;
}

/** Sentences read, evenly from all sources. */
const MAX_READ = 20_000;
const MIN_READ_PER_SOURCE = 2;
const MAX_LENGTH = 600;
/** Characters of a block of code that are read, and of a line. */
const MAX_CODE = 20_000;
const MAX_CODE_LINE = 200;
/** Characters of a turn that tell what it is about. */
const MAX_TOPIC = 2000;

const ROLE_WEIGHT: Readonly<Record<SourceRole, number>> = {
  user: 1,
  assistant: 0.45,
  none: 1,
  tool: 0.45,
  system: 0.3,
};
const AGREED = 1;
const REFUSED = 0.2;
const UNANSWERED = 0.5;
/** What an assistant replies to an idea or a joke. */
const IDLE = 0.4;
const CODE = 0.5;
/** "For example:" */
const INTRODUCING = 0.4;

const CORRECTING = 1.5;
/** What an assistant repeats of a correction is the whole of it. */
const CONFIRMING = 0.9;

interface Sentence {
  readonly text: string;
  readonly code: boolean;
  correction?: Correction;
}

interface Turn {
  readonly source: number;
  readonly role: SourceRole;
  readonly speaker: string;
  readonly text: string;
  readonly sentences: readonly Sentence[];
  corrects?: boolean;
}

export async function candidatesOf(
  sources: readonly TextSource[],
  maybe_yield: CooperativeYield,
): Promise<Candidate[]> {
  const turns: Turn[] = [];
  const names = new Set<string>();
  const limit = Math.max(MIN_READ_PER_SOURCE, Math.floor(MAX_READ / Math.max(1, sources.length)));
  for (const [source, { text, speaker, ...one }] of sources.entries()) {
    const sentences = await sentencesOf(text, limit, maybe_yield);
    for (const sentence of sentences) namesIn(sentence.text, names);
    const role = roleOf({ text, ...one });
    turns.push({ source, role, speaker: speaker ?? role, text, sentences });
  }
  await correct(turns, sources, names, maybe_yield);
  const all: Candidate[] = [];
  const reader = new Reader(names, all);
  for (const at of turns.keys()) {
    await maybe_yield();
    reader.read(standingOf(turns, at));
  }
  return all;
}

async function sentencesOf(text: string, limit: number, maybe_yield: CooperativeYield): Promise<Sentence[]> {
  const sentences: Sentence[] = [];
  for (const unit of unitsOf(text)) {
    await maybe_yield();
    if (sentences.length >= limit) break;
    if (unit.kind === 'code')
      for (const line of unit.text.slice(0, MAX_CODE).split('\n'))
        if (/[\p{L}\p{N}]/u.test(line) && line.length <= MAX_CODE_LINE)
          sentences.push({ text: line.trim(), code: true });
    if ((unit.kind === 'sentence' || unit.kind === 'quote') && unit.text.length <= MAX_LENGTH)
      sentences.push({ text: unit.text.replace(/\s+/g, ' ').trim(), code: false });
  }
  return sentences.slice(0, limit);
}

/** Notes with the sentences how later ones correct them. */
async function correct(
  turns: readonly Turn[],
  sources: readonly TextSource[],
  names: ReadonlySet<string>,
  maybe_yield: CooperativeYield,
): Promise<void> {
  const sentences: Sentence[] = [];
  const statements: Statement[] = [];
  const topics = turns.map(({ text }) => topicOf(text, names));
  for (const [at, { source, role, sentences: own }] of turns.entries()) {
    await maybe_yield();
    const question = isPerson(role) ? questionOf(before(turns, at)) : undefined;
    const topic = question === undefined ? topics[at]! : new Set([...topics[at]!, ...topicOf(question, names)]);
    for (const sentence of own) {
      if (sentence.code) continue;
      sentences.push(sentence);
      statements.push({ source, text: sentence.text, derived: !isPerson(role), topic });
    }
  }
  for (const [i, correction] of await correctionsOf(statements, sources, maybe_yield)) {
    sentences[i]!.correction = correction;
    turns[correction.by]!.corrects = true;
  }
}

/** What a text is about: its terms without values. */
const topicOf = (text: string, names: ReadonlySet<string>): Set<string> =>
  new Set([...carriedTerms(text.slice(0, MAX_TOPIC), names).keys()].filter((term) => !/\d/.test(term)));

const questionOf = (turn: Turn | undefined): string | undefined =>
  turn?.sentences.findLast(({ text }) => isQuestion(text))?.text;

/** The nearest turn of another speaker, tools aside. */
const before = (turns: readonly Turn[], at: number): Turn | undefined =>
  turns.slice(Math.max(0, at - 3), at).findLast((one) => one.role !== 'tool' && one.speaker !== turns[at]!.speaker);
const after = (turns: readonly Turn[], at: number): Turn | undefined =>
  turns.slice(at + 1, at + 4).find((one) => one.role !== 'tool' && one.speaker !== turns[at]!.speaker);

/** How a turn stands in the conversation. */
interface Standing {
  readonly turn: Turn;
  readonly previous: Turn | undefined;
  readonly next: Turn | undefined;
  /** What the next speaker says to what an assistant proposes. */
  readonly reply: Reply;
  /** The sentences that the reply takes up. */
  readonly proposals: readonly Sentence[];
  /** The weight of a sentence of its speaker. */
  readonly base: number;
  readonly question: string | undefined;
}

function standingOf(turns: readonly Turn[], at: number): Standing {
  const turn = turns[at]!;
  const [previous, next] = [before(turns, at), after(turns, at)];
  const reply = turn.role === 'assistant' && next ? replyOf(next) : 'none';
  let base = ROLE_WEIGHT[turn.role];
  if (turn.corrects) base = CORRECTING;
  else if (turn.role === 'assistant' && previous?.corrects) base = CONFIRMING;
  if (turn.role === 'assistant' && previous && muses(previous.text)) base *= IDLE;
  const proposals = reply === 'agreed' ? proposalsOf(turn) : [];
  return {
    turn,
    previous,
    next,
    reply,
    proposals,
    base,
    question: turn.role === 'tool' ? undefined : questionOf(previous),
  };
}

/** What a turn proposes; without an offer, its last statement. */
function proposalsOf({ sentences }: Turn): Sentence[] {
  const plain = sentences.filter(({ text, code }) => {
    const said = withoutTalk(text);
    return !code && said !== '' && !isQuestion(text) && !serves(said);
  });
  const offers = plain.filter(({ text }) => suggests(text));
  if (offers.length > 0) return offers;
  // Whoever asks is agreed with in what was asked.
  return isQuestion(sentences.at(-1)?.text ?? '') ? [] : plain.slice(-1);
}

const isPerson = (role: SourceRole): boolean => role === 'user' || role === 'none';

/** Reads the statements of turns, in order. */
class Reader {
  readonly #names: ReadonlySet<string>;
  readonly #all: Candidate[];
  #order = 0;

  constructor(names: ReadonlySet<string>, all: Candidate[]) {
    this.#names = names;
    this.#all = all;
  }

  read(standing: Standing): void {
    const { turn, base, question } = standing;
    let open = question;
    for (const sentence of turn.sentences) {
      if (sentence.code) {
        this.#add({ source: turn.source, text: sentence.text, weight: base * CODE });
        continue;
      }
      const text = sentence.correction?.text ?? sentence.text;
      // What others ask is filled in where it is answered.
      if (isQuestion(text) && !isPerson(turn.role)) continue;
      const said = withoutTalk(text);
      if (said === '' || isCourtesy(said)) continue;
      if (turn.role === 'assistant' && (isExclamation(said) || serves(said))) continue;
      if (this.#readDecision(standing, sentence, said)) continue;
      const subject = open === undefined || isQuestion(said) ? undefined : missingSubject(open, said);
      open = undefined;
      this.#readStatement(standing, sentence, said, subject);
    }
  }

  /** A proposal that the next speaker agrees with, or one of several options that they choose. */
  #readDecision(
    { turn, next, reply, proposals, base }: Standing,
    { text, correction }: Sentence,
    said: string,
  ): boolean {
    const option = typeof reply === 'number' ? optionIn(text, reply) : undefined;
    if (option === undefined && !proposals.some((one) => one.text === text)) return false;
    const decided = option ?? withoutProposing(said);
    const isOffer = option !== undefined || suggests(said);
    const agreed = base < ROLE_WEIGHT.assistant ? AGREED * IDLE : AGREED;
    this.#add({
      source: turn.source,
      text: isOffer ? `Decided: ${decided}` : said,
      weight: agreed * earnestness(decided) * importance(decided),
      also: [next!.source, ...(correction ? [correction.by] : [])],
    });
    return true;
  }

  /** A statement clause by clause, or an answer with the subject of its question. */
  #readStatement(
    { turn: { source, role }, previous, reply, base }: Standing,
    { correction }: Sentence,
    said: string,
    subject: string | undefined,
  ): void {
    // A corrected statement holds what its correction says, with the old value.
    let factor = correction?.text === undefined ? base : Math.max(base, CORRECTING);
    if (reply === 'refused') factor *= REFUSED;
    else if (role === 'assistant' && reply !== 'agreed' && suggests(said)) factor *= UNANSWERED;
    // "For example:" introduces text that the summary leaves out.
    if (/[:：]$/.test(said)) factor *= INTRODUCING;
    const also = correction ? [correction.by] : [];
    const lost = correction?.text === undefined ? (correction?.old ?? []) : [];
    if (subject !== undefined && lost.length === 0) {
      const weight = factor * earnestness(said) * importance(said);
      this.#add({ source, text: `${subject}: ${said}`, weight, also: [previous!.source, ...also] });
      return;
    }
    let end: number | undefined;
    for (const [from, to] of clausesOf(said)) {
      const clause = said.slice(from, to);
      const gap = end === undefined ? undefined : said.slice(end, from);
      // Without its new value a clause does not hold.
      const holds = !lost.some((old) => clause.includes(old));
      factor *= earnestness(clause);
      if (holds) this.#add({ source, text: clause, weight: factor * importance(clause), gap, also });
      end = holds ? to : undefined;
    }
  }

  #add({
    source,
    text,
    weight,
    also = [],
    gap,
  }: Pick<Candidate, 'source' | 'text' | 'weight'> & Partial<Candidate>): void {
    const terms = carriedTerms(text, this.#names);
    const order = this.#order;
    this.#order += 1;
    if (terms.size === 0) return;
    const words = wordCount(text);
    this.#all.push({ source, also, order, gap, text, terms, words, weight, statement: statementOf(text) });
  }
}

type Reply = 'agreed' | 'refused' | 'none' | number;

/** What a person says to the proposal before; a number chooses one of its options. */
function replyOf({ text, role }: Turn): Reply {
  if (!isPerson(role)) return 'none';
  const option = chosenOption(text);
  if (option !== undefined) return option;
  if (refuses(text)) return 'refused';
  return agrees(text) ? 'agreed' : 'none';
}

/** One of the options that a sentence lists: "(1) …, (2) …". */
function optionIn(sentence: string, wanted: number): string | undefined {
  const options = [
    ...sentence.matchAll(/\(?\b([1-9]|[a-e])\)\s*(.+?)(?=[,;.]?\s*(?:or |and )?\(?\b(?:[1-9]|[a-e])\)|[.;]?$)/giu),
  ];
  return options.length < 2 ? undefined : options[wanted - 1]?.[2];
}
