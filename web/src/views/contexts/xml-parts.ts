/** Splits a context in XML by its elements. Stored text is escaped, so a tag is always one of Cairn's. */
import { matchConversation, type Piece, type Plan } from './plan.js';
import type { SectionName } from './sections.js';

const SECTIONS = 'profile|instructions|principles|notes|artifacts|summaries|passages|turns|user_input';
const WHOLE = new RegExp(`<(${SECTIONS})>([\\s\\S]*?)</\\1>`, 'g');
const PART = /<(principle|note|artifact|summary|passage)[ >][\s\S]*?<\/\1>/g;
const TURN = /<turn role="(\w+)">([\s\S]*?)<\/turn>/g;
const GIVEN: readonly string[] = ['profile', 'instructions', 'user_input'];

const unescaped = (text: string): string =>
  text.replaceAll('&quot;', '"').replaceAll('&lt;', '<').replaceAll('&gt;', '>').replaceAll('&amp;', '&');

function titleIn(part: string): string | undefined {
  const title = /^<\w+ title="([^"]*)"/.exec(part)?.[1];
  return title === undefined ? undefined : unescaped(title);
}

export function xmlPieces(text: string, plan: Plan): Piece[] {
  return [...text.matchAll(WHOLE)].flatMap(([whole, name, inner]): Piece[] => {
    const section = name as SectionName;
    const entries = (plan.shown.get(section) ?? []).map(({ index }) => index);
    const piece = (at: number | string, rest: Partial<Piece>): Piece => ({
      key: `${name}.${at}`,
      role: '',
      isHeading: false,
      section,
      entry: undefined,
      text: '',
      ...rest,
    });
    if (GIVEN.includes(name!)) return [piece(0, { text: whole, entry: entries[0] })];
    const heading = piece('heading', { isHeading: true, text: `<${name}>` });
    if (name === 'turns') return [heading, ...turnPieces(inner!, plan, piece)];
    const parts = [...inner!.matchAll(PART)].map(([part]) => part);
    return [
      heading,
      ...parts.map((part, at) =>
        piece(at, {
          text: part,
          title: titleIn(part),
          entry: parts.length === entries.length ? entries[at] : undefined,
        }),
      ),
    ];
  });
}

function turnPieces(inner: string, plan: Plan, piece: (at: number, rest: Partial<Piece>) => Piece): Piece[] {
  const turns = [...inner.matchAll(TURN)].map(([text, role, said]) => ({ text, role: role!, said: said! }));
  const conversation = turns.filter(({ role }) => role !== 'system');
  const found = matchConversation(
    plan,
    conversation.map(({ role, said }) => ({ role, text: unescaped(said.replace(/<call[\s\S]*$/, '')) })),
  );
  const entries = new Map(conversation.map((turn, at) => [turn, found[at]]));
  return turns.map((turn, at) => piece(at, { text: turn.text, role: turn.role, entry: entries.get(turn) }));
}
