/** Makes the parts of a context from cards, alike for assembly and replay. */
import { setImmediate } from 'node:timers/promises';
import type { Query } from '../../driver/index.js';
import { inChunks } from '../../engine/index.js';
import { cardBytes, promptOf, textOf } from '../../facts/index.js';
import { type CardRow, findCards } from '../../facts/sql.js';
import type { Json, JsonObject } from '../../kernel/contract.js';
import { asList, toIso } from '../../kernel/index.js';
import type { TurnMetadata } from '../../memory/sql.js';
import { charactersWithin, countTokens, parseDate } from '../../text/index.js';
import type { Meter } from '../windows/assembly.js';
import { type Conflict, calledBy } from '../windows/conflicts.js';
import { contentText } from '../windows/content.js';
import type { TurnCard } from '../windows/turns.js';
import { titleBeside, type WindowPart } from '../windows/window.js';
import type { SectionName } from './model.js';
import type { MemoryName } from './sources.js';

/** The limit of `remember`; a longer speaker or time is no name or time. */
const LONGEST_NAME = 200;
/** Characters counted between two cooperative yields. */
const CHARACTERS_PER_YIELD = 32_768;

export function newMeter(): Meter {
  let since = 0;
  return {
    count: async (text, at_most) => {
      if (text === '') return 0;
      since += text.length;
      if (since > CHARACTERS_PER_YIELD) {
        since = 0;
        await setImmediate();
      }
      return countTokens(text, at_most);
    },
    within: charactersWithin,
  };
}

const contentOf = ({ content }: Pick<CardRow, 'content'>): Json => JSON.parse(content ?? 'null') as Json;

export function turnCardOf(row: CardRow): TurnCard {
  const kept = JSON.parse(row.metadata ?? '{}') as Partial<TurnMetadata>;
  const tool_call_id = kept.metadata?.tool_call_id;
  return {
    card_id: row.card_id,
    role: kept.role ?? 'user',
    content: contentOf(row),
    tool_calls: row.tool_calls === null ? null : asList(JSON.parse(row.tool_calls) as Json),
    tool_results: kept.tool_results === undefined ? null : asList(kept.tool_results),
    tool_call_id: typeof tool_call_id === 'string' ? tool_call_id : null,
  };
}

/** A text of the request or the prompt of its profile. */
export const givenPart = (section: SectionName, row: Pick<CardRow, 'content'>): WindowPart => {
  const content = contentOf(row);
  return { section, title: '', type: '', text: section === 'profile' ? promptOf(content) : textOf(content) };
};

/** A note of `remember` is named by its first sentence, which is not repeated. */
export const memoryPart = (section: SectionName, row: CardRow, named: MemoryName | undefined): WindowPart => {
  const text = contentText(contentOf(row));
  const title = [titleBeside(named?.name ?? '', text), ...speakerAndTime(named)].filter((part) => part !== '');
  return { section, title: title.join(', '), type: named?.type ?? '', text };
};

export const conflictOf = (
  row: CardRow,
  named: MemoryName | undefined,
  { text }: WindowPart,
  others: readonly string[],
): Conflict => {
  const { occurred_at } = JSON.parse(named?.metadata ?? '{}') as JsonObject;
  return { called: calledBy(named?.name, text), with: others, at: parseDate(occurred_at) ?? row.created_at };
};

/** Speaker and time, if known: without them the same words of two people would look like one. */
function speakerAndTime(named: MemoryName | undefined): string[] {
  const { speaker, occurred_at } = JSON.parse(named?.metadata ?? '{}') as JsonObject;
  const isShort = (given: Json | undefined): given is string =>
    typeof given === 'string' && given.length <= LONGEST_NAME;
  return [...(isShort(speaker) ? [`by ${speaker}`] : []), ...(isShort(occurred_at) ? [occurred_at] : [])];
}

/** A turn shown apart from the conversation, titled with its speaker and time. */
export function passagePart(row: CardRow): WindowPart {
  const { metadata = {}, role } = JSON.parse(row.metadata ?? '{}') as Partial<TurnMetadata>;
  const speaker = typeof metadata.speaker === 'string' ? metadata.speaker : (role ?? 'user');
  const when = typeof metadata.occurred_at === 'string' ? metadata.occurred_at : toIso(row.created_at);
  return { section: 'passages', title: `${speaker}, ${when}`, type: '', text: contentText(contentOf(row)) };
}

/** Cards by id, without erased ones. */
export async function cardsOf(query: Query, card_ids: readonly string[]): Promise<Map<string, CardRow>> {
  const found = new Map<string, CardRow>();
  const read = async (ids: readonly string[]) => [...(await findCards(query, ids)).values()];
  for await (const rows of inChunks([...new Set(card_ids)], read, cardBytes)) {
    for (const row of rows) if (row.erased_at === null) found.set(row.card_id, row);
  }
  return found;
}
