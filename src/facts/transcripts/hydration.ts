/** Renders the prompt of a model from cards alone: the same cards give the same bytes. */
import type { Json, JsonObject } from '../../kernel/contract.js';
import { isBlank, isObject, type Steps } from '../../kernel/index.js';
import { canonical } from '../../kernel/node.js';
import { anthropicMessages } from './anthropic.js';
import type { Prompt, PromptFormat } from './model.js';
import { openaiMessages } from './openai.js';
import { describeFields, resultFields } from './result-fields.js';
import { toolsFor } from './tools.js';
import { callsIn, type HydratedCard, transcriptOf } from './transcript.js';

export interface Hydration {
  /** The content of the agent's sys.profile card. */
  readonly profile: Json;
  /** The cards of the context box, then of the output box. */
  readonly cards: readonly HydratedCard[];
  readonly format: PromptFormat;
}

const formats = { openai: openaiMessages, anthropic: anthropicMessages };

/** Gives the prompt and its canonical text. Yields between steps: each may take a while with many cards. */
export function* renderSteps(hydration: Hydration): Steps<{ readonly prompt: Prompt; readonly text: string }> {
  const { profile, format } = hydration;
  const cards = distinct(hydration.cards);
  const { system: systemTexts, messages } = transcriptOf(cards);
  yield;
  const system = [promptOf(profile), ...systemTexts, describeFields(resultFields(cards))]
    .filter((part) => !isBlank(part))
    .join('\n\n');
  const shown = formats[format](system, messages);
  const toolCards = cards.filter(({ metadata }) => metadata.type === 'sys.tools');
  yield;
  const text = canonical({
    format,
    system,
    messages: shown,
    tools: toolsFor(format, [toolsIn(profile), ...toolCards.map(({ content }) => toolsIn(content))]),
    pending_calls: callsIn(messages)
      .filter(({ result }) => result === null)
      .map(({ id, name, input }) => ({ tool_call_id: id, tool_name: name, arguments: input })),
  } satisfies Prompt as JsonObject);
  yield;
  // Parsed from the canonical text: members are ordered by name, as in stored cards.
  return { prompt: JSON.parse(text) as Prompt, text };
}

/** A card that occurs several times keeps its first place. */
function distinct(cards: readonly HydratedCard[]): HydratedCard[] {
  const seen = new Set<string>();
  return cards.filter(({ card_id }) => !seen.has(card_id) && seen.add(card_id));
}

export function promptOf(profile: Json): string {
  if (!isObject(profile)) return '';
  const texts = [profile.system_prompt, profile.instructions];
  return texts.find((text): text is string => typeof text === 'string' && !isBlank(text)) ?? '';
}

const toolsIn = (content: Json): Json[] =>
  isObject(content) && Array.isArray(content.tools) ? (content.tools as Json[]) : [];
