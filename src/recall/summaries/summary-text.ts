/** Renders the statements of a summary: speaker and day are written once for all statements that follow. */
import { parseDate } from '../../text/index.js';
import type { Candidate } from './reading/candidate.js';
import { roleOf, type TextSource } from './sources.js';

const MAX_SPEAKER = 80;
/** What no label marks is the user's. */
const ROLES = { user: '', assistant: 'Assistant', system: 'System', tool: 'Tool', none: '' } as const;

interface Label {
  readonly day: string;
  readonly who: string;
}

/** The part of a candidate that is rendered. */
type Part = Pick<Candidate, 'source' | 'order' | 'gap' | 'text'>;

export interface SummaryWriter {
  /** One statement rendered alone: at most a token more than what it takes in the whole text. */
  alone(part: Part): string;
  /** The whole text: a new line for each change of speaker, a day where it begins. */
  text(parts: readonly Part[]): string;
}

export function summaryWriter(sources: readonly TextSource[]): SummaryWriter {
  const labels = sources.map(labelOf);
  return {
    alone: ({ source, text }) => `\n${labels[source]!.day}${labels[source]!.who}${text}`,
    text: (parts) => {
      const pieces: string[] = [];
      let last: Label | undefined;
      let before: Part | undefined;
      for (const part of parts) {
        const label = labels[part.source]!;
        const newDay = label.day !== (last?.day ?? '');
        if (newDay || label.who !== last?.who)
          pieces.push(`${before ? `${endOf(before.text)}\n` : ''}${newDay ? label.day : ''}${label.who}`);
        else
          pieces.push(
            before!.order + 1 === part.order && part.gap !== undefined ? part.gap : separatorAfter(before!.text),
          );
        pieces.push(part.text);
        last = label;
        before = part;
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

/** A line ends with a closing mark, so that no reader joins it with the next. */
const endOf = (statement: string): string => (/[\p{STerm}:;…"'”’)\]]$/u.test(statement) ? '' : '.');

/** A sentence without a closing mark gets a semicolon. */
function separatorAfter(sentence: string): string {
  const end = sentence.slice(-1);
  if (/[。！？]/.test(end)) return '';
  return /[\p{STerm}:;,"'”’]$|[\p{STerm}][)\]]$/u.test(sentence) ? ' ' : '; ';
}
