/** Assembling a window: counts what may go in, chooses, renders, and counts the whole until it keeps to the budget. */
import type {
  ContextEntry,
  ContextFormat,
  ContextReason,
  ContextSection,
  SectionName,
} from '../model/context.js';
import { CairnError } from '../model/errors.js';
import { cutAt, shortened } from './context-cut.js';
import {
  type Candidate,
  type Chosen,
  type CountedUnit,
  dropLeast,
  type Fit,
  type Fitting,
  fitWindow,
  LEAST_CUT_TOKENS,
  turnsShown,
} from './context-fitting.js';
import { shapes } from './context-formats.js';
import type { Section } from './context-sections.js';
import { conversationOf, type TurnCard, unitsOf } from './context-turns.js';
import type { Rendering, Shape, Window, WindowPart } from './context-window.js';

/** How texts are counted. Lets others have their turn in between. */
export interface Meter {
  count(text: string): Promise<number>;
  /** How many characters from the start have at most so many tokens. */
  within(text: string, tokens: number): Promise<number>;
}

/** No token has more characters: what is longer than the budget by this cannot fit, and is not counted. */
const LONGEST_TOKEN = 256;

export type Uncounted = Omit<Candidate, 'tokens'>;

export interface Material {
  readonly format: ContextFormat;
  readonly budget: number;
  readonly sections: readonly Section[];
  /** Texts that must be in: profile, instructions, what the user says. */
  readonly given: readonly Uncounted[];
  /** In each section the best first. */
  readonly candidates: readonly Uncounted[];
  /** Candidates that are out before anything is counted. */
  readonly refused: readonly (readonly [Uncounted, ContextReason])[];
  /** The newest turns, in order. */
  readonly turns: readonly TurnCard[];
  /** How many there are in all. */
  readonly turns_total: number;
  readonly max_turns: number;
}

export interface Assembly extends Rendering {
  readonly token_count: number;
  readonly truncated: boolean;
  readonly sections: ContextSection[];
  readonly entries: ContextEntry[];
}

const countOf = (meter: Meter, budget: number, text: string): Promise<number> | null =>
  text.length > budget * LONGEST_TOKEN ? null : meter.count(text);

/** The tokens of the units of turns, in order, as the format shows them; null for what is longer than the budget. */
export async function countUnits(
  meter: Meter,
  format: ContextFormat,
  budget: number,
  turns: readonly TurnCard[],
): Promise<CountedUnit[]> {
  const counted: CountedUnit[] = [];
  for (const unit of unitsOf(turns)) {
    const text = shapes[format].turns(conversationOf(turns.slice(unit.from, unit.until)));
    counted.push({ ...unit, tokens: await countOf(meter, budget, text) });
  }
  return counted;
}

export async function assemble(material: Material, meter: Meter): Promise<Assembly> {
  const shape = shapes[material.format];
  const { budget, sections } = material;
  const fixed = windowOf(material, [], []);
  const needed = await meter.count(shape.render(fixed).text);
  if (needed > budget) {
    throw new CairnError(
      'CONTEXT_BUDGET_TOO_SMALL',
      `what must be in the context takes ${needed} tokens, the token_budget is ${budget}: raise it, or shorten the user_input, the instructions or the profile`,
      { needed_tokens: needed, token_budget: budget },
    );
  }
  const given = await counted(material.given, shape, meter, budget);
  const hasSystem = given.some(({ part }) => part.section !== 'user_input');
  const headings = await headingsOf(sections, shape, meter);
  const fitting: Fitting = {
    sections,
    budget,
    room: budget - needed - (hasSystem ? 0 : await meter.count(shape.frame)),
    candidates: await counted(material.candidates, shape, meter, budget),
    turns: material.turns,
    units: await countUnits(meter, material.format, budget, material.turns),
    max_turns: material.max_turns,
    heading: (section) => headings.get(section)!,
    cut: (candidate, tokens) => cutCandidate(candidate, tokens, shape, meter),
    cutTurn: (turn, tokens) => cutTurn(turn, tokens, shape, meter),
  };
  let fit = await fitWindow(fitting);
  for (;;) {
    const chosen = inPlace(sections, fit.chosen);
    const rendering = shape.render(windowOf(material, chosen, turnsShown(fitting, fit.turns)));
    const token_count = await meter.count(rendering.text);
    if (token_count <= budget)
      return { ...rendering, token_count, ...accountOf(material, fitting, given, fit) };
    // Texts that are joined may be more tokens than each alone.
    fit = dropLeast(fitting, fit, token_count - budget)!;
  }
}

