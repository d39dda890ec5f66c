/** The account of an assembled window: what became of every candidate and why, and how much each section takes. */
import type { ContextEntry, ContextReason, ContextSection, SectionName } from '../contexts/model.js';
import { conflictsAmong } from './conflicts.js';
import { type Candidate, type Chosen, type Fit, type Fitting, turnsShown } from './fitting.js';
import type { Section } from './sections.js';
import type { TurnCard } from './turns.js';

/** What tells of the past is told in its order; the rest stands with the best first. */
const IN_TIME: readonly SectionName[] = ['summaries', 'passages'];

/** Parts as they stand, section by section. */
export function inPlace(sections: readonly Section[], chosen: readonly Chosen[]): Chosen[] {
  return sections.flatMap(({ name }) => {
    const parts = chosen.filter(({ part }) => part.section === name);
    if (!IN_TIME.includes(name)) return parts;
    const key = ({ candidate }: Chosen) => candidate;
    return parts.sort((a, b) => key(a).moment - key(b).moment || (key(a).card_id < key(b).card_id ? -1 : 1));
  });
}

/** What the account is of. */
export interface Accountable {
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

const factsOf = ({ entity_type, id, card_id, score, part, tokens }: Candidate) => ({
  section: part.section,
  entity_type,
  id,
  card_id,
  score,
  tokens,
});

/** What became of everything, and how much each section takes. */
export function accountOf(material: Accountable, fitting: Fitting, fit: Fit): Account {
  const chosen = inPlace(material.sections, fit.chosen);
  const conflicts = conflictsAmong(chosen.map(({ candidate }) => candidate));
  const entries: ContextEntry[] = [];
  const order = material.sections.map(({ name }) => name);
  for (const section of order) {
    if (section === 'turns') {
      entries.push(...turnEntries(fitting, fit, entries.length));
      continue;
    }
    for (const one of material.given.filter(({ part }) => part.section === section)) {
      const place = entries.length + 1;
      entries.push({ ...factsOf(one), action: 'include', reason: 'given', ...OUT, place });
    }
    for (const { candidate, tokens, kept_characters } of chosen) {
      if (candidate.part.section !== section) continue;
      const action = kept_characters === null ? 'include' : 'truncate';
      const place = entries.length + 1;
      const { reason } = candidate;
      const facts = { ...factsOf(candidate), tokens, action, reason, by: null, kept_characters, place } as const;
      const contradicts = (conflicts.get(candidate) ?? []).map(({ id }) => id);
      entries.push(contradicts.length === 0 ? facts : { ...facts, contradicts });
    }
  }
  entries.push(...leftOut(fitting, fit));
  for (const [candidate, reason] of material.refused) {
    entries.push({ ...factsOf({ ...candidate, tokens: null }), action: 'exclude', reason, ...OUT });
  }
  const sections = order.map((name) => sectionAccount(name, entries, material.turns_total));
  return { entries, sections, truncated: entries.some(isForWantOfRoom) || hasMoreTurns(material, fitting, fit) };
}

const isForWantOfRoom = ({ action, reason }: ContextEntry): boolean =>
  action === 'truncate' || reason === 'no_room' || reason === 'share_used_up' || reason === 'in_a_summary';

/** Whether turns that nobody looked at would have been shown, had there been room. */
const hasMoreTurns = (
  { turns_total }: Accountable,
  { turns, max_turns }: Fitting,
  { turns: { reason } }: Fit,
): boolean => turns_total > turns.length && turns.length < max_turns && reason !== 'over_the_limit';

function turnEntries(fitting: Fitting, { turns: shown }: Fit, behind: number): ContextEntry[] {
  const { turns, units } = fitting;
  const facts = ({ card_id }: TurnCard) => ({
    section: 'turns' as const,
    entity_type: 'Turn' as const,
    id: card_id,
    card_id,
    score: null,
    by: null,
  });
  let place = behind;
  return units.slice(shown.from, shown.until).flatMap((unit) => {
    const cut = unit === units[shown.until - 1] ? shown.cut : null;
    return turns.slice(unit.from, unit.until).map((turn, i): ContextEntry => {
      const kept_characters = cut?.kept.get(turn.card_id) ?? null;
      return {
        ...facts(turn),
        action: kept_characters === null ? 'include' : 'truncate',
        reason: 'recent',
        // Of the unit, at the first of its turns: they are rendered together.
        tokens: i === 0 ? (cut ?? unit).tokens : 0,
        place: ++place,
        kept_characters,
      };
    });
  });
}

/** What was counted and is not in. */
function leftOut(fitting: Fitting, fit: Fit): ContextEntry[] {
  const { turns, units } = fitting;
  const standIns = new Map<string, string>();
  for (const { candidate } of fit.chosen) {
    for (const id of candidate.covers?.card_ids ?? []) standIns.set(id, candidate.id);
  }
  const shown = new Set(turnsShown(fitting, fit.turns).map(({ card_id }) => card_id));
  const { from: first, until: end } = fit.turns;
  const whyOut = (at: number): ContextReason =>
    at >= end ? fit.turns.skipped : at === first - 1 ? fit.turns.reason : 'behind_a_gap';
  const out: ContextEntry[] = units.flatMap(({ from, until, tokens }, at) => {
    if (at >= first && at < end) return [];
    return turns.slice(from, until).map((turn, i): ContextEntry => {
      const by = standIns.get(turn.card_id);
      const facts = { section: 'turns', entity_type: 'Turn', id: turn.card_id, card_id: turn.card_id } as const;
      const counts = { score: null, tokens: i === 0 ? tokens : 0 };
      if (by !== undefined) return { ...facts, ...counts, action: 'compress', reason: 'in_a_summary', ...OUT, by };
      return { ...facts, ...counts, action: 'exclude', reason: whyOut(at), ...OUT };
    });
  });
  for (const [candidate, reason] of fit.out) {
    // One that is shown as a turn is there, where turns are.
    const by = candidate.entity_type === 'Turn' && shown.has(candidate.card_id) ? candidate.card_id : null;
    out.push({ ...factsOf(candidate), action: 'exclude', reason, ...OUT, by });
  }
  return out;
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
