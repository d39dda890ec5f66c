/** Renders the sentences of a summary: speaker and day are written once for all sentences that follow. */
import { parseDate } from '../../text/index.js';
import type { CandidatePart } from './candidates.js';
import { roleOf, type TextSource } from './sources.js';

const MAX_SPEAKER = 80;
const ROLES = { user: 'User', assistant: 'Assistant', system: 'System', tool: 'Tool', none: '' } as const;

interface Label {
  readonly day: string;
  readonly who: string;
}

export interface SummaryWriter {
  /** One sentence rendered alone: at most a token more than what it takes in the whole text. */
  alone(part: CandidatePart): string;
  /** The whole text: a new line for each change of speaker, a day where it begins. */
  text(parts: readonly CandidatePart[]): string;
}

export function summaryWriter(sources: readonly TextSource[]): SummaryWriter {
  const labels = sources.map(labelOf);
  return {
    alone: ({ source, text }) => `\n${labels[source]!.day}${labels[source]!.who}${text}`,
    text: (parts) => {
      const pieces: string[] = [];
      let last: Label | undefined;
      for (const { source, text } of parts) {
        const label = labels[source]!;
        const newDay = label.day !== (last?.day ?? '');
        if (newDay || label.who !== last?.who) pieces.push(`${last ? '\n' : ''}${newDay ? label.day : ''}${label.who}`);
        else pieces.push(separatorAfter(pieces.at(-1)!));
        pieces.push(text);
        last = label;
      }
      return pieces.join('');
    },
  };
}

function labelOf(source: TextSource): Label {
  const speaker = source.speaker?.replace(/\s+/g, ' ').trim().slice(0, MAX_SPEAKER);
  const who = speaker || ROLES[roleOf(source)];
  const at = parseDate(source.occurred_at);
  return {
    day: at === undefined ? '' : `[${new Date(at).toISOString().slice(0, 10)}] `,
    who: who === '' ? '' : `${who}: `,
  };
}

/** A sentence without a closing mark gets a semicolon. */
function separatorAfter(sentence: string): string {
  const end = sentence.slice(-1);
  if (/[。！？]/.test(end)) return '';
  return /[\p{STerm}:;,"'”’)\]]/u.test(end) ? ' ' : '; ';
}
