/** What several trajectories have in common: statements that recur in two or more of them. Nothing, when nothing does. */
import type { GiveWay } from '../../kernel/index.js';
import { unitsOf } from '../../text/index.js';
import { matterOf, sayingOf } from '../extraction/english/normalized-statement.js';
import { statementOf } from '../extraction/english/statements.js';
import type { TextSource } from './sources.js';

export interface RecurringStatement {
  /** The wording that is used most, and of several the shortest. */
  readonly text: string;
  readonly source_ids: readonly string[];
  readonly trajectory_ids: readonly string[];
}

export interface RecurrenceSettings {
  readonly give_way: GiveWay;
}

/** Fewer stems recur by chance. */
const MIN_STEMS = 3;
const MAX_LENGTH = 400;

interface Said {
  readonly text: string;
  readonly source_id: string;
  readonly trajectory_id: string;
}

/** What says the same. */
interface Group {
  readonly said: Said[];
  /** All of the same matter. */
  readonly sayings: ReadonlySet<string>;
}

export async function recurringStatements(
  sources: readonly TextSource[],
  { give_way }: RecurrenceSettings,
): Promise<RecurringStatement[]> {
  const groups = new Map<string, Group>();
  /** By the matter, in any case: of more than one saying of it, some are contrary to others. */
  const matters = new Map<string, Set<string>>();
  for await (const [saying, said] of statementsOf(sources, give_way)) {
    const group = groups.get(saying);
    if (group) {
      group.said.push(said);
      continue;
    }
    const matter = matterOf(saying);
    const sayings = matters.get(matter) ?? new Set();
    matters.set(matter, sayings.add(saying.toLowerCase()));
    groups.set(saying, { said: [said], sayings });
  }
  const recurring: RecurringStatement[] = [];
  for (const { said, sayings } of groups.values()) {
    const due = give_way();
    if (due) await due;
    const trajectory_ids = [...new Set(said.map(({ trajectory_id }) => trajectory_id))];
    // What is also denied holds across nothing.
    if (trajectory_ids.length < 2 || sayings.size > 1) continue;
    const source_ids = [...new Set(said.map(({ source_id }) => source_id))];
    recurring.push({ text: wordingOf(said), source_ids, trajectory_ids });
  }
  return recurring.sort((a, b) => b.trajectory_ids.length - a.trajectory_ids.length);
}

async function* statementsOf(
  sources: readonly TextSource[],
  give_way: GiveWay,
): AsyncGenerator<[saying: string, Said]> {
  for (const { id: source_id, text: whole, trajectory_id } of sources) {
    if (!trajectory_id) continue;
    // A label is for all that follows it.
    let label: Label = { day: '', who: '' };
    for (const unit of unitsOf(whole)) {
      const due = give_way();
      if (due) await due;
      if (unit.kind !== 'sentence') continue;
      const [found] = LABEL.exec(unit.text)!;
      label = labelOf(found, label);
      // Summaries put a semicolon between what has no end of its own.
      for (const text of unit.text.slice(found.length).split(/;\s+/)) {
        if (text.length > MAX_LENGTH || /[?？؟]$/.test(text) || statementOf(text).stems.size < MIN_STEMS) continue;
        yield [`${aboutWhom(text, label, trajectory_id)}${sayingOf(text)}`, { text, source_id, trajectory_id }];
      }
    }
  }
}

/** Summaries say when and who; what recurs is what was said. */
const LABEL = /^(?:\[(\d{4}-\d{2}-\d{2})\] )?(?:([\p{Lu}][\p{L}\p{M}'.-]*(?: [\p{Lu}][\p{L}\p{M}'.-]*){0,2}): )?/u;

interface Label {
  readonly day: string;
  readonly who: string;
}

function labelOf(found: string, before: Label): Label {
  const [, day, who] = LABEL.exec(found)!;
  return { day: day ?? before.day, who: who ?? before.who };
}

const FIRST_PERSON = /\b(?:I|me|my|mine|myself)\b/;
const SEEN_FROM_A_DAY =
  /\b(?:today|tomorrow|yesterday|tonight|ago|(?:last|next|this) (?:night|morning|afternoon|evening|week|weekend|month|quarter|year|(?:mon|tues|wednes|thurs|fri|satur|sun)day))\b/i;

/** The same words say another thing where another says them, or on another day. */
function aboutWhom(text: string, { day, who }: Label, trajectory_id: string): string {
  const speaker = FIRST_PERSON.test(text) ? `${who}: ` : '';
  return SEEN_FROM_A_DAY.test(text) ? `[${day || trajectory_id}] ${speaker}` : speaker;
}

function wordingOf(group: readonly Said[]): string {
  const counts = new Map<string, number>();
  for (const { text } of group) counts.set(text, (counts.get(text) ?? 0) + 1);
  const [[best]] = [...counts].sort(([a, m], [b, n]) => n - m || a.length - b.length) as [[string, number]];
  return best;
}
