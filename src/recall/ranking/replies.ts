/** Follows an exchange from turn to turn: who asks about the subject is answered in the next turn, often in other words. */
import { textFlags } from '../../text/index.js';
import type { Question } from './question.js';
import { byScore, type Candidate, type Ranked } from './ranking.js';

/** Share of the score of a question that its answer gets. */
const REPLY = 0.2;
/** In terms: a longer text asks in passing. */
const LONGEST_QUESTION = 20;
/** For a summary: share of the score of a user's turn that the assistant's answer gets, and the reverse. */
const EXCHANGE = 0.3;

/** Turns that others beside them may gain by, by scope and position. */
class Turns<C extends Candidate> {
  readonly #scopes = new Map<string, Map<number, Ranked<C>>>();

  add(one: Ranked<C>): void {
    const { scope_id, position } = one.candidate;
    if (scope_id === null || position === null) return;
    const scope = this.#scopes.get(scope_id);
    if (scope) scope.set(position, one);
    else this.#scopes.set(scope_id, new Map([[position, one]]));
  }

  beside({ scope_id, position }: Candidate, step: 1 | -1): Ranked<C> | undefined {
    return scope_id === null || position === null ? undefined : this.#scopes.get(scope_id)?.get(position + step);
  }
}

const isQuestion = ({ flags, length }: Candidate): boolean =>
  (flags & textFlags.QUESTION) !== 0 && length < LONGEST_QUESTION;

const isExchanged = ({ role }: Candidate): boolean => role === 'user' || role === 'assistant';

/** Adds to results what those beside them are worth, and ranks them anew. */
export function withReplies<C extends Candidate>(
  { asks: { when, summary } }: Question,
  ranked: readonly Ranked<C>[],
): readonly Ranked<C>[] {
  const questions = new Turns<C>();
  const exchanges = new Turns<C>();
  for (const one of ranked) {
    // An answer seldom says when.
    if (!when && isQuestion(one.candidate)) questions.add(one);
    if (summary && isExchanged(one.candidate)) exchanges.add(one);
  }
  const gainOf = ({ candidate }: Ranked<C>): number => {
    const asked = questions.beside(candidate, -1);
    let gain = asked && asked.candidate.speaker !== candidate.speaker ? REPLY * asked.score : 0;
    if (summary && isExchanged(candidate)) {
      const other = exchanges.beside(candidate, candidate.role === 'user' ? 1 : -1);
      if (other && other.candidate.role !== candidate.role) gain += EXCHANGE * other.score;
    }
    return gain;
  };
  let isSame = true;
  const replied: Ranked<C>[] = [];
  for (const one of ranked) {
    const gain = gainOf(one);
    if (gain > 0) isSame = false;
    replied.push(gain > 0 ? one.plus(gain, 'reply') : one);
  }
  return isSame ? ranked : replied.sort(byScore);
}
