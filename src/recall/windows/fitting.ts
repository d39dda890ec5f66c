/** Chooses what goes into a window: by priority, within the tokens of each section, turns from the newest backwards. */
import type { ContextReason, ReplacedValue, SectionName } from '../contexts/model.js';
import type { Conflict } from './conflicts.js';
import { allotTokens, byPriority, GIVEN, maxTokens, reasonAt, type Section, withPassagesShare } from './sections.js';
import { isPlain, type TurnCard, type Unit } from './turns.js';
import type { WindowPart } from './window.js';

/** A candidate for a section other than turns. */
export interface Candidate {
  readonly entity_type: 'Turn' | 'Artifact' | 'Note' | 'Card';
  readonly id: string;
  readonly card_id: string;
  readonly score: number | null;
  /** Why it would be included. */
  readonly reason: ContextReason;
  readonly part: WindowPart;
  /** Its creation time, by which chronological sections are ordered. */
  readonly moment: number;
  /** Of its own text as rendered; null if that is longer than the budget. */
  readonly tokens: number | null;
  readonly conflict?: Conflict;
  /** The value that its mark names. */
  readonly replaces?: ReplacedValue;
  /** The turns that were read and that it summarises; `others`: whether it summarises more. */
  readonly covers?: { readonly card_ids: readonly string[]; readonly others: boolean };
}

export interface CountedUnit extends Unit {
  readonly tokens: number | null;
}

/** A part that is shown, possibly shortened. */
export interface Chosen {
  readonly candidate: Candidate;
  readonly part: WindowPart;
  readonly tokens: number;
  readonly kept_characters: number | null;
  /** Where the shown part of a shortened text begins; default: 0. */
  readonly kept_from?: number;
}

export interface CutUnit {
  readonly turns: readonly TurnCard[];
  /** Characters shown of each shortened turn, by card. */
  readonly kept: ReadonlyMap<string, number>;
  readonly tokens: number;
}

/** The units from `from` up to `until`, excluded. */
interface ChosenTurns {
  readonly from: number;
  /** Calls from here on are too long to show even a part of. */
  readonly until: number;
  readonly tokens: number;
  /** The last of these units, if it had to be shortened. */
  readonly cut: CutUnit | null;
  /** Why the unit before `from` is out. */
  readonly reason: ContextReason;
  /** Why the units from `until` on are out. */
  readonly skipped: ContextReason;
}

export interface FitInput {
  readonly sections: readonly Section[];
  readonly budget: number;
  /** The budget less the mandatory parts. */
  readonly room: number;
  readonly candidates: readonly Candidate[];
  readonly turns: readonly TurnCard[];
  readonly units: readonly CountedUnit[];
  readonly max_turns: number;
  /** Whether the query asks for a list, an order or a summary. */
  readonly is_broad: boolean;
  /** Tokens that the first part of a section costs besides its own. */
  readonly heading: (section: SectionName) => number;
  /** Shortens a candidate to at most so many tokens, if a useful part of it fits. */
  readonly cut: (candidate: Candidate, tokens: number) => Promise<Chosen | undefined>;
  readonly cutUnit: (turns: readonly TurnCard[], tokens: number) => Promise<CutUnit | undefined>;
}

export interface Fit {
  readonly chosen: Chosen[];
  readonly turns: ChosenTurns;
  readonly out: Map<Candidate, ContextReason>;
}

/** Minimum useful excerpt, in tokens. */
export const MIN_CUT_TOKENS = 32;

/** Maximum share of the turns' room for a call with long results: the turns that led to it come before it. */
export const CUT_SHARE = 0.75;

/** Chooses, and repeats without the candidates that the shown turns make redundant. */
export async function fitWindow(input: FitInput): Promise<Fit> {
  const redundant = new Set<Candidate>();
  for (;;) {
    const candidates = input.candidates.filter((one) => !redundant.has(one));
    const fit = await fitOnce({ ...input, candidates });
    const shown = new Set(turnsShown(input, fit.turns).map(({ card_id }) => card_id));
    const repeated = fit.chosen.filter(({ candidate }) => isRedundant(candidate, shown));
    if (repeated.length === 0) {
      for (const one of redundant) fit.out.set(one, 'shown_already');
      return fit;
    }
    for (const { candidate } of repeated) redundant.add(candidate);
  }
}

export const turnsShown = (
  { turns, units }: Pick<FitInput, 'turns' | 'units'>,
  { from, until, cut }: ChosenTurns,
): readonly TurnCard[] => {
  if (from >= until) return [];
  const last = units[until - 1]!;
  const whole = turns.slice(units[from]!.from, cut ? last.from : last.until);
  return cut ? [...whole, ...cut.turns] : whole;
};

