/** What was found for a context, made into candidates: with its text, and with what it stands for and contradicts. */
import type { Query } from '../../driver/index.js';
import type { Call } from '../../engine/index.js';
import { type CardRow, isVisible } from '../../facts/sql.js';
import type { Material, Uncounted } from '../windows/assembly.js';
import type { TurnCard } from '../windows/turns.js';
import type { WindowPart } from '../windows/window.js';
import type { ContextReason, SectionName } from './model.js';
import { cardsOf, conflictOf, memoryPart, passagePart } from './parts.js';
import { type MemoryName, namesOf, sourceCounts, type Tie, tiesAmong } from './sources.js';

/** Something found, before its card is read. */
export interface Found {
  readonly section: SectionName;
  readonly entity_type: 'Turn' | 'Artifact' | 'Note';
  readonly id: string;
  readonly card_id: string;
  readonly score: number | null;
  readonly reason: ContextReason;
  /** Out before it is looked at, and why. */
  readonly refused?: ContextReason;
  /** Of how many in its section; those beyond are out. */
  readonly limit: number;
}

type Read = Pick<Material, 'candidates' | 'refused'>;

/** Reads the cards of what was found; what is gone meanwhile is not there. */
export async function withCards(
  call: Call,
  query: Query,
  found: readonly Found[],
  turns: readonly TurnCard[],
): Promise<Read> {
  const memories = found
    .filter(({ entity_type }) => entity_type !== 'Turn')
    .map(({ id, card_id }) => ({ memory_id: id, card_id }));
  const summaries = found.filter(({ section }) => section === 'summaries').map(({ id }) => id);
  const memory_ids = memories.map(({ memory_id }) => memory_id);
  const turn_ids = turns.map(({ card_id }) => card_id);
  const [cards, names, sources, counts, contradictions] = await Promise.all([
    cardsOf(
      query,
      found.map(({ card_id }) => card_id),
    ),
    namesOf(query, memories),
    tiesAmong(query, 'SynthesizedFrom', summaries, turn_ids),
    sourceCounts(query, summaries),
    tiesAmong(query, 'Contradicts', memory_ids, memory_ids),
  ]);
  const candidates: Uncounted[] = [];
  const refused: [Uncounted, ContextReason][] = [];
  const refusal = refusals();
  const now = call.driver.now();
  const shownAs = new Map<string, string>();
  for (const one of found) {
    const row = cards.get(one.card_id);
    if (!row || !isVisible(row, now)) continue;
    const covered = sources.filter((tie) => tie.one === one.id).map(({ other }) => other);
    const covers =
      one.section === 'summaries'
        ? { card_ids: covered, others: (counts.get(one.id) ?? 0) > new Set(covered).size }
        : undefined;
    const candidate = candidateOf(one, row, names.get(one.card_id), covers);
    const { reason, by } = refusal(one, candidate.part);
    if (by !== undefined) shownAs.set(one.id, by);
    if (reason) refused.push([candidate, reason]);
    else candidates.push(candidate);
  }
  const pairs = pairsAmong(contradictions, shownAs);
  return {
    candidates: candidates.map((one) => {
      const others = pairs.get(one.id);
      if (!others) return one;
      const conflict = conflictOf(cards.get(one.card_id)!, names.get(one.card_id), one.part, others);
      return { ...one, conflict };
    }),
    refused,
  };
}

/** What each contradicts. Of those that say the same one is shown, which stands for the others. */
function pairsAmong(contradictions: readonly Tie[], shownAs: ReadonlyMap<string, string>): Map<string, string[]> {
  const pairs = new Map<string, string[]>();
  const add = (one: string, other: string) => {
    const others = pairs.get(one) ?? [];
    if (one !== other && !others.includes(other)) pairs.set(one, [...others, other]);
  };
  for (const { one, other } of contradictions) {
    const ends = [one, other].map((id) => shownAs.get(id) ?? id) as [string, string];
    add(ends[0], ends[1]);
    add(ends[1], ends[0]);
  }
  return pairs;
}

/** With what says the same already, if that is why. */
interface Refusal {
  readonly reason?: ContextReason;
  readonly by?: string;
}

/** Why something is out, asked of each in its order: what would say the same again does not count for the limit. */
function refusals(): (found: Found, part: WindowPart) => Refusal {
  const shown = new Map<string, string>();
  const taken = new Map<SectionName, number>();
  return ({ id, refused, section, limit }, part) => {
    if (refused) return { reason: refused };
    const said = JSON.stringify([section, part.type, part.title, part.text]);
    const by = shown.get(said);
    if (by !== undefined) return { reason: 'shown_already', by };
    const before = taken.get(section) ?? 0;
    if (before >= limit) return { reason: 'over_the_limit' };
    shown.set(said, id);
    taken.set(section, before + 1);
    return {};
  };
}

const candidateOf = (
  { section, entity_type, id, card_id, score, reason }: Found,
  row: CardRow,
  name: MemoryName | undefined,
  covers: Uncounted['covers'],
): Uncounted => ({
  entity_type,
  id,
  card_id,
  score,
  reason,
  part: entity_type === 'Turn' ? passagePart(row) : memoryPart(section, row, name),
  moment: row.created_at,
  ...(covers ? { covers } : {}),
});
