/** What a model sees, rendered from cards alone: the same cards give the same bytes. */
import type { Json, JsonObject } from '../../kernel/contract.js';
import { atOnce, isBlank, isObject, type Steps } from '../../kernel/index.js';
import { canonical } from '../../kernel/node.js';
import type { Card } from '../cards/model.js';
import { anthropicMessages } from './anthropic.js';
import type { Prompt, PromptFormat } from './model.js';
import { openaiMessages } from './openai.js';
import { describeFields, resultFields } from './result-fields.js';
import { toolsFor } from './tools.js';
import { callsIn, transcriptOf } from './transcript.js';

export type HydratedCard = Pick<Card, 'card_id' | 'content' | 'tool_calls' | 'tool_call_id' | 'metadata'>;

export interface Hydration {
  /** The content of the sys.profile card of the agent that is to act. */
  readonly profile: Json;
  /** Those of the context box, then those of the output box. */
  readonly cards: readonly HydratedCard[];
  readonly format: PromptFormat;
}

const formats = { openai: openaiMessages, anthropic: anthropicMessages };

/** A prompt, and its canonical text. */
export interface Rendered {
  readonly prompt: Prompt;
  readonly text: string;
}

export const hydrate = (given: Hydration): Prompt => rendered(given).prompt;

export const rendered = (given: Hydration): Rendered => atOnce(renderSteps(given));

/** In a few steps, each of which may take some time where there are many cards. */
export function* renderSteps({ profile, cards: given, format }: Hydration): Steps<Rendered> {
  const cards = distinct(given);
  const { system: said, messages } = transcriptOf(cards);
  yield;
  const system = [promptOf(profile), ...said, describeFields(resultFields(cards))]
    .filter((part) => !isBlank(part))
    .join('\n\n');
  const shown = formats[format](system, messages);
  yield;
  const text = canonical({
    format,
    system,
    messages: shown,
    tools: toolsFor(format, [toolsIn(profile), ...cards.filter(isToolList).map(({ content }) => toolsIn(content))]),
    pending_calls: callsIn(messages)
      .filter(({ result }) => result === null)
      .map(({ id, name, input }) => ({ tool_call_id: id, tool_name: name, arguments: input })),
  } satisfies Prompt as JsonObject);
  yield;
  // Members in the order of their names, as in stored cards, whatever order they came in.
  return { prompt: JSON.parse(text) as Prompt, text };
}

/** A card that both boxes hold, or that came by two inheritances, stays where it was first. */
function distinct(cards: readonly HydratedCard[]): HydratedCard[] {
  const seen = new Set<string>();
  return cards.filter(({ card_id }) => !seen.has(card_id) && seen.add(card_id));
}

export function promptOf(profile: Json): string {
  if (!isObject(profile)) return '';
  const texts = [profile.system_prompt, profile.instructions];
  return texts.find((text): text is string => typeof text === 'string' && !isBlank(text)) ?? '';
}

const isToolList = ({ metadata }: HydratedCard): boolean => metadata.type === 'sys.tools';

const toolsIn = (content: Json): Json[] =>
  isObject(content) && Array.isArray(content.tools) ? (content.tools as Json[]) : [];
