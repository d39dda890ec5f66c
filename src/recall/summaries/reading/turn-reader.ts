/** Reads the statements of turns, in order: what each says, given the turns around it. */
import type { CooperativeYield } from '../../../kernel/index.js';
import { statementOf } from '../../extraction/english/statements.js';
import { completed } from './answers.js';
import type { Candidate } from './candidate.js';
import { carriedTerms } from './carried-terms.js';
import { clausesOf, wordCount } from './clauses.js';
import { putsOff } from './fragments.js';
import { openQuestion, turnAfter, turnBefore } from './open-questions.js';
import { decidedOf, decisionOf } from './proposals.js';
import { type Referents, referents } from './referents.js';
import {
  agrees,
  chosenOption,
  earnestness,
  importance,
  isCourtesy,
  isErrand,
  isJoking,
  isQuestion,
  isRemark,
  muses,
  proposes,
  refuses,
  serves,
  suggests,
  withoutProposing,
  withoutTalk,
} from './speech-acts.js';
import { isPerson, type Sentence, type Turn } from './turns.js';

const ROLE_WEIGHT: Readonly<Record<Turn['role'], number>> = {
  user: 1,
  assistant: 0.4,
  none: 1,
  tool: 0.45,
  system: 0.3,
};
const AGREED = 1.6;
const REFUSED = 0.2;
const UNANSWERED = 0.5;
/** What an assistant replies to an idea or a joke. */
const IDLE = 0.4;
const JOKING = 0.35;
const CODE = 0.5;
/** "For example:" */
const INTRODUCING = 0.4;
/** "Draft a note": done when it is decided. */
const ERRAND = 0.3;

/** A correction of which an earlier statement has the new value. */
const MERGED = 0.4;
const CORRECTING = 1.5;
/** What an assistant repeats of a correction is the whole of it. */
const CONFIRMING = 0.9;

/** How a turn stands in the conversation. */
interface Standing {
  readonly turn: Turn;
  readonly previous: Turn | undefined;
  readonly next: Turn | undefined;
  /** What the next speaker says to what is proposed. */
  readonly reply: Reply;
  /** The sentences that the reply takes up, with what is decided of them. */
  readonly proposals: ReadonlyMap<string, string>;
  /** The weight of a sentence of its speaker. */
  readonly base: number;
  readonly question: string | undefined;
}

function standingOf(turns: readonly Turn[], at: number): Standing {
  const turn = turns[at]!;
  const [previous, next] = [turnBefore(turns, at), turnAfter(turns, at)];
  const reply = next && (turn.role === 'assistant' || isPerson(turn.role)) ? replyOf(next) : 'none';
  let base = ROLE_WEIGHT[turn.role];
  if (turn.corrects) base = CORRECTING;
  else if (turn.role === 'assistant' && previous?.corrects) base = CONFIRMING;
  if (turn.role === 'assistant' && previous && muses(previous.text)) base *= IDLE;
  const proposals = reply === 'agreed' ? proposalsOf(turn, next!) : new Map<string, string>();
  return { turn, previous, next, reply, proposals, base, question: openQuestion(turns, at) };
}

/** What a turn proposes and the next takes up; of an assistant without an offer, its last statement. */
function proposalsOf({ sentences, role }: Turn, next: Turn): Map<string, string> {
  const plain = sentences.filter(({ text, code }) => {
    const said = withoutTalk(text);
    return !code && said !== '' && !isQuestion(text) && !serves(said);
  });
  const reply = next.sentences[0]?.text ?? '';
  const offers = plain.flatMap(({ text }) => {
    const said = withoutTalk(text);
    const proposed = withoutProposing(said);
    const offered = role === 'assistant' ? suggests(said) : proposed !== said && suggests(said);
    const decided = offered ? decidedOf(proposed, reply) : undefined;
    return decided === undefined ? [] : [[text, proposes(said) ? `Decided: ${decided}` : said] as const];
  });
  if (offers.length > 0 || role !== 'assistant') return new Map(offers);
  // Whoever asks is agreed with in what was asked.
  const last = isQuestion(sentences.at(-1)?.text ?? '') ? undefined : plain.at(-1)?.text;
  return new Map(last === undefined || suggests(withoutTalk(last)) ? [] : [[last, withoutTalk(last)]]);
}

const shown = ({ text, correction, named }: Sentence): string => named ?? correction?.text ?? text;

export class TurnReader {
  readonly #names: ReadonlySet<string>;
  readonly #all: Candidate[];
  readonly #referents: Referents = referents();
  #order = 0;

  constructor(names: ReadonlySet<string>, all: Candidate[]) {
    this.#names = names;
    this.#all = all;
  }

