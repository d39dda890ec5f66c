/** What the pieces of a context are made from, and the turn behind each message. */
import type { Card, ContextEntry, Manifest } from 'cairndb/client';
import { contentText, resultTexts, roleOf } from './card-text.js';
import type { SectionName } from './sections.js';
import { matchTurns, type ShownTurn } from './turn-matching.js';

export interface ToolCall {
  readonly id: string;
  readonly name: string;
  readonly input: unknown;
}

export interface Piece {
  readonly key: string;
  /** Of the message; empty where a piece continues the one above. */
  readonly role: string;
  readonly isHeading: boolean;
  readonly section: SectionName | undefined;
  /** Index among the entries of the manifest. */
  readonly entry: number | undefined;
  readonly text: string;
  /** The name of a memory; undefined where it has none. */
  readonly title?: string | undefined;
  /** In place of a text. */
  readonly data?: unknown;
  readonly calls?: readonly ToolCall[];
  /** The call that it answers, or the type of a packed card. */
  readonly label?: string | undefined;
}

export type Cards = ReadonlyMap<string, Card>;

export interface Shown {
  readonly entry: ContextEntry;
  readonly index: number;
}

/** What pieces are made from, by section. */
export interface Plan {
  readonly shown: ReadonlyMap<SectionName, readonly Shown[]>;
  readonly cards: Cards;
  readonly order: readonly SectionName[];
}

export function planOf(manifest: Manifest, cards: Cards): Plan {
  const shown = new Map<SectionName, Shown[]>();
  for (const [index, entry] of manifest.entries.entries()) {
    if (entry.place === null) continue;
    const list = shown.get(entry.section);
    if (list) list.push({ entry, index });
    else shown.set(entry.section, [{ entry, index }]);
  }
  for (const list of shown.values()) list.sort((a, b) => a.entry.place! - b.entry.place!);
  return { shown, cards, order: manifest.sections.map(({ name }) => name) };
}

/** Turns as the matching wants them. */
export const shownTurns = ({ shown, cards }: Plan): ShownTurn[] =>
  (shown.get('turns') ?? []).map(({ entry }) => {
    const card = cards.get(entry.card_id);
    if (!card) return {};
    const role = roleOf(card);
    const texts = role === 'tool' ? [...resultTexts(card), contentText(card.content)] : [contentText(card.content)];
    return { role, texts, kept: entry.kept_characters };
  });

export const isSystem = (turn: ShownTurn): boolean => turn.role === 'system';

/**
 * The entries behind messages. System turns stand apart: at the end of a system message, or before the others. Without
 * cards it is not known which turns those are, and they count as any other.
 */
export function matchConversation(
  plan: Plan,
  messages: readonly { role: string; text: string }[],
): (number | undefined)[] {
  const turns = shownTurns(plan);
  const entries = plan.shown.get('turns') ?? [];
  const found = new Map<object, number | undefined>();
  for (const isOfSystem of [true, false]) {
    const said = messages.filter(({ role }) => (role === 'system') === isOfSystem);
    const places = turns.flatMap((turn, place) => (isSystem(turn) === isOfSystem ? [place] : []));
    const matched = matchTurns(
      said,
      places.map((place) => turns[place]!),
    );
    for (const [at, message] of said.entries()) {
      const place = matched[at];
      found.set(message, place === undefined ? undefined : entries[places[place]!]?.index);
    }
  }
  return messages.map((message) => found.get(message));
}

/** Who said it, or when: what stands where a memory has no name. */
export const isNoName = (title: string): boolean => /^(?:by |\d{4}-\d{2}|\d{1,2} \p{L}+ \d{4})/u.test(title);
