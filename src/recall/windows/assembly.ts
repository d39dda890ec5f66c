/** Assembling a window: counts what may go in, chooses, renders, and counts the whole until it keeps to the budget. */
import { CairnError } from '../../kernel/index.js';
import type { ContextFormat, ContextReason, SectionName } from '../contexts/model.js';
import { type Account, accountOf, inPlace } from './account.js';
import { conflictsAmong, withRemarks } from './conflicts.js';
import { saidText } from './content.js';
import { cutAt, shortened } from './cut.js';
import {
  type Candidate,
  type Chosen,
  type CountedUnit,
  type CutUnit,
  dropLeast,
  type Fitting,
  fitWindow,
  LEAST_CUT_TOKENS,
  turnsShown,
} from './fitting.js';
import { shapes } from './formats.js';
import type { Section } from './sections.js';
import { conversationOf, isPlain, longestText, shortenedTurn, type TurnCard, unitsOf } from './turns.js';
import type { Rendering, Shape, Window, WindowPart } from './window.js';

/** How texts are counted. Lets others have their turn in between. */
export interface Meter {
  /** Of a text with more than `at_most`, some number above that. */
  count(text: string, at_most?: number): Promise<number>;
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

export interface Assembly extends Rendering, Account {
  readonly token_count: number;
}

async function countOf(meter: Meter, budget: number, text: string): Promise<number | null> {
  if (text.length > budget * LONGEST_TOKEN) return null;
  const tokens = await meter.count(text, budget);
  return tokens > budget ? null : tokens;
}

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
  const isFramed = given.some(({ part }) => part.section !== 'user_input');
  const needsFrame = material.candidates.length > 0 || material.turns.some(({ role }) => role === 'system');
  const headings = await headingsOf(sections, shape, meter);
  const fitting: Fitting = {
    sections,
    budget,
    room: budget - needed - (isFramed || !needsFrame ? 0 : await meter.count(shape.frame)),
    candidates: await counted(inDoubt(material.candidates), shape, meter, budget),
    turns: material.turns,
    units: await countUnits(meter, material.format, budget, material.turns),
    max_turns: material.max_turns,
    heading: (section) => headings.get(section)!,
    cut: (candidate, tokens) => cutCandidate(candidate, tokens, shape, meter),
    cutUnit: (turns, tokens) => cutUnit(turns, tokens, shape, meter),
  };
  let fit = await fitWindow(fitting);
  for (;;) {
    const chosen = toldOf(inPlace(sections, fit.chosen));
    const rendering = shape.render(windowOf(material, chosen, turnsShown(fitting, fit.turns)));
    const token_count = await meter.count(rendering.text);
    if (token_count <= budget) return { ...rendering, token_count, ...accountOf({ ...material, given }, fitting, fit) };
    // Texts that are joined may be more tokens than each alone.
    const less = dropLeast(fitting, fit, token_count - budget);
    if (!less) throw new Error(`what must be in a context took ${needed} tokens, and now takes ${token_count}`);
    fit = less;
  }
}

/** Each with all that it may turn out to contradict: what is not chosen in the end is not told. */
function inDoubt(candidates: readonly Uncounted[]): readonly Uncounted[] {
  const conflicts = conflictsAmong(candidates);
  if (conflicts.size === 0) return candidates;
  return candidates.map((one) => ({ ...one, part: withRemarks(one.part, one, conflicts.get(one)) }));
}

function toldOf(chosen: readonly Chosen[]): readonly Chosen[] {
  const conflicts = conflictsAmong(chosen.map(({ candidate }) => candidate));
  return chosen.map((one) => ({ ...one, part: withRemarks(one.part, one.candidate, conflicts.get(one.candidate)) }));
}

async function counted(list: readonly Uncounted[], shape: Shape, meter: Meter, budget: number): Promise<Candidate[]> {
  const found: Candidate[] = [];
  for (const one of list) found.push({ ...one, tokens: await countOf(meter, budget, shape.part(one.part)) });
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

const windowOf = ({ sections, given }: Material, chosen: readonly Chosen[], turns: readonly TurnCard[]): Window => ({
  order: sections.map(({ name }) => name).filter((name) => name !== 'turns' && name !== 'user_input'),
  parts: [...given.map(({ part }) => part), ...chosen.map(({ part }) => part)],
  turns,
});

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
  const cut = await cutText(candidate.part.text, tokens, meter, (text): { shown: WindowPart; text: string } => {
    const shown = { ...candidate.part, text };
    return { shown, text: shape.part(shown) };
  });
  return cut && { candidate, part: cut.shown, tokens: cut.tokens, kept_characters: cut.kept_characters };
}

async function cutUnit(
  turns: readonly TurnCard[],
  tokens: number,
  shape: Shape,
  meter: Meter,
): Promise<CutUnit | undefined> {
  const [only, ...more] = turns;
  if (!only || more.length > 0 || !isPlain(only)) return cutResults(turns, tokens, shape, meter);
  const cut = await cutText(saidText(only.content), tokens, meter, (text): { shown: TurnCard; text: string } => {
    const shown = { ...only, content: text };
    return { shown, text: shape.turns(conversationOf([shown])) };
  });
  return cut && { turns: [cut.shown], kept: new Map([[only.card_id, cut.kept_characters]]), tokens: cut.tokens };
}

/** Most texts have fewer characters in a token: longer ones need not be tried. */
const MOST_CHARACTERS = 8;
/** Of a result at least. */
const LEAST_CHARACTERS = 16;
const CAPS = 8;

/** A call with its results, of which each text is shown up to the same length: the longest that fits. */
async function cutResults(
  turns: readonly TurnCard[],
  tokens: number,
  shape: Shape,
  meter: Meter,
): Promise<CutUnit | undefined> {
  const countOf = (shown: readonly TurnCard[]) => meter.count(shape.turns(conversationOf(shown)));
  const bare = await countOf(turns.map((turn) => shortenedTurn(turn, 0)));
  const room = tokens - bare;
  let cap = Math.min(room * MOST_CHARACTERS, Math.max(...turns.map(longestText)));
  for (let tries = 0; tries < CAPS && cap >= LEAST_CHARACTERS; tries++) {
    const kept = new Map<string, number>();
    const shown = turns.map((turn) => {
      if (longestText(turn) <= cap) return turn;
      const at = turn.tool_results === null ? cutAt(saidText(turn.content), cap) : cap;
      kept.set(turn.card_id, at);
      return shortenedTurn(turn, at);
    });
    const found = await countOf(shown);
    if (found <= tokens) return kept.size === 0 ? undefined : { turns: shown, kept, tokens: found };
    cap = Math.floor((cap * room * 0.95) / (found - bare));
  }
  return undefined;
}
