/** Assembles a window: counts the candidates, chooses, renders, and counts the whole until it fits the budget. */
import { CairnError, cooperativeYield } from '../../kernel/index.js';
import { analyse } from '../../text/index.js';
import type { ContextFormat, ContextReason, SectionName } from '../contexts/model.js';
import { asksOf } from '../ranking/question.js';
import { bestPlace } from '../ranking/snippets.js';
import { type Account, accountOf, inDisplayOrder } from './account.js';
import { conflictsAmong, withRemarks } from './conflicts.js';
import { contentText } from './content.js';
import { cutAt, excerptOf, sentenceStart } from './cut.js';
import {
  type Candidate,
  type Chosen,
  type CountedUnit,
  type CutUnit,
  dropLeast,
  type FitInput,
  fitWindow,
  MIN_CUT_TOKENS,
  turnsShown,
} from './fitting.js';
import { renderers } from './formats.js';
import type { Section } from './sections.js';
import { conversationOf, isPlain, longestText, shortenedTurn, type TurnCard, unitsOf } from './turns.js';
import type { Renderer, Rendering, Window, WindowPart } from './window.js';

/** Counts tokens, with cooperative yields. */
export interface Meter {
  /** May stop counting above `at_most` and answer any number above it. */
  count(text: string, at_most?: number): Promise<number>;
  /** The length of the longest prefix that has at most so many tokens. */
  within(text: string, tokens: number): Promise<number>;
}

/** No token has more characters: a text longer than the budget times this cannot fit and is not counted. */
const LONGEST_TOKEN = 256;

export type Uncounted = Omit<Candidate, 'tokens'>;

export interface Material {
  readonly format: ContextFormat;
  readonly budget: number;
  readonly sections: readonly Section[];
  /** Mandatory texts: profile, instructions, user input. */
  readonly given: readonly Uncounted[];
  /** In each section the best first. */
  readonly candidates: readonly Uncounted[];
  /** Candidates that are out before anything is counted. */
  readonly refused: readonly (readonly [Uncounted, ContextReason])[];
  /** The newest turns, oldest first. */
  readonly turns: readonly TurnCard[];
  /** Including the turns that were not read. */
  readonly turns_total: number;
  readonly max_turns: number;
  /** What the context is about. */
  readonly query: string | undefined;
}

export interface Assembly extends Rendering, Account {
  readonly token_count: number;
}

/** How texts are rendered and counted in one assembly. */
interface Counting {
  readonly renderer: Renderer;
  readonly meter: Meter;
  readonly budget: number;
  /** The words of the query, as the search compares them. */
  readonly terms: ReadonlySet<string>;
}

/** Null for a text longer than the budget. */
async function countOf({ meter, budget }: Counting, text: string): Promise<number | null> {
  if (text.length > budget * LONGEST_TOKEN) return null;
  const tokens = await meter.count(text, budget);
  return tokens > budget ? null : tokens;
}

async function countUnits(counting: Counting, turns: readonly TurnCard[]): Promise<CountedUnit[]> {
  const counted: CountedUnit[] = [];
  for (const unit of unitsOf(turns)) {
    const text = counting.renderer.turns(conversationOf(turns.slice(unit.from, unit.until)));
    counted.push({ ...unit, tokens: await countOf(counting, text) });
  }
  return counted;
}

async function countParts(counting: Counting, list: readonly Uncounted[]): Promise<Candidate[]> {
  const counted: Candidate[] = [];
  for (const one of list) {
    counted.push({ ...one, tokens: await countOf(counting, counting.renderer.part(one.part)) });
  }
  return counted;
}

export async function assemble(material: Material, meter: Meter): Promise<Assembly> {
  const renderer = renderers[material.format];
  const { budget, sections, turns, max_turns } = material;
  const counting = { renderer, meter, budget, terms: new Set(analyse(material.query ?? '')) };
  const needed = await meter.count(renderer.render(windowOf(material, [], [])).text);
  if (needed > budget) {
    throw new CairnError(
      'CONTEXT_BUDGET_TOO_SMALL',
      `the mandatory parts of the context take ${needed} tokens, the token_budget is ${budget}: raise it, or shorten the user_input, the instructions or the profile`,
      { needed_tokens: needed, token_budget: budget },
    );
  }
  const given = await countParts(counting, material.given);
  const isFramed = given.some(({ part }) => part.section !== 'user_input');
  const needsFrame = material.candidates.length > 0 || turns.some(({ role }) => role === 'system');
  const headings = new Map<SectionName, number>();
  for (const { name } of sections) headings.set(name, await meter.count(renderer.around(name)));
  const input: FitInput = {
    sections,
    budget,
    room: budget - needed - (isFramed || !needsFrame ? 0 : await meter.count(renderer.frame)),
    candidates: await countParts(counting, withPossibleRemarks(material.candidates)),
    turns,
    units: await countUnits(counting, turns),
    max_turns,
    is_broad: asksOf(material.query ?? '').broad,
    heading: (section) => headings.get(section)!,
    cut: (candidate, tokens) => cutCandidate(counting, candidate, tokens),
    cutUnit: (unit, tokens) => cutUnit(counting, unit, tokens),
  };
  let fit = await fitWindow(input);
  for (;;) {
    const chosen = withActualRemarks(inDisplayOrder(sections, fit.chosen));
    const rendering = renderer.render(windowOf(material, chosen, turnsShown(input, fit.turns)));
    const token_count = await meter.count(rendering.text);
    if (token_count <= budget) return { ...rendering, token_count, ...accountOf({ ...material, given }, input, fit) };
    // Joined texts may have more tokens than the sum of their parts.
    const less = dropLeast(input, fit, token_count - budget);
    if (!less) throw new Error(`the mandatory parts of a context took ${needed} tokens, and now take ${token_count}`);
    fit = less;
  }
}

