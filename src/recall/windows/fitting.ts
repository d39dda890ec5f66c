/** Choosing what goes into a window: by priority, within the rooms of sections, turns from the newest backwards. */
import type { ContextReason, SectionName } from '../contexts/model.js';
import type { Conflict } from './conflicts.js';
import { mostOf, reasonAt, roomsFor } from './rooms.js';
import { byPriority, GIVEN, type Section } from './sections.js';
import { isPlain, type TurnCard, type Unit } from './turns.js';
import type { WindowPart } from './window.js';

/** Something that may go into a section other than turns. */
export interface Candidate {
  readonly entity_type: 'Turn' | 'Artifact' | 'Note' | 'Card';
  readonly id: string;
  readonly card_id: string;
  readonly score: number | null;
  /** Why it would be in. */
  readonly reason: ContextReason;
  readonly part: WindowPart;
  /** When it was made: what is shown in the order of time goes by this. */
  readonly moment: number;
  /** Of its own text as rendered; null if it is too long to be counted. */
  readonly tokens: number | null;
  readonly conflict?: Conflict;
  /** The turns that it stands for, of those that were read, and whether it stands for others as well. */
  readonly covers?: { readonly card_ids: readonly string[]; readonly others: boolean };
}

export interface CountedUnit extends Unit {
  readonly tokens: number | null;
}

/** A part that is shown, maybe shortened. */
export interface Chosen {
  readonly candidate: Candidate;
  readonly part: WindowPart;
  readonly tokens: number;
  readonly kept_characters: number | null;
}

/** Turns that belong together, shortened. */
export interface CutUnit {
  readonly turns: readonly TurnCard[];
  /** Of those that are, by their cards, how many characters are shown. */
  readonly kept: ReadonlyMap<string, number>;
  readonly tokens: number;
}

export interface ChosenTurns {
  /** Of the list of units, from this one on. */
  readonly from: number;
  /** Up to this one, which is out: calls that are too long to be shown at all. */
  readonly until: number;
  readonly tokens: number;
  /** The last of these units, if it was too long to be shown as it is. */
  readonly cut: CutUnit | null;
  /** Why the one before the first is out. */
  readonly reason: ContextReason;
  /** Why those behind the last are. */
  readonly skipped: ContextReason;
}

export interface Fitting {
  readonly sections: readonly Section[];
  readonly budget: number;
  /** What is left of it after what must be in. */
  readonly room: number;
  readonly candidates: readonly Candidate[];
  readonly turns: readonly TurnCard[];
  readonly units: readonly CountedUnit[];
  readonly max_turns: number;
  /** What the first part of a section costs besides itself. */
  readonly heading: (section: SectionName) => number;
  /** A candidate shortened to so many tokens, if anything of it can be shown by them. */
  readonly cut: (candidate: Candidate, tokens: number) => Promise<Chosen | undefined>;
  readonly cutUnit: (turns: readonly TurnCard[], tokens: number) => Promise<CutUnit | undefined>;
}

export interface Fit {
  readonly chosen: Chosen[];
  readonly turns: ChosenTurns;
  readonly out: Map<Candidate, ContextReason>;
}

/** Less is no text that anybody can use. */
export const LEAST_CUT_TOKENS = 32;

/** Of the room for turns, what a call with long results takes at most: what it was made for stands before it. */
export const CUT_SHARE = 0.75;

/** Chooses, and chooses again without what the turns that are shown make superfluous. */
export async function fitWindow(given: Fitting): Promise<Fit> {
  const superfluous = new Set<Candidate>();
  for (;;) {
    const candidates = given.candidates.filter((one) => !superfluous.has(one));
    const fit = await fitOnce({ ...given, candidates });
    const shown = new Set(turnsShown(given, fit.turns).map(({ card_id }) => card_id));
    const again = fit.chosen.filter(({ candidate }) => isShown(candidate, shown));
    if (again.length === 0) {
      for (const one of superfluous) fit.out.set(one, 'shown_already');
      return fit;
    }
    for (const { candidate } of again) superfluous.add(candidate);
  }
}

