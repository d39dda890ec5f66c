/** The text of a card as a context shows it. */
import type { Card } from 'cairndb/client';
import { textOf } from '../../data/format.js';

type CardText = Pick<Card, 'content' | 'metadata'>;

const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** Content parts of model APIs by their texts, anything else that is no text as JSON. */
export function contentText(content: unknown): string {
  if (content === null || content === undefined) return '';
  if (Array.isArray(content) && content.some((part) => isRecord(part) && typeof part.text === 'string'))
    return content
      .map((part) => (isRecord(part) && typeof part.text === 'string' ? part.text : JSON.stringify(part)))
      .filter((text) => text.trim() !== '')
      .join('\n\n');
  return typeof content === 'string' ? content : isRecord(content) ? inner(content) : JSON.stringify(content);
}

function inner(content: Record<string, unknown>): string {
  const text = textOf(content);
  return text.startsWith('{') ? JSON.stringify(content) : text;
}

export const roleOf = ({ metadata }: CardText): string =>
  typeof metadata.role === 'string' ? metadata.role.toLowerCase() : 'user';

/** The texts of the results that a turn carries. */
export function resultTexts({ metadata }: CardText): string[] {
  const results = metadata.tool_results;
  const list = Array.isArray(results) ? results : results === undefined || results === null ? [] : [results];
  return list.map((result: unknown) => {
    if (!isRecord(result)) return contentText(result);
    const value = result.content ?? result.result ?? result.output ?? result.error;
    return contentText(value ?? result);
  });
}

/** What a turn without a text does: the tools that it calls. */
export function callNames({ tool_calls }: Pick<Card, 'tool_calls'>): string {
  const names = ((tool_calls ?? []) as readonly Record<string, unknown>[]).map(
    ({ function: made, name, tool_name }) => {
      return String((isRecord(made) ? made.name : undefined) ?? name ?? tool_name ?? 'a tool');
    },
  );
  return names.length === 0 ? '' : `calls ${[...new Set(names)].join(', ')}`;
}

/** One line for a list: what a card says, carries or does. */
export const lineOf = (card: Card): string =>
  contentText(card.content).trim() || resultTexts(card).join(' ').trim() || callNames(card) || roleOf(card);
