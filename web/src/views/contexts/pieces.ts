/** A context as the model saw it, in pieces, each with the entry of the manifest that it comes from. */
import type { Card, ContextEntry, Manifest, OpenAiMessage, ReplayedContext } from 'cairndb/client';
import { contentText, roleOf } from './card-text.js';
import { jsonPieces } from './json-parts.js';
import { type PlannedSection, splitConversation, splitMarkdown } from './markdown-parts.js';
import {
  type Cards,
  isNoName,
  isSystem,
  matchConversation,
  type Piece,
  type Plan,
  planOf,
  shownTurns,
  type ToolCall,
} from './plan.js';
import type { SectionName } from './sections.js';
import { xmlPieces } from './xml-parts.js';

const GIVEN: readonly SectionName[] = ['profile', 'instructions'];

/** The sections before the turns, as Markdown shows them. */
function plannedSections({ shown, cards, order }: Plan, until: readonly SectionName[] = []): PlannedSection[] {
  return order
    .filter((name) => shown.has(name) && (until.includes(name) || (name !== 'turns' && name !== 'user_input')))
    .map((name) => {
      const entries = shown.get(name)!;
      const card = cards.get(entries[0]!.entry.card_id);
      const given = GIVEN.includes(name) && card ? givenText(name, card) : undefined;
      return { name, entries: entries.map(({ index }) => index), given };
    });
}

function givenText(name: SectionName, { content }: Card): string | undefined {
  if (name !== 'profile') return contentText(content);
  const { system_prompt, instructions } = content as Record<string, unknown>;
  return [system_prompt, instructions].find((text): text is string => typeof text === 'string' && text.trim() !== '');
}

/** Cuts the texts of system turns from the end of the system message. */
function withoutSystemTurns(text: string, plan: Plan): { head: string; tail: { text: string; entry: number }[] } {
  const entries = plan.shown.get('turns') ?? [];
  const tail: { text: string; entry: number }[] = [];
  let head = text;
  for (const [place, turn] of [...shownTurns(plan).entries()].reverse()) {
    if (!isSystem(turn)) continue;
    const said = turn.texts?.[0]?.slice(0, turn.kept ?? undefined) ?? '';
    const at = said === '' ? -1 : head.lastIndexOf(said);
    if (at === -1) break;
    const fence = /(?:^|\n)`{3,}\n$/.exec(head.slice(0, at))?.[0].trimStart() ?? '';
    tail.unshift({ text: head.slice(at - fence.length).trim(), entry: entries[place]!.index });
    head = head.slice(0, at - fence.length).trimEnd();
  }
  return { head, tail };
}

/** Without a name a part is headed by its speaker, its time or its type alone. */
function titleIn(text: string): string | undefined {
  const title = /^### ([^\n]*) \([^)\n]*\)(?:\n|$)/.exec(text)?.[1];
  return title === undefined || isNoName(title) ? undefined : title;
}

function systemPieces(text: string, plan: Plan): Piece[] {
  const { head, tail } = withoutSystemTurns(text, plan);
  const parts = head === '' ? [] : splitMarkdown(head, plannedSections(plan));
  return [...parts, ...tail.map((one) => ({ ...one, section: 'turns' as const, isHeading: false }))].map(
    (part, index) => ({ key: `s${index}`, role: index === 0 ? 'system' : '', title: titleIn(part.text), ...part }),
  );
}

function callsOf(message: OpenAiMessage): ToolCall[] {
  const calls = message.role === 'assistant' ? (message.tool_calls ?? []) : [];
  return calls.map(({ id, function: made }) => {
    let input: unknown = made.arguments;
    try {
      input = JSON.parse(made.arguments);
    } catch {
      // Shown as the text that it is.
    }
    return { id, name: made.name, input };
  });
}

function chatPieces(messages: readonly OpenAiMessage[], plan: Plan): Piece[] {
  const [first] = messages;
  const system = first?.role === 'system' ? systemPieces(String(first.content ?? ''), plan) : [];
  const rest = first?.role === 'system' ? messages.slice(1) : messages;
  const input = plan.shown.get('user_input')?.[0];
  const said = input ? rest.slice(0, -1) : rest;
  const found = matchConversation(
    plan,
    said.map(({ role, content }) => ({ role, text: contentText(content) })),
  );
  return [
    ...system,
    ...rest.map((message, index): Piece => {
      const isInput = input !== undefined && index === rest.length - 1;
      return {
        key: `m${index}`,
        role: message.role,
        isHeading: false,
        section: isInput ? 'user_input' : 'turns',
        entry: isInput ? input.index : found[index],
        text: contentText(message.content),
        calls: callsOf(message),
        label: message.role === 'tool' ? `answers ${message.tool_call_id}` : undefined,
      };
    }),
  ];
}

function markdownPieces(text: string, plan: Plan): Piece[] {
  const parts = splitMarkdown(text, plannedSections(plan, ['turns', 'user_input']));
  return parts.flatMap((part, index): Piece[] => {
    const key = `p${index}`;
    if (part.section !== 'turns' || part.isHeading)
      return [
        {
          key,
          role: part.section === 'user_input' && !part.isHeading ? 'user' : '',
          title: titleIn(part.text),
          ...part,
        },
      ];
    const said = splitConversation(part.text);
    // Calls belong to the turn of the assistant above them.
    const messages = said.filter(({ role }) => role !== 'call');
    const found = matchConversation(plan, messages);
    const entries = new Map(messages.map((message, at) => [message, found[at]]));
    let last: number | undefined;
    return said.map((message, at): Piece => {
      last = message.role === 'call' ? last : entries.get(message);
      const role = message.role === 'call' ? 'assistant' : message.role;
      const label = /^(?:Calls|Result)/.test(message.label) ? message.label : undefined;
      return { key: `${key}.${at}`, role, isHeading: false, section: 'turns', entry: last, text: message.text, label };
    });
  });
}

type PackedCard = Pick<Card, 'card_id' | 'content' | 'metadata' | 'tool_call_id'> & {
  readonly tool_calls: readonly Record<string, unknown>[] | null;
};

/** The cards of a packing: the first entries are those of the first cards. */
function packedPieces(cards: readonly unknown[], entries: readonly ContextEntry[]): Piece[] {
  return (cards as unknown as readonly PackedCard[]).map((card, index): Piece => {
    const isData = typeof card.content === 'object' && card.content !== null;
    const type = typeof card.metadata.type === 'string' ? card.metadata.type : undefined;
    const calls = (card.tool_calls ?? []).map((call): ToolCall => {
      const { tool_name, name = tool_name, arguments: input } = call;
      return { id: card.tool_call_id ?? '', name: String(name ?? 'a tool'), input };
    });
    return {
      key: card.card_id + index,
      role: roleOf(card),
      isHeading: false,
      section: 'box',
      entry: entries[index] ? index : undefined,
      text: isData ? '' : contentText(card.content),
      ...(isData ? { data: card.content } : {}),
      calls,
      label: type,
    };
  });
}

export function piecesOf(manifest: Manifest, replay: ReplayedContext, cards: Cards): Piece[] {
  if (replay.cards !== null) return packedPieces(replay.cards, manifest.entries);
  const plan = planOf(manifest, cards);
  if (replay.messages !== null) return chatPieces(replay.messages, plan);
  const text = replay.text ?? '';
  if (replay.format === 'xml') return xmlPieces(text, plan);
  if (replay.format === 'json') return jsonPieces(text, plan);
  return markdownPieces(text, plan);
}