function isRedundant({ entity_type, card_id, covers }: Candidate, shown: ReadonlySet<string>): boolean {
  if (entity_type === 'Turn') return shown.has(card_id);
  if (!covers || covers.others || covers.card_ids.length === 0) return false;
  return covers.card_ids.every((id) => shown.has(id));
}

interface FilledSection {
  readonly tokens: number;
  readonly chosen: readonly Chosen[];
  readonly out: readonly Candidate[];
  readonly reason: ContextReason;
  /** Of the section `turns` only. */
  readonly turns: ChosenTurns | null;
  /** Additional tokens with which it could show more; Infinity if everything is shown. */
  readonly next: number;
}

async function fitOnce(input: FitInput): Promise<Fit> {
  const { budget } = input;
  const given = byPriority(input.sections).filter(({ name }) => !GIVEN.includes(name));
  const wanted = new Map(given.map(({ name }) => [name, wantedTokens(input, name)]));
  const sections = withPassagesShare(given, wanted, budget);
  const allotted = allotTokens(sections, wanted, budget, input.room);
  const filled = new Map<SectionName, FilledSection>();
  let left = input.room;
  for (const section of sections) {
    const one = await fill(input, section, allotted.get(section.name)!);
    filled.set(section.name, one);
    left -= one.tokens;
  }
  // Sections seldom use up their room; the rest may be enough for a part of another section.
  for (const section of sections) {
    const before = filled.get(section.name)!;
    const room = Math.min(before.tokens + left, maxTokens(section, budget));
    if (room < before.tokens + before.next || room <= allotted.get(section.name)!) continue;
    const after = await fill(input, section, room);
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

function wantedTokens({ candidates, turns, units, max_turns, heading }: FitInput, name: SectionName): number {
  const counted =
    name === 'turns'
      ? units.filter(({ from }) => turns.length - from <= max_turns)
      : candidates.filter(({ part }) => part.section === name);
  if (counted.length === 0) return 0;
  return counted.reduce((sum, { tokens }) => sum + (tokens ?? Infinity), heading(name));
}

async function fill(input: FitInput, section: Section, room: number): Promise<FilledSection> {
  const reason = reasonAt(section, input.budget, room);
  if (section.name === 'passages') return fillPassages(input, room, reason);
  if (section.name !== 'turns') return fillSection(input, section.name, room, reason);
  const turns = await fillTurns(input, room, reason);
  const before = turns.reason === 'over_the_limit' ? undefined : input.units[turns.from - 1];
  const isShort = turns.cut !== null || turns.until < input.units.length || (before && turns.tokens === 0);
  const next = Math.min(before?.tokens ?? Infinity, isShort ? MIN_CUT_TOKENS : Infinity);
  return { tokens: turns.tokens, chosen: [], out: [], reason, turns, next };
}

async function fillSection(
  { candidates, heading, cut }: FitInput,
  name: SectionName,
  room: number,
  reason: ContextReason,
): Promise<FilledSection> {
  const chosen: Chosen[] = [];
  const out: Candidate[] = [];
  let left = room;
  let first = heading(name);
  let mayCut = true;
  for (const candidate of candidates) {
    const { part, tokens } = candidate;
    if (part.section !== name) continue;
    let shown: Chosen | undefined;
    if (tokens !== null && tokens + first <= left) shown = { candidate, part, tokens, kept_characters: null };
    else if (mayCut && left - first >= MIN_CUT_TOKENS) {
      // The first that is too long is shortened; smaller ones after it get the rest.
      mayCut = false;
      shown = await cut(candidate, left - first);
    }
    if (!shown) {
      out.push(candidate);
      continue;
    }
    chosen.push(shown);
    left -= shown.tokens + first;
    first = 0;
  }
  const isShort = out.length > 0 || chosen.some(({ kept_characters }) => kept_characters !== null);
  const next = Math.min(isShort ? MIN_CUT_TOKENS : Infinity, ...out.map(({ tokens }) => tokens ?? Infinity));
  return { tokens: room - left, chosen, out, reason, turns: null, next: next + first };
}

/** Passages among which the room is shared, so that no long one takes it all; more for a list, an order or a summary. */
const PASSAGES = 10;
const PASSAGES_OF_BROAD = 20;
/** Shorter passages are not cut for others. */
const MIN_PASSAGE_TOKENS = 64;

/** Shows many passages rather than a few whole ones: long ones are shortened; if room is left, the best get more again. */
async function fillPassages(
  { candidates, heading, cut, is_broad }: FitInput,
  room: number,
  reason: ContextReason,
): Promise<FilledSection> {
  const first = heading('passages');
  const most = Math.max(MIN_PASSAGE_TOKENS, Math.floor((room - first) / (is_broad ? PASSAGES_OF_BROAD : PASSAGES)));
  const shown: Chosen[] = [];
  const out: Candidate[] = [];
  let left = room - first;
  const whole = (candidate: Candidate, tokens: number): Chosen => {
    return { candidate, part: candidate.part, tokens, kept_characters: null };
  };
  for (const candidate of candidates) {
    if (candidate.part.section !== 'passages') continue;
    const tokens = candidate.tokens ?? Infinity;
    const limit = Math.min(most, left);
    let one: Chosen | undefined;
    if (tokens <= limit) one = whole(candidate, tokens);
    else if (limit >= MIN_CUT_TOKENS) one = await cut(candidate, limit);
    if (!one) {
      out.push(candidate);
      continue;
    }
    shown.push(one);
    left -= one.tokens;
  }
  for (const [at, { candidate, tokens, kept_characters }] of shown.entries()) {
    if (left < MIN_CUT_TOKENS) break;
    if (kept_characters === null) continue;
    const limit = tokens + left;
    const fits = candidate.tokens !== null && candidate.tokens <= limit;
    const more = fits ? whole(candidate, candidate.tokens) : await cut(candidate, limit);
    if (!more || more.tokens <= tokens) continue;
    shown[at] = more;
    left -= more.tokens - tokens;
  }
  const isShort = out.length > 0 || shown.some(({ kept_characters }) => kept_characters !== null);
  const next = Math.min(isShort ? MIN_CUT_TOKENS : Infinity, ...out.map(({ tokens }) => tokens ?? Infinity));
  const used = shown.length === 0 ? 0 : room - left;
  return { tokens: used, chosen: shown, out, reason, turns: null, next: shown.length === 0 ? next + first : next };
}

async function fillTurns(input: FitInput, room: number, reason: ContextReason): Promise<ChosenTurns> {
  const { turns, units, max_turns, heading, cutUnit } = input;
  const first = heading('turns');
  const { until, cut } = await newestThatFits(input, room - first);
  const newest = cut && units[until - 1]!;
  let tokens = cut?.tokens ?? 0;
  let from = cut ? until - 1 : until;
  let why = reason;
  // A shortened message takes all the room: nothing is shown before it.
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
  // Room reserved for turns before a call that they do not use goes to the results of the call.
  const left = room - first - tokens;
  const longer =
    newest && !isAll && left >= MIN_CUT_TOKENS
      ? await cutUnit(turns.slice(newest.from, newest.until), cut.tokens + left)
      : undefined;
  if (longer) tokens += longer.tokens - cut!.tokens;
  return { from, until, tokens: tokens === 0 ? 0 : tokens + first, cut: longer ?? cut, reason: why, skipped: reason };
}

/** Where the turns end: with the newest, shortened if needed, or before calls of which no useful part fits. */
async function newestThatFits(
  { turns, units, max_turns, cutUnit }: FitInput,
  room: number,
): Promise<Pick<ChosenTurns, 'until' | 'cut'>> {
  for (let until = units.length; until > 0; until--) {
    const newest = units[until - 1]!;
    if (turns.length - newest.from > max_turns) break;
    if (newest.tokens !== null && newest.tokens <= room) return { until, cut: null };
    const unit = turns.slice(newest.from, newest.until);
    const isMessage = unit.every(isPlain);
    // Leaves room for the turns that led to a call, unless only the call itself fits.
    for (const limit of isMessage || until === 1 ? [room] : [Math.floor(room * CUT_SHARE), room]) {
      const cut = limit < MIN_CUT_TOKENS ? undefined : await cutUnit(unit, limit);
      if (cut) return { until, cut };
    }
    if (isMessage) break;
  }
  return { until: units.length, cut: null };
}

/** Drops parts of the lowest priority until an estimated `tokens` are free; undefined if there is nothing to drop. */
export function dropLeast(input: FitInput, fit: Fit, tokens: number): Fit | undefined {
  const chosen = [...fit.chosen];
  const out = new Map(fit.out);
  let { turns } = fit;
  let freed = 0;
  for (const { name } of byPriority(input.sections).reverse()) {
    while (freed < tokens && name === 'turns' && turns.from < turns.until) {
      const cut = turns.from === turns.until - 1 ? turns.cut : null;
      freed += Math.max(1, cut?.tokens ?? input.units[turns.from]!.tokens!);
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
