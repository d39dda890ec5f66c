/** Statements that recur in two or more trajectories, and that none denies. */
import type { CooperativeYield } from '../../kernel/index.js';
import { unitsOf } from '../../text/index.js';
import { normalizedStatement, withoutNegation } from '../extraction/english/normalized-statement.js';
import { statementOf } from '../extraction/english/statements.js';
import type { TextSource } from './sources.js';

interface RecurringStatement {
  /** The most frequent wording, of several the shortest. */
  readonly text: string;
  readonly source_ids: readonly string[];
  readonly trajectory_ids: readonly string[];
}

/** Statements with fewer stems recur by chance. */
const MIN_STEMS = 3;
const MAX_LENGTH = 400;

interface Occurrence {
  readonly text: string;
  readonly source_id: string;
  readonly trajectory_id: string;
}

/** Occurrences of the same normalized statement. */
interface Group {
  readonly occurrences: Occurrence[];
  /** All statements with these words, denials included. */
  readonly variants: ReadonlySet<string>;
}

export async function recurringStatements(
  sources: readonly TextSource[],
  { maybe_yield }: { readonly maybe_yield: CooperativeYield },
): Promise<RecurringStatement[]> {
  const groups = new Map<string, Group>();
  const variantsByWords = new Map<string, Set<string>>();
  for await (const [statement, occurrence] of statementsOf(sources, maybe_yield)) {
    const group = groups.get(statement);
    if (group) {
      group.occurrences.push(occurrence);
      continue;
    }
    const words = withoutNegation(statement);
    const variants = variantsByWords.get(words) ?? new Set();
    variantsByWords.set(words, variants.add(statement.toLowerCase()));
    groups.set(statement, { occurrences: [occurrence], variants });
  }
  const recurring: RecurringStatement[] = [];
  for (const { occurrences, variants } of groups.values()) {
    await maybe_yield();
    const trajectory_ids = [...new Set(occurrences.map(({ trajectory_id }) => trajectory_id))];
    // A second variant is a denial.
    if (trajectory_ids.length < 2 || variants.size > 1) continue;
    const source_ids = [...new Set(occurrences.map(({ source_id }) => source_id))];
    recurring.push({ text: commonWording(occurrences), source_ids, trajectory_ids });
  }
  return recurring.sort((a, b) => b.trajectory_ids.length - a.trajectory_ids.length);
}

async function* statementsOf(
  sources: readonly TextSource[],
  maybe_yield: CooperativeYield,
): AsyncGenerator<[statement: string, Occurrence]> {
  for (const { id: source_id, text: whole, trajectory_id } of sources) {
    if (!trajectory_id) continue;
    // A day holds for all lines that follow, a speaker for the line: without one it is the user's.
    let [day, who, line] = ['', '', -1];
    for (const unit of unitsOf(whole)) {
      await maybe_yield();
      if (unit.kind !== 'sentence') continue;
      const label = LABEL.exec(unit.text)!;
      day = label[1] ?? day;
      who = label[2] ?? (unit.block === line ? who : '');
      line = unit.block;
      // Summaries join sentences without a closing mark by semicolons.
      for (const text of unit.text.slice(label[0].length).split(/;\s+/)) {
        if (text.length > MAX_LENGTH || /[?？؟]$/.test(text) || statementOf(text).stems.size < MIN_STEMS) continue;
        // The same words mean something else if another speaker says them, or on another day.
        const speaker = FIRST_PERSON.test(text) ? `${who}: ` : '';
        const seenFrom = RELATIVE_DAY.test(text) ? `[${day || trajectory_id}] ` : '';
        yield [`${seenFrom}${speaker}${normalizedStatement(text)}`, { text, source_id, trajectory_id }];
      }
    }
  }
}

/** The day and speaker that summaries put before a sentence. */
const LABEL = /^(?:\[(\d{4}-\d{2}-\d{2})\] )?(?:([\p{Lu}][\p{L}\p{M}'.-]*(?: [\p{Lu}][\p{L}\p{M}'.-]*){0,2}): )?/u;

const FIRST_PERSON = /\b(?:I|me|my|mine|myself)\b/;
const RELATIVE_DAY =
  /\b(?:today|tomorrow|yesterday|tonight|ago|(?:last|next|this) (?:night|morning|afternoon|evening|week|weekend|month|quarter|year|(?:mon|tues|wednes|thurs|fri|satur|sun)day))\b/i;

function commonWording(group: readonly Occurrence[]): string {
  const counts = new Map<string, number>();
  for (const { text } of group) counts.set(text, (counts.get(text) ?? 0) + 1);
  const [[best]] = [...counts].sort(([a, m], [b, n]) => n - m || a.length - b.length) as [[string, number]];
  return best;
}