async function counted(
  list: readonly Uncounted[],
  shape: Shape,
  meter: Meter,
  budget: number,
): Promise<Candidate[]> {
  const found: Candidate[] = [];
  for (const one of list) {
    found.push({ ...one, tokens: await countOf(meter, budget, shape.part(one.part)) });
  }
  return found;
}

async function headingsOf(
  sections: readonly Section[],
  shape: Shape,
  meter: Meter,
): Promise<ReadonlyMap<SectionName, number>> {
  const headings = new Map<SectionName, number>();
  for (const { name } of sections) headings.set(name, await meter.count(shape.around(name)));
  return headings;
}

const windowOf = (
  { sections, given }: Material,
  chosen: readonly Chosen[],
  turns: readonly TurnCard[],
): Window => ({
  order: sections.map(({ name }) => name).filter((name) => name !== 'turns' && name !== 'user_input'),
  parts: [...given.map(({ part }) => part), ...chosen.map(({ part }) => part)],
  turns,
});

/** What tells of the past is told in its order; the rest stands with the best first. */
const IN_TIME: readonly SectionName[] = ['summaries', 'passages'];

function inPlace(sections: readonly Section[], chosen: readonly Chosen[]): Chosen[] {
  return sections.flatMap(({ name }) => {
    const parts = chosen.filter(({ part }) => part.section === name);
    if (!IN_TIME.includes(name)) return parts;
    const key = ({ candidate }: Chosen) => candidate;
    return parts.sort((a, b) => key(a).moment - key(b).moment || (key(a).card_id < key(b).card_id ? -1 : 1));
  });
}

const TRIES = 4;

/** A text shortened so that what is made of it has at most so many tokens. */
async function cutText<T>(
  text: string,
  tokens: number,
  meter: Meter,
  made: (text: string) => { readonly shown: T; readonly text: string },
): Promise<{ shown: T; tokens: number; kept_characters: number } | undefined> {
  let room = tokens - (await meter.count(made(shortened('', 0)).text));
  for (let tries = 0; tries < TRIES && room >= LEAST_CUT_TOKENS / 2; tries++) {
    const kept_characters = cutAt(text, await meter.within(text, room));
    if (kept_characters === 0) return undefined;
    const { shown, text: rendered } = made(shortened(text, kept_characters));
    const found = await meter.count(rendered);
    if (found <= tokens) return { shown, tokens: found, kept_characters };
    // As JSON or XML it may be more tokens than as plain text.
    room = Math.floor((room * tokens * 0.95) / found);
  }
  return undefined;
}

async function cutCandidate(
  candidate: Candidate,
  tokens: number,
  shape: Shape,
  meter: Meter,
): Promise<Chosen | undefined> {
  const cut = await cutText(
    candidate.part.text,
    tokens,
    meter,
    (text): { shown: WindowPart; text: string } => {
      const shown = { ...candidate.part, text };
      return { shown, text: shape.part(shown) };
    },
  );
  return cut && { candidate, part: cut.shown, tokens: cut.tokens, kept_characters: cut.kept_characters };
}

async function cutTurn(turn: TurnCard, tokens: number, shape: Shape, meter: Meter) {
  const { content, role } = turn;
  const isPlain = turn.tool_calls === null && turn.tool_results === null && role !== 'tool';
  if (typeof content !== 'string' || !isPlain) return undefined;
  const cut = await cutText(content, tokens, meter, (text): { shown: TurnCard; text: string } => {
    const shown = { ...turn, content: text };
    return { shown, text: shape.turns(conversationOf([shown])) };
  });
  return cut && { turn: cut.shown, tokens: cut.tokens, kept_characters: cut.kept_characters };
}