/** Counts every contradiction that may be remarked on; those between chosen parts alone are rendered. */
function withPossibleRemarks(candidates: readonly Uncounted[]): readonly Uncounted[] {
  const conflicts = conflictsAmong(candidates);
  if (conflicts.size === 0) return candidates;
  return candidates.map((one) => ({ ...one, part: withRemarks(one.part, one, conflicts.get(one)) }));
}

function withActualRemarks(chosen: readonly Chosen[]): readonly Chosen[] {
  const conflicts = conflictsAmong(chosen.map(({ candidate }) => candidate));
  return chosen.map((one) => ({ ...one, part: withRemarks(one.part, one.candidate, conflicts.get(one.candidate)) }));
}

const windowOf = ({ sections, given }: Material, chosen: readonly Chosen[], turns: readonly TurnCard[]): Window => ({
  order: sections.map(({ name }) => name).filter((name) => name !== 'turns' && name !== 'user_input'),
  parts: [...given, ...chosen].map(({ part }) => part),
  turns,
});

const MAX_TEXT_CUTS = 4;

interface CutText {
  readonly text: string;
  readonly tokens: number;
  /** Where the shown part begins. */
  readonly from: number;
  readonly kept_characters: number;
}

/** Shortens a text, from a position on, until its rendering has at most so many tokens. */
async function cutText(
  { meter }: Counting,
  whole: string,
  tokens: number,
  render: (text: string) => string,
  from = 0,
): Promise<CutText | undefined> {
  const text = whole.slice(from);
  let room = tokens - (await meter.count(render(excerptOf(whole, from, 0))));
  for (let cuts = 0; cuts < MAX_TEXT_CUTS && room >= MIN_CUT_TOKENS / 2; cuts++) {
    const kept_characters = cutAt(text, await meter.within(text, room));
    if (kept_characters === 0) return undefined;
    const cut = excerptOf(whole, from, kept_characters);
    const counted = await meter.count(render(cut));
    if (counted <= tokens) return { text: cut, tokens: counted, from, kept_characters };
    // Escaped for JSON or XML, a text may have more tokens than the plain text.
    room = Math.floor((room * tokens * 0.95) / counted);
  }
  return undefined;
}

/** The beginning of a text, unless the sentence that answers the query lies behind it: then the part that begins there. */
async function cutAround(
  counting: Counting,
  text: string,
  tokens: number,
  render: (text: string) => string,
): Promise<CutText | undefined> {
  const beginning = await cutText(counting, text, tokens, render);
  const best = await bestPlace(text, counting.terms, cooperativeYield());
  if (best === undefined) return beginning;
  const sentence = sentenceStart(text, best);
  const end = best + text.slice(best).search(/[.!?。！？\n]|$/u);
  if (beginning && end <= beginning.kept_characters) return beginning;
  return (await cutText(counting, text, tokens, render, sentence)) ?? beginning;
}

async function cutCandidate(counting: Counting, candidate: Candidate, tokens: number): Promise<Chosen | undefined> {
  const partWith = (text: string): WindowPart => ({ ...candidate.part, text });
  const render = (text: string) => counting.renderer.part(partWith(text));
  const cut = await cutAround(counting, candidate.part.text, tokens, render);
  if (!cut) return undefined;
  const { text, from: kept_from, ...counts } = cut;
  return { candidate, part: partWith(text), kept_from, ...counts };
}

async function cutUnit(counting: Counting, turns: readonly TurnCard[], tokens: number): Promise<CutUnit | undefined> {
  const [only, ...more] = turns;
  if (!only || more.length > 0 || !isPlain(only)) return cutResults(counting, turns, tokens);
  const render = (content: string) => counting.renderer.turns(conversationOf([{ ...only, content }]));
  const cut = await cutText(counting, contentText(only.content), tokens, render);
  if (!cut) return undefined;
  const kept = new Map([[only.card_id, cut.kept_characters]]);
  return { turns: [{ ...only, content: cut.text }], kept, tokens: cut.tokens };
}

/** Most texts have fewer characters per token, so a longer cap is not tried. */
const MAX_CHARACTERS_PER_TOKEN = 8;
/** Minimum length to which a result is cut. */
const MIN_RESULT_CHARACTERS = 16;
const MAX_RESULT_CUTS = 8;

/** A call with its results, every text capped at the same length: the longest that fits. */
async function cutResults(
  { renderer, meter }: Counting,
  turns: readonly TurnCard[],
  tokens: number,
): Promise<CutUnit | undefined> {
  const count = (shown: readonly TurnCard[]) => meter.count(renderer.turns(conversationOf(shown)));
  const bare = await count(turns.map((turn) => shortenedTurn(turn, 0)));
  const room = tokens - bare;
  let cap = Math.min(room * MAX_CHARACTERS_PER_TOKEN, Math.max(...turns.map(longestText)));
  for (let cuts = 0; cuts < MAX_RESULT_CUTS && cap >= MIN_RESULT_CHARACTERS; cuts++) {
    const kept = new Map<string, number>();
    const shown = turns.map((turn) => {
      if (longestText(turn) <= cap) return turn;
      const at = turn.tool_results === null ? cutAt(contentText(turn.content), cap) : cap;
      kept.set(turn.card_id, at);
      return shortenedTurn(turn, at);
    });
    const counted = await count(shown);
    if (counted <= tokens) return kept.size === 0 ? undefined : { turns: shown, kept, tokens: counted };
    cap = Math.floor((cap * room * 0.95) / (counted - bare));
  }
  return undefined;
}
