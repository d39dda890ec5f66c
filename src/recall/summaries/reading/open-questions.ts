/** Which question a turn answers: one of the speaker before, until it was answered. */
import type { SourceRole } from '../sources.js';
import { askedIn } from './answers.js';
import { putsOff } from './fragments.js';
import { isQuestion } from './speech-acts.js';

/** What a turn says. */
interface Said {
  readonly role: SourceRole;
  readonly speaker: string;
  readonly sentences: readonly { readonly text: string }[];
}

/** Turns back in which a question is looked for. */
const RECENT = 3;

/** The nearest turn of another speaker, tools aside. */
export const turnBefore = <T extends Said>(turns: readonly T[], at: number): T | undefined =>
  turns[placeBefore(turns, at)];

const placeBefore = (turns: readonly Said[], at: number): number => {
  for (let i = at - 1; i >= Math.max(0, at - RECENT); i--)
    if (turns[i]!.role !== 'tool' && turns[i]!.speaker !== turns[at]!.speaker) return i;
  return -1;
};

export const turnAfter = <T extends Said>(turns: readonly T[], at: number): T | undefined =>
  turns.slice(at + 1, at + 1 + RECENT).find((one) => one.role !== 'tool' && one.speaker !== turns[at]!.speaker);

/** The question that a turn is the first answer to. */
export function openQuestion(turns: readonly Said[], at: number): string | undefined {
  const place = placeBefore(turns, at);
  if (place < 0 || turns[at]!.role === 'tool') return undefined;
  // What the speaker said since then was the answer, unless it only put it off.
  const since = turns.slice(place + 1, at).filter(({ role }) => role !== 'tool');
  if (since.some(({ sentences }) => sentences.some(({ text }) => !putsOff(text)))) return undefined;
  return askedIn(turns[place]!.sentences.map(({ text }) => text).filter(isQuestion));
}
