/** Turns the references found for a context into candidates, with their cards, coverage and contradictions. */
import type { Query } from '../../driver/index.js';
import type { Call } from '../../engine/index.js';
import { isVisible } from '../../facts/sql.js';
import type { Material, Uncounted } from '../windows/assembly.js';
import type { TurnCard } from '../windows/turns.js';
import type { WindowPart } from '../windows/window.js';
import type { ContextReason, SectionName } from './model.js';
import { cardsOf, conflictOf, memoryPart, passagePart } from './parts.js';
import { markOf, replacementsOf } from './replaced-values.js';
import { type EdgeEnds, edgesAmong, memoryEdges, namesOf, sourceCounts } from './sources.js';

/** A candidate before its card is read. */
export interface CandidateRef {
  readonly section: SectionName;
  readonly entity_type: 'Turn' | 'Artifact' | 'Note';
  readonly id: string;
  readonly card_id: string;
  readonly score: number | null;
  readonly reason: ContextReason;
  /** Why it is out before its card is read. */
  readonly refused?: ContextReason;
  /** Maximum number of candidates of its section; those beyond it are out. */
  readonly limit: number;
}

/** References to cards that were erased meanwhile are skipped. */
export async function readCandidates(
  call: Call,
  query: Query,
  refs: readonly CandidateRef[],
  turns: readonly TurnCard[],
): Promise<Pick<Material, 'candidates' | 'refused'>> {
  const card_ids = refs.map(({ card_id }) => card_id);
  const memories = refs
    .filter(({ entity_type }) => entity_type !== 'Turn')
    .map(({ id, card_id }) => ({ memory_id: id, card_id }));
  const memory_ids = memories.map(({ memory_id }) => memory_id);
  const summary_ids = refs.filter(({ section }) => section === 'summaries').map(({ id }) => id);
  const turn_ids = turns.map(({ card_id }) => card_id);
  const [cards, names, sources, counts, edges] = await Promise.all([
    cardsOf(query, card_ids),
    namesOf(query, memories),
    edgesAmong(query, 'SynthesizedFrom', summary_ids, turn_ids),
    sourceCounts(query, summary_ids),
    memoryEdges(query, memory_ids),
  ]);
  const contradictions = edges.filter(({ edge_type }) => edge_type === 'Contradicts');
  const replacements = await replacementsOf(call, query, edges);
  const candidates: Uncounted[] = [];
  const refused: [Uncounted, ContextReason][] = [];
  const refusal = refusals();
  const now = call.driver.now();
  const shownAs = new Map<string, string>();
  for (const ref of refs) {
    const { section, entity_type, id, card_id, score, reason } = ref;
    const row = cards.get(card_id);
    if (!row || !isVisible(row, now)) continue;
    const plain = entity_type === 'Turn' ? passagePart(row) : memoryPart(section, row, names.get(card_id));
    const replaced = replacements.get(id);
    const part = replaced ? { ...plain, mark: markOf(row, names.get(card_id)?.metadata, replaced.text) } : plain;
    const covered = sources.filter(({ one }) => one === id).map(({ other }) => other);
    const covers = { card_ids: covered, others: (counts.get(id) ?? 0) > new Set(covered).size };
    const replaces = replaced ? { replaces: replaced.value } : {};
    const facts = { entity_type, id, card_id, score, reason, part, moment: row.created_at, ...replaces };
    const candidate = section === 'summaries' ? { ...facts, covers } : facts;
    const { why, by } = refusal(ref, part);
    if (by !== undefined) shownAs.set(id, by);
    if (why) refused.push([candidate, why]);
    else candidates.push(candidate);
  }
  const pairs = contradictingPairs(contradictions, shownAs);
  return {
    candidates: candidates.map((one) => {
      const others = pairs.get(one.id);
      if (!others) return one;
      return { ...one, conflict: conflictOf(cards.get(one.card_id)!, names.get(one.card_id), one.part, others) };
    }),
    refused,
  };
}

/** The ids that each id contradicts. Of memories with the same text, the one that is shown represents the others. */
function contradictingPairs(
  contradictions: readonly EdgeEnds[],
  shownAs: ReadonlyMap<string, string>,
): Map<string, string[]> {
  const pairs = new Map<string, string[]>();
  const add = (one: string, other: string) => {
    const others = pairs.get(one) ?? [];
    if (one !== other && !others.includes(other)) pairs.set(one, [...others, other]);
  };
  for (const ends of contradictions) {
    const one = shownAs.get(ends.one) ?? ends.one;
    const other = shownAs.get(ends.other) ?? ends.other;
    add(one, other);
    add(other, one);
  }
  return pairs;
}

/** Decides in order why a candidate is out; `by` shows the same text. Repetitions do not count for the limit. */
function refusals(): (ref: CandidateRef, part: WindowPart) => { why?: ContextReason; by?: string } {
  const shown = new Map<string, string>();
  const taken = new Map<SectionName, number>();
  return ({ id, refused, section, limit }, part) => {
    if (refused) return { why: refused };
    const text = JSON.stringify([section, part.type, part.title, part.text]);
    const by = shown.get(text);
    if (by !== undefined) return { why: 'shown_already', by };
    const before = taken.get(section) ?? 0;
    if (before >= limit) return { why: 'over_the_limit' };
    shown.set(text, id);
    taken.set(section, before + 1);
    return {};
  };
}
