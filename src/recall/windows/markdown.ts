/** Windows as Markdown, and as messages whose system prompt is Markdown. */
import { answerText, type Message, openaiMessages, type Transcript } from '../../facts/index.js';
import type { JsonObject } from '../../kernel/contract.js';
import { canonical } from '../../kernel/node.js';
import type { SectionName } from '../contexts/model.js';
import { contained, escapedTranscript, escapeTemplateTokens, inOneLine, isQuoted } from './escaping.js';
import { GIVEN } from './sections.js';
import { conversationOf } from './turns.js';
import {
  HEADINGS,
  markedText,
  partsOf,
  type Renderer,
  type Rendering,
  textGiven,
  titled,
  type Window,
  type WindowPart,
} from './window.js';

const BETWEEN = '\n\n';

const headingOf = (section: SectionName): string => (HEADINGS[section] === undefined ? '' : `## ${HEADINGS[section]}`);

const headed = (title: string): string => (title === '' ? '' : `### ${title}${BETWEEN}`);

const contradictionsOf = ({ contradicts = [] }: WindowPart): string =>
  contradicts.length === 0 ? '' : `${BETWEEN}(Contradicts: ${contradicts.map(inOneLine).join('; ')})`;

/** Texts of the request were written for this place and are not escaped. */
const partText = (part: WindowPart): string =>
  GIVEN.includes(part.section)
    ? part.text
    : headed(inOneLine(titled(part))) + contained(markedText(part)) + contradictionsOf(part);

/** The sections before the turns. */
const sectionTexts = (window: Window): string[] =>
  window.order.flatMap((section) => {
    const parts = partsOf(window, section);
    return parts.length === 0 ? [] : [headingOf(section), ...parts.map(partText)].filter((text) => text !== '');
  });

const NAMES = { user: 'User', assistant: 'Assistant' };

function labelled(label: string, text: string): string {
  const shown = contained(text);
  return `**${inOneLine(label)}:**${isQuoted(shown) ? BETWEEN : ' '}${shown}`.trimEnd();
}

function messageText({ role, text, calls }: Message): string {
  const lines = calls.flatMap(({ id, name, input, result }) => [
    labelled(`Calls ${name} (${id})`, canonical(input)),
    labelled(`Result of ${id}`, answerText(result)),
  ]);
  return [labelled(NAMES[role], text), ...lines].join(BETWEEN);
}

const conversationTexts = ({ system, messages }: Transcript): string[] => [
  ...system.map((text) => labelled('System', text)),
  ...messages.map(messageText),
];

export const markdown: Renderer = {
  frame: '',
  around: (section) => (headingOf(section) === '' ? '' : headingOf(section) + BETWEEN),
  part: (part) => partText(part) + BETWEEN,
  turns: (conversation) => conversationTexts(conversation).join(BETWEEN) + BETWEEN,
  render(window): Rendering {
    const said = conversationTexts(conversationOf(window.turns));
    const input = textGiven(window, 'user_input');
    const texts = [
      ...sectionTexts(window),
      ...(said.length === 0 ? [] : [headingOf('turns'), ...said]),
      ...(input === undefined ? [] : [`## User input${BETWEEN}${contained(input)}`]),
    ];
    return { text: texts.join(BETWEEN), messages: null };
  },
};

/** A text as it is written inside a JSON string. */
const escaped = (text: string): string => JSON.stringify(text).slice(1, -1);

/** Separates texts of the system prompt. */
const joint = escaped(BETWEEN);

export const chat: Renderer = {
  frame: '{"content":"","role":"system"},',
  around: (section) => (headingOf(section) === '' ? '' : escaped(headingOf(section)) + joint),
  part: (part) => escaped(partText(part)) + joint,
  turns: (conversation) =>
    conversation.system.map((text) => escaped(contained(text)) + joint).join('') +
    openaiMessages('', escapedTranscript(conversation).messages)
      .map((message) => `${canonical(message)},`)
      .join(''),
  render(window): Rendering {
    const { system: said, messages } = escapedTranscript(conversationOf(window.turns));
    const system = [...sectionTexts(window), ...said.map(contained)].join(BETWEEN);
    const input = textGiven(window, 'user_input');
    const shown: JsonObject[] = [
      ...openaiMessages(system, messages),
      ...(input === undefined ? [] : [{ role: 'user', content: escapeTemplateTokens(input) }]),
    ];
    const text = canonical(shown);
    // Parsed from canonical JSON, so that a client that serialises the messages gets the bytes that were hashed.
    return { text, messages: JSON.parse(text) as JsonObject[] };
  },
};