export const turnsShown = (
  { turns, units }: Pick<Fitting, 'turns' | 'units'>,
  { from, until, cut }: ChosenTurns,
): readonly TurnCard[] => {
  if (from >= until) return [];
  const last = units[until - 1]!;
  const whole = turns.slice(units[from]!.from, cut ? last.from : last.until);
  return cut ? [...whole, ...cut.turns] : whole;
};

function isShown({ entity_type, card_id, covers }: Candidate, shown: ReadonlySet<string>): boolean {
  if (entity_type === 'Turn') return shown.has(card_id);
  if (!covers || covers.others || covers.card_ids.length === 0) return false;
  return covers.card_ids.every((id) => shown.has(id));
}

/** What a section takes of its room. */
interface Filled {
  readonly tokens: number;
  readonly chosen: readonly Chosen[];
  readonly out: readonly Candidate[];
  readonly reason: ContextReason;
  /** Of the section of turns alone. */
  readonly turns: ChosenTurns | null;
  /** With so many tokens more it could show more; Infinity where it has all. */
  readonly least: number;
}

async function fitOnce(given: Fitting): Promise<Fit> {
  const { budget } = given;
  const sections = byPriority(given.sections).filter(({ name }) => !GIVEN.includes(name));
  const wanted = new Map(sections.map(({ name }) => [name, wantedFor(given, name)]));
  const rooms = roomsFor(sections, wanted, budget, given.room);
  const filled = new Map<SectionName, Filled>();
  let left = given.room;
  for (const section of sections) {
    const one = await fill(given, section, rooms.get(section.name)!);
    filled.set(section.name, one);
    left -= one.tokens;
  }
  // What is chosen seldom fills a room to its end. What is left may be enough for something of another section.
  for (const section of sections) {
    const before = filled.get(section.name)!;
    const room = Math.min(before.tokens + left, mostOf(section, budget));
    if (room < before.tokens + before.least || room <= rooms.get(section.name)!) continue;
    const after = await fill(given, section, room);
    filled.set(section.name, after);
    left += before.tokens - after.tokens;
  }
  const all = [...filled.values()];
  return {
    chosen: all.flatMap(({ chosen }) => chosen),
    turns: filled.get('turns')!.turns!,
    out: new Map(all.flatMap(({ out, reason }) => out.map((one) => [one, reason] as const))),
  };
}

/** All that a section could take. */
function wantedFor({ candidates, turns, units, max_turns, heading }: Fitting, name: SectionName): number {
  const tokens =
    name === 'turns'
      ? units.filter(({ from }) => turns.length - from <= max_turns).map((unit) => unit.tokens)
      : candidates.filter(({ part }) => part.section === name).map((one) => one.tokens);
  if (tokens.length === 0) return 0;
  return tokens.reduce<number>((sum, one) => sum + (one ?? Infinity), heading(name));
}

async function fill(given: Fitting, section: Section, room: number): Promise<Filled> {
  const reason = reasonAt(section, given.budget, room);
  if (section.name !== 'turns') return fillSection(given, section.name, room, reason);
  const turns = await fillTurns(given, room, reason);
  const next = turns.reason === 'over_the_limit' ? undefined : given.units[turns.from - 1];
  const isShort = turns.cut !== null || turns.until < given.units.length || (next && turns.tokens === 0);
  const least = Math.min(next?.tokens ?? Infinity, isShort ? LEAST_CUT_TOKENS : Infinity);
  return { tokens: turns.tokens, chosen: [], out: [], reason, turns, least };
}

