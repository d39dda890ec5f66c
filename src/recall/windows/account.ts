/** The account of an assembled window: the fate of every candidate with its reason, and the tokens of each section. */
import type { ContextEntry, ContextReason, ContextSection, SectionName } from '../contexts/model.js';
import { conflictsAmong } from './conflicts.js';
import { type Candidate, type Chosen, type CountedUnit, type Fit, type FitInput, turnsShown } from './fitting.js';
import type { Section } from './sections.js';
import type { TurnCard } from './turns.js';

/** Sections about the past are in chronological order; in the others the best comes first. */
const CHRONOLOGICAL: readonly SectionName[] = ['summaries', 'passages'];

/** Parts in the order in which the window shows them. */
export function inDisplayOrder(sections: readonly Section[], chosen: readonly Chosen[]): Chosen[] {
  return sections.flatMap(({ name }) => {
    const parts = chosen.filter(({ part }) => part.section === name);
    if (!CHRONOLOGICAL.includes(name)) return parts;
    return parts.sort(({ candidate: a }, { candidate: b }) => a.moment - b.moment || (a.card_id < b.card_id ? -1 : 1));
  });
}

interface AccountInput {
  readonly sections: readonly Section[];
  readonly given: readonly Candidate[];
  readonly refused: readonly (readonly [Omit<Candidate, 'tokens'>, ContextReason])[];
  readonly turns_total: number;
}

export interface Account {
  readonly truncated: boolean;
  readonly sections: ContextSection[];
  readonly entries: ContextEntry[];
}

const OUT = { place: null, kept_characters: null, by: null } as const;

const factsOf = ({ entity_type, id, card_id, score, part, tokens }: Candidate) =>
  ({ section: part.section, entity_type, id, card_id, score, tokens, ...OUT }) as const;

export function accountOf(material: AccountInput, input: FitInput, fit: Fit): Account {
  const chosen = inDisplayOrder(material.sections, fit.chosen);
  const conflicts = conflictsAmong(chosen.map(({ candidate }) => candidate));
  const order = material.sections.map(({ name }) => name);
  const shown = order.flatMap((name): ContextEntry[] => {
    if (name === 'turns') return shownTurns(input, fit);
    const isOwn = ({ part }: Candidate | Chosen) => part.section === name;
    const given = material.given.filter(isOwn);
    return [
      ...given.map((one): ContextEntry => ({ ...factsOf(one), action: 'include', reason: 'given' })),
      ...chosen.filter(isOwn).map((one) => chosenEntry(one, conflicts.get(one.candidate) ?? [])),
    ];
  });
  const entries: ContextEntry[] = [
    ...shown.map((entry, i) => ({ ...entry, place: i + 1 })),
    ...turnsLeftOut(input, fit),
    ...candidatesLeftOut(input, fit),
    ...material.refused.map(([candidate, reason]): ContextEntry => {
      return { ...factsOf({ ...candidate, tokens: null }), action: 'exclude', reason };
    }),
  ];
  const sections = order.map((name) => sectionAccount(name, entries, material.turns_total));
  return { entries, sections, truncated: entries.some(isLackOfRoom) || hasMoreTurns(material, input, fit) };
}

const chosenEntry = (
  { candidate, tokens, kept_characters, kept_from = 0 }: Chosen,
  contradicted: readonly Candidate[],
): ContextEntry => ({
  ...factsOf(candidate),
  tokens,
  action: kept_characters === null ? 'include' : 'truncate',
  reason: candidate.reason,
  kept_characters,
  ...(kept_from > 0 ? { kept_from } : {}),
  ...(candidate.replaces ? { replaces: candidate.replaces } : {}),
  ...(contradicted.length === 0 ? {} : { contradicts: contradicted.map(({ id }) => id) }),
});

const isLackOfRoom = ({ action, reason }: ContextEntry): boolean =>
  action === 'truncate' || reason === 'no_room' || reason === 'share_used_up' || reason === 'in_a_summary';

/** Whether turns that were never read would have been shown, had there been room. */
const hasMoreTurns = ({ turns_total }: AccountInput, { turns, max_turns }: FitInput, fit: Fit): boolean =>
  turns_total > turns.length && turns.length < max_turns && fit.turns.reason !== 'over_the_limit';

/** The turns of a unit. They are rendered together, so the first carries the tokens of the unit. */
const turnFacts = (turns: readonly TurnCard[], { from, until }: CountedUnit, tokens: number | null) =>
  turns.slice(from, until).map(({ card_id }, i) => {
    const counts = { score: null, tokens: i === 0 ? tokens : 0 };
    return { section: 'turns', entity_type: 'Turn', id: card_id, card_id, ...counts, ...OUT } as const;
  });

const shownTurns = ({ turns, units }: FitInput, { turns: shown }: Fit): ContextEntry[] =>
  units.slice(shown.from, shown.until).flatMap((unit) => {
    const cut = unit === units[shown.until - 1] ? shown.cut : null;
    return turnFacts(turns, unit, (cut ?? unit).tokens).map((facts): ContextEntry => {
      const kept_characters = cut?.kept.get(facts.card_id) ?? null;
      const action = kept_characters === null ? 'include' : 'truncate';
      return { ...facts, action, reason: 'recent', kept_characters };
    });
  });

function turnsLeftOut({ turns, units }: FitInput, fit: Fit): ContextEntry[] {
  const covered = fit.chosen.flatMap(({ candidate: { covers, id } }) =>
    (covers?.card_ids ?? []).map((card_id) => [card_id, id] as const),
  );
  const summaries = new Map(covered);
  const { from, until, reason, skipped } = fit.turns;
  const whyOut = (at: number): ContextReason => (at >= until ? skipped : at === from - 1 ? reason : 'behind_a_gap');
  return units.flatMap((unit, at) => {
    if (at >= from && at < until) return [];
    return turnFacts(turns, unit, unit.tokens).map((facts): ContextEntry => {
      const by = summaries.get(facts.card_id);
      if (by !== undefined) return { ...facts, action: 'compress', reason: 'in_a_summary', by };
      return { ...facts, action: 'exclude', reason: whyOut(at) };
    });
  });
}

function candidatesLeftOut(input: FitInput, fit: Fit): ContextEntry[] {
  const shown = new Set(turnsShown(input, fit.turns).map(({ card_id }) => card_id));
  return [...fit.out].map(([candidate, reason]): ContextEntry => {
    // A passage may be out because its turn is among the turns shown.
    const by = candidate.entity_type === 'Turn' && shown.has(candidate.card_id) ? candidate.card_id : null;
    return { ...factsOf(candidate), action: 'exclude', reason, by };
  });
}

export function sectionAccount(
  name: SectionName,
  entries: readonly ContextEntry[],
  turns_total: number,
): ContextSection {
  const own = entries.filter(({ section }) => section === name);
  const shown = own.filter(({ place }) => place !== null);
  return {
    name,
    tokens: shown.reduce((sum, { tokens }) => sum + (tokens ?? 0), 0),
    included: shown.length,
    left_out: (name === 'turns' ? turns_total : own.length) - shown.length,
  };
}