type Account = Pick<Assembly, 'truncated' | 'sections' | 'entries'>;

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
function accountOf(material: Material, fitting: Fitting, given: readonly Candidate[], fit: Fit): Account {
  const chosen = inPlace(material.sections, fit.chosen);
  const entries: ContextEntry[] = [];
  const order = material.sections.map(({ name }) => name);
  for (const section of order) {
    if (section === 'turns') {
      entries.push(...turnEntries(fitting, fit, entries.length));
      continue;
    }
    for (const one of given.filter(({ part }) => part.section === section)) {
      const place = entries.length + 1;
      entries.push({ ...factsOf(one), action: 'include', reason: 'given', ...OUT, place });
    }
    for (const { candidate, tokens, kept_characters } of chosen) {
      if (candidate.part.section !== section) continue;
      const action = kept_characters === null ? 'include' : 'truncate';
      const place = entries.length + 1;
      const { reason } = candidate;
      entries.push({ ...factsOf(candidate), tokens, action, reason, by: null, kept_characters, place });
    }
  }
  entries.push(...leftOut(fitting, fit));
  for (const [candidate, reason] of material.refused) {
    entries.push({ ...factsOf({ ...candidate, tokens: null }), action: 'exclude', reason, ...OUT });
  }
  const sections = order.map((name) => sectionAccount(name, entries, material.turns_total));
  return { entries, sections, truncated: entries.some(isForWantOfRoom) || hasMoreTurns(material, fit) };
}

const isForWantOfRoom = ({ action, reason }: ContextEntry): boolean =>
  action === 'truncate' || reason === 'no_room' || reason === 'share_used_up' || reason === 'in_a_summary';

/** Whether turns that nobody looked at would have been shown, had there been room. */
const hasMoreTurns = ({ turns, turns_total, max_turns }: Material, { turns: { reason } }: Fit): boolean =>
  turns_total > turns.length && turns.length < max_turns && reason !== 'over_the_limit';

function turnEntries(fitting: Fitting, { turns: shown }: Fit, behind: number): ContextEntry[] {
  const { turns, units } = fitting;
  const facts = ({ card_id }: TurnCard) => ({
    section: 'turns' as const,
    entity_type: 'turn' as const,
    id: card_id,
    card_id,
    score: null,
    by: null,
  });
  if (shown.cut) {
    const { turn, tokens, kept_characters } = shown.cut;
    const place = behind + 1;
    return [{ ...facts(turn), action: 'truncate', reason: 'recent', tokens, place, kept_characters }];
  }
  let place = behind;
  return units.slice(shown.from).flatMap(({ from, until, tokens }) =>
    turns.slice(from, until).map((turn, i) => ({
      ...facts(turn),
      action: 'include' as const,
      reason: 'recent' as const,
      // Of the unit, at the first of its turns: they are rendered together.
      tokens: i === 0 ? tokens : 0,
      place: ++place,
      kept_characters: null,
    })),
  );
}

/** What was counted and is not in. */
function leftOut(fitting: Fitting, fit: Fit): ContextEntry[] {
  const { turns, units } = fitting;
  const standIns = new Map<string, string>();
  for (const { candidate } of fit.chosen) {
    for (const id of candidate.covers?.card_ids ?? []) standIns.set(id, candidate.id);
  }
  const shown = new Set(turnsShown(fitting, fit.turns).map(({ card_id }) => card_id));
  const before = fit.turns.cut ? units.length - 1 : fit.turns.from;
  const out: ContextEntry[] = units.slice(0, before).flatMap(({ from, until, tokens }, at) =>
    turns.slice(from, until).map((turn, i): ContextEntry => {
      const by = standIns.get(turn.card_id);
      const facts = {
        section: 'turns',
        entity_type: 'turn',
        id: turn.card_id,
        card_id: turn.card_id,
      } as const;
      const counts = { score: null, tokens: i === 0 ? tokens : 0 };
      if (by !== undefined)
        return { ...facts, ...counts, action: 'compress', reason: 'in_a_summary', ...OUT, by };
      const reason = at === before - 1 ? fit.turns.reason : 'behind_a_gap';
      return { ...facts, ...counts, action: 'exclude', reason, ...OUT };
    }),
  );
  for (const [candidate, reason] of fit.out) {
    // One that is shown as a turn is there, where turns are.
    const by = candidate.entity_type === 'turn' && shown.has(candidate.card_id) ? candidate.card_id : null;
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
