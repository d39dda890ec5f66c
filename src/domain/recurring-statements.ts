/** What several trajectories have in common: statements that recur in two or more of them. Nothing, when nothing does. */
import type { GiveWay } from './giving-way.js';
import { unitsOf } from './sentences.js';
import type { TextSource } from './sources.js';
import { agree, overlap, type Statement, statementOf } from './statements.js';

export interface RecurringStatement {
  /** The wording that is most like all the others. */
  readonly text: string;
  readonly source_ids: readonly string[];
  readonly trajectory_ids: readonly string[];
}

export interface RecurrenceSettings {
  readonly give_way: GiveWay;
  /** From 0 to 1: how alike two wordings of one statement are. */
  readonly threshold?: number;
}

const THRESHOLD = 0.6;
/** Fewer stems recur by chance. */
const MIN_STEMS = 3;
const MAX_LENGTH = 400;
/** A statement is looked for among those that share one of its rarest stems, the newest of them. */
const RAREST = 4;
const MAX_LOOKED_AT = 64;

interface Said extends Statement {
  readonly source: TextSource;
  readonly trajectory_id: string;
}

export async function recurringStatements(
  sources: readonly TextSource[],
  { give_way, threshold = THRESHOLD }: RecurrenceSettings,
): Promise<RecurringStatement[]> {
  const said = await statementsOf(sources, give_way);
  const counts = new Map<string, number>();
  for (const { stems } of said) for (const stem of stems) counts.set(stem, (counts.get(stem) ?? 0) + 1);
  const groups: Said[][] = [];
  const byStem = new Map<string, number[]>();
  for (const one of said) {
    const due = give_way();
    if (due) await due;
    const rarest = [...one.stems].sort((a, b) => counts.get(a)! - counts.get(b)!).slice(0, RAREST);
    let at = nearestGroup(one, rarest, groups, byStem, threshold);
    if (at < 0) at = groups.push([]) - 1;
    groups[at]!.push(one);
    for (const stem of rarest) {
      const known = byStem.get(stem);
      if (!known) byStem.set(stem, [at]);
      else if (!known.includes(at) && known.push(at) > MAX_LOOKED_AT) known.shift();
    }
  }
  return groups
    .map(described)
    .filter(({ trajectory_ids }) => trajectory_ids.length > 1)
    .sort((a, b) => b.trajectory_ids.length - a.trajectory_ids.length);
}

async function statementsOf(sources: readonly TextSource[], give_way: GiveWay): Promise<Said[]> {
  const said: Said[] = [];
  for (const source of sources) {
    if (!source.trajectory_id) continue;
    for (const unit of unitsOf(source.text)) {
      const due = give_way();
      if (due) await due;
      if (unit.kind !== 'sentence' || unit.text.length > MAX_LENGTH || /[?？؟]$/.test(unit.text)) continue;
      const text = withoutLabel(unit.text);
      const statement = statementOf(text);
      if (statement.stems.size >= MIN_STEMS)
        said.push({ ...statement, source, trajectory_id: source.trajectory_id });
    }
  }
  return said;
}

/** Summaries say when and who; what recurs is what was said. */
const withoutLabel = (text: string): string =>
  text.replace(
    /^(?:\[\d{4}-\d{2}-\d{2}\] )?(?:[\p{Lu}][\p{L}\p{M}'.-]*(?: [\p{Lu}][\p{L}\p{M}'.-]*){0,2}: )?/u,
    '',
  );

function nearestGroup(
  one: Said,
  rarest: readonly string[],
  groups: readonly (readonly Said[])[],
  byStem: ReadonlyMap<string, readonly number[]>,
  threshold: number,
): number {
  let nearest = -1;
  let most = threshold;
  const seen = new Set<number>();
  for (const stem of rarest)
    for (const at of byStem.get(stem) ?? []) {
      if (seen.has(at)) continue;
      seen.add(at);
      // The first stands for its group, so that a group cannot wander from one meaning to another.
      const first = groups[at]![0]!;
      const alike = agree(one, first) ? overlap(one, first) : 0;
      if (alike > most || (alike === most && nearest < 0)) {
        most = alike;
        nearest = at;
      }
    }
  return nearest;
}

function described(group: readonly Said[]): RecurringStatement {
  let best = group[0]!;
  let most = -1;
  const compared = group.slice(0, MAX_LOOKED_AT);
  for (const one of compared) {
    const alike = compared.reduce((sum, other) => sum + overlap(one, other), 0);
    if (alike > most || (alike === most && one.text.length < best.text.length)) {
      most = alike;
      best = one;
    }
  }
  return {
    text: best.text,
    source_ids: [...new Set(group.map(({ source }) => source.id))],
    trajectory_ids: [...new Set(group.map(({ trajectory_id }) => trajectory_id))],
  };
}