async function fillSection(
  { candidates, heading, cut }: Fitting,
  name: SectionName,
  room: number,
  reason: ContextReason,
): Promise<Filled> {
  const inSection = candidates.filter(({ part }) => part.section === name);
  const shown: Chosen[] = [];
  const out: Candidate[] = [];
  let left = room;
  let first = heading(name);
  let mayCut = true;
  for (const candidate of inSection) {
    const { part, tokens } = candidate;
    const whole = tokens !== null && tokens + first <= left;
    // One that is too long is shortened, and smaller ones behind it still get what is left.
    const tried = !whole && mayCut && left - first >= LEAST_CUT_TOKENS;
    const chosen = whole
      ? { candidate, part, tokens, kept_characters: null }
      : tried
        ? await cut(candidate, left - first)
        : undefined;
    if (tried) mayCut = false;
    if (!chosen) {
      out.push(candidate);
      continue;
    }
    shown.push(chosen);
    left -= chosen.tokens + first;
    first = 0;
  }
  const isShort = out.length > 0 || shown.some(({ kept_characters }) => kept_characters !== null);
  const least = Math.min(isShort ? LEAST_CUT_TOKENS : Infinity, ...out.map(({ tokens }) => tokens ?? Infinity));
  return { tokens: room - left, chosen: shown, out, reason, turns: null, least: least + first };
}

async function fillTurns(given: Fitting, room: number, reason: ContextReason): Promise<ChosenTurns> {
  const { turns, units, max_turns, heading, cutUnit } = given;
  const first = heading('turns');
  const { until, cut } = await newestOf(given, room - first);
  const newest = cut && units[until - 1]!;
  let tokens = cut?.tokens ?? 0;
  let from = cut ? until - 1 : until;
  let why = reason;
  // Of what somebody said, all that fits is shown, and nothing before it.
  const isAll = cut?.turns.every(isPlain) ?? false;
  while (from > 0 && !isAll) {
    const unit = units[from - 1]!;
    if (turns.length - unit.from > max_turns) {
      why = 'over_the_limit';
      break;
    }
    if (unit.tokens === null || tokens + unit.tokens + first > room) break;
    tokens += unit.tokens;
    from--;
  }
  // What was kept for turns before a call, and they do not take, is for its results.
  const left = room - first - tokens;
  const longer =
    newest && !isAll && left >= LEAST_CUT_TOKENS
      ? await cutUnit(turns.slice(newest.from, newest.until), cut.tokens + left)
      : undefined;
  if (longer) tokens += longer.tokens - cut!.tokens;
  return { from, until, tokens: tokens === 0 ? 0 : tokens + first, cut: longer ?? cut, reason: why, skipped: reason };
}

/** Where the turns end: with the newest, if need be shortened, or before calls of which not even a little can be shown. */
async function newestOf(
  { turns, units, max_turns, cutUnit }: Fitting,
  room: number,
): Promise<Pick<ChosenTurns, 'until' | 'cut'>> {
  for (let until = units.length; until > 0; until--) {
    const newest = units[until - 1]!;
    if (turns.length - newest.from > max_turns) break;
    if (newest.tokens !== null && newest.tokens <= room) return { until, cut: null };
    const unit = turns.slice(newest.from, newest.until);
    const isSaid = unit.every(isPlain);
    // What a call was made for stands before it, unless there is room for only one of them.
    for (const most of isSaid || until === 1 ? [room] : [Math.floor(room * CUT_SHARE), room]) {
      const cut = most < LEAST_CUT_TOKENS ? undefined : await cutUnit(unit, most);
      if (cut) return { until, cut };
    }
    if (isSaid) break;
  }
  return { until: units.length, cut: null };
}

/** Takes out what is of the least priority, until so many tokens are free by estimate; nothing if nothing is left. */
export function dropLeast(given: Fitting, fit: Fit, tokens: number): Fit | undefined {
  const chosen = [...fit.chosen];
  const out = new Map(fit.out);
  let { turns } = fit;
  let freed = 0;
  for (const { name } of byPriority(given.sections).reverse()) {
    while (freed < tokens && name === 'turns' && turns.from < turns.until) {
      const cut = turns.from === turns.until - 1 ? turns.cut : null;
      freed += Math.max(1, cut?.tokens ?? given.units[turns.from]!.tokens!);
      turns = { ...turns, from: turns.from + 1, cut: cut ? null : turns.cut };
    }
    while (freed < tokens) {
      const last = chosen.findLastIndex(({ part }) => part.section === name);
      if (last === -1) break;
      const [dropped] = chosen.splice(last, 1);
      out.set(dropped!.candidate, 'no_room');
      freed += Math.max(1, dropped!.tokens);
    }
  }
  return freed === 0 ? undefined : { chosen, turns, out };
}
