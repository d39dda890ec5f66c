/** Splits a context in XML by its elements. Stored text is escaped, so a tag is always one of Cairn's. */
import { isNoName, matchConversation, type Piece, type Plan } from './plan.js';
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
  return title === undefined || isNoName(title) ? undefined : unescaped(title);
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

/** A turn of the assistant has its calls in it, each with its result, which is a turn of its own. */
const INNER = /<result[ >][\s\S]*?<\/result>/g;

interface Said {
  readonly role: string;
  readonly text: string;
  /** As it stands in the context. */
  readonly whole: string;
}

function saidIn(turn: string, role: string, inner: string): Said[] {
  const said: Said[] = [];
  let from = 0;
  for (const { 0: result, index } of turn.matchAll(INNER)) {
    const before = turn.slice(from, index);
    const text = from === 0 ? unescaped(inner.replace(/<call[\s\S]*$/, '')) : '';
    said.push({ role: from === 0 ? role : '', text, whole: before });
    said.push({ role: 'tool', text: unescaped(result.replace(/^<result[^>]*>|<\/result>$/g, '')), whole: result });
    from = index + result.length;
  }
  const rest = turn.slice(from);
  if (said.length === 0) return [{ role, text: unescaped(inner), whole: turn }];
  const last = said.pop()!;
  return [...said, { ...last, whole: last.whole + rest }];
}

function turnPieces(inner: string, plan: Plan, piece: (at: number, rest: Partial<Piece>) => Piece): Piece[] {
  const said = [...inner.matchAll(TURN)].flatMap(([turn, role, text]) => saidIn(turn, role!, text!));
  // Further calls belong to the turn that they are in.
  const messages = said.filter(({ role }) => role !== '');
  const found = matchConversation(plan, messages);
  const entries = new Map(messages.map((message, at) => [message, found[at]]));
  let caller: number | undefined;
  return said.map((one, at) => {
    if (one.role !== '' && one.role !== 'tool') caller = entries.get(one);
    const entry = one.role === '' ? caller : entries.get(one);
    return piece(at, { text: one.whole, role: one.role === '' ? 'assistant' : one.role, entry });
  });
}
