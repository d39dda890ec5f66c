/** How the sentences of a summary are written down: who said it and when, once for all that follows. */
import { parseDate } from '../../text/index.js';
import type { CandidatePart } from './candidates.js';
import { roleOf, type TextSource } from './sources.js';

const MAX_SPEAKER = 80;
const ROLES = { user: 'User', assistant: 'Assistant', system: 'System', tool: 'Tool', none: '' } as const;

interface Label {
  readonly day: string;
  readonly who: string;
}

/** Writes down what was said in these sources. */
export class SummaryWriter {
  private readonly sources: readonly TextSource[];
  private readonly labels = new Map<number, Label>();

  constructor(sources: readonly TextSource[]) {
    this.sources = sources;
  }

  /** A sentence as it is written where it stands alone: what it takes at most, but for a token or so. */
  alone(part: CandidatePart): string {
    const { day, who } = this.label(part.source);
    return `\n${day}${who}${part.text}`;
  }

  /** A line for each that speaks, as long as nobody else does; a day is named where it begins. */
  text(parts: readonly CandidatePart[]): string {
    const pieces: string[] = [];
    let last: Label | undefined;
    for (const part of parts) {
      const label = this.label(part.source);
      const newDay = label.day !== (last?.day ?? '');
      if (newDay || label.who !== last?.who) pieces.push(`${last ? '\n' : ''}${newDay ? label.day : ''}${label.who}`);
      else pieces.push(between(pieces.at(-1)!));
      pieces.push(part.text);
      last = label;
    }
    return pieces.join('');
  }

  private label(at: number): Label {
    let label = this.labels.get(at);
    if (label === undefined) this.labels.set(at, (label = labelOf(this.sources[at]!)));
    return label;
  }
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

/** What is not ended by a sign must not run into the next. */
function between(before: string): string {
  const end = before.slice(-1);
  if (/[。！？]/.test(end)) return '';
  return /[\p{STerm}:;,"'”’)\]]/u.test(end) ? ' ' : '; ';
}