  async read(turns: readonly Turn[], at: number, maybe_yield: CooperativeYield): Promise<void> {
    const standing = standingOf(turns, at);
    const { turn, base } = standing;
    await this.#nameReferents(standing, maybe_yield);
    let open = standing.question;
    for (const sentence of turn.sentences) {
      await maybe_yield();
      if (sentence.code) {
        this.#add({ source: turn.source, text: sentence.text, weight: base * CODE });
        continue;
      }
      const text = shown(sentence);
      // What others ask is filled in where it is answered.
      if (isQuestion(text) && !isPerson(turn.role)) continue;
      if (open !== undefined && putsOff(text)) continue;
      const question = open;
      open = undefined;
      const rest = question === undefined ? text : this.#readAnswer(standing, sentence, question);
      const said = withoutTalk(rest);
      if (said === '' || isCourtesy(said)) continue;
      if (turn.role === 'assistant' && (isRemark(said.replace(/\.$/, '')) || serves(said))) continue;
      if (!this.#readDecision(standing, sentence, said)) this.#readStatement(standing, sentence, said);
    }
  }

  /** "His number is …": whose it is. */
  async #nameReferents({ turn, previous }: Standing, maybe_yield: CooperativeYield): Promise<void> {
    const before = previous?.sentences.map(({ text }) => text) ?? [];
    const own: string[] = [];
    for (const sentence of turn.sentences) {
      await maybe_yield();
      const text = shown(sentence);
      if (!sentence.code) {
        const named = this.#referents(text, own, before);
        if (named !== text) sentence.named = named;
      }
      own.push(shown(sentence));
    }
  }

  /** The first answer to a question; returns what the sentence says besides. */
  #readAnswer({ turn, previous, base }: Standing, sentence: Sentence, question: string): string {
    const { text, correction } = sentence;
    const now = shown(sentence);
    const { source, role } = turn;
    const also = [previous!.source, ...(correction ? [correction.by] : [])];
    const decision = isPerson(role) ? decisionOf(question, text) : undefined;
    if (decision?.kind === 'refused') return '';
    if (decision?.kind === 'decided') {
      const weight = AGREED * (isErrand(decision.text) ? ERRAND : 1) * importance(decision.text);
      this.#add({ source, text: `Decided: ${decision.text}`, weight, also });
      return decision.rest;
    }
    const answer = isQuestion(text) ? undefined : completed(question, text);
    const outdated = correction !== undefined && correction.text === undefined;
    if (answer === undefined || outdated) return now;
    const said = correction ? withoutTalk(now) : answer.answer;
    const weight = (correction ? Math.max(base, CORRECTING) : base) * earnestness(said) * importance(said);
    this.#add({ source, text: `${answer.subject}: ${said}`, weight, also });
    return '';
  }

  /** A proposal that the next speaker agrees with, or one of several options that they choose. */
  #readDecision(
    { turn, next, reply, proposals, base }: Standing,
    { text, correction }: Sentence,
    said: string,
  ): boolean {
    const option = typeof reply === 'number' ? optionIn(text, reply) : undefined;
    const decided = option === undefined ? proposals.get(text) : `Decided: ${option}`;
    if (decided === undefined) return false;
    const agreed = base < ROLE_WEIGHT.assistant ? AGREED * IDLE : AGREED;
    const isDecision = decided !== said;
    this.#add({
      // A decision is theirs who agree.
      source: isDecision ? next!.source : turn.source,
      text: decided,
      weight: agreed * earnestness(decided) * importance(decided),
      also: [isDecision ? turn.source : next!.source, ...(correction ? [correction.by] : [])],
    });
    return true;
  }

  /** A statement clause by clause. */
  #readStatement({ turn: { source, role }, reply, base }: Standing, sentence: Sentence, said: string): void {
    const { correction, merged } = sentence;
    // A corrected statement holds what its correction says, with the old value.
    let factor = correction?.text === undefined ? base : Math.max(base, CORRECTING);
    // An earlier statement has the new value.
    if (merged) factor *= MERGED;
    if (role === 'assistant' && reply === 'refused') factor *= REFUSED;
    else if (role === 'assistant' && reply !== 'agreed' && suggests(said)) factor *= UNANSWERED;
    if (isJoking(shown(sentence))) factor *= JOKING;
    // "For example:" introduces text that the summary leaves out.
    if (/[:：]$/.test(said)) factor *= INTRODUCING;
    const also = correction ? [correction.by] : [];
    const lost = correction?.text === undefined ? (correction?.old ?? []) : [];
    let end: number | undefined;
    for (const [from, to] of clausesOf(said)) {
      const clause = said.slice(from, to);
      const named = from === 0 ? clause : this.#referents(clause, [said.slice(0, from)], []);
      const gap = end === undefined ? undefined : said.slice(end, from);
      // Without its new value a clause does not hold.
      const holds = !lost.some((old) => clause.includes(old));
      factor *= earnestness(clause);
      if (holds) this.#add({ source, text: named, weight: factor * importance(clause), gap, also });
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
