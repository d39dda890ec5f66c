/** A window as Markdown, and as messages whose system prompt is Markdown. */
import { answerText, type Message, openaiMessages, type Transcript } from '../../facts/index.js';
import type { JsonObject } from '../../kernel/contract.js';
import { canonical } from '../../kernel/node.js';
import type { SectionName } from '../contexts/model.js';
import { contained, defused, inOneLine, isQuoted } from './contained.js';
import { defusedTranscript } from './defused.js';
import { GIVEN } from './sections.js';
import { conversationOf } from './turns.js';
import {
  HEADINGS,
  partsOf,
  type Rendering,
  type Shape,
  textGiven,
  titled,
  type Window,
  type WindowPart,
} from './window.js';

const BETWEEN = '\n\n';

const headingOf = (section: SectionName): string => (HEADINGS[section] === undefined ? '' : `## ${HEADINGS[section]}`);

const headed = (title: string): string => (title === '' ? '' : `### ${title}${BETWEEN}`);

const doubtOf = ({ contradicts = [] }: WindowPart): string =>
  contradicts.length === 0 ? '' : `${BETWEEN}(Contradicts: ${contradicts.map(inOneLine).join('; ')})`;

/** What the request brings is written for this place, and stands as it is. */
const partText = (part: WindowPart): string =>
  GIVEN.includes(part.section) ? part.text : headed(inOneLine(titled(part))) + contained(part.text) + doubtOf(part);

/** All that stands before the turns. */
function sectionTexts(window: Window): string[] {
  return window.order.flatMap((section) => {
    const parts = partsOf(window, section);
    if (parts.length === 0) return [];
    return [headingOf(section), ...parts.map(partText)].filter((text) => text !== '');
  });
}

const NAMES = { user: 'User', assistant: 'Assistant' };

/** A quoted text begins in a line of its own. */
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

export const markdown: Shape = {
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

/** A text as it stands within a JSON string. */
const escaped = (text: string): string => JSON.stringify(text).slice(1, -1);

/** Between texts of the system prompt. */
const joint = escaped(BETWEEN);

export const chat: Shape = {
  frame: '{"content":"","role":"system"},',
  around: (section) => (headingOf(section) === '' ? '' : escaped(headingOf(section)) + joint),
  part: (part) => escaped(partText(part)) + joint,
  turns: (conversation) =>
    conversation.system.map((text) => escaped(contained(text)) + joint).join('') +
    openaiMessages('', defusedTranscript(conversation).messages)
      .map((message) => `${canonical(message)},`)
      .join(''),
  render(window): Rendering {
    const { system: said, messages } = defusedTranscript(conversationOf(window.turns));
    const system = [...sectionTexts(window), ...said.map(contained)].join(BETWEEN);
    const input = textGiven(window, 'user_input');
    const shown: JsonObject[] = [
      ...openaiMessages(system, messages),
      ...(input === undefined ? [] : [{ role: 'user', content: defused(input) }]),
    ];
    const text = canonical(shown);
    // Members in the order of their names, so that whoever writes them as JSON writes these bytes.
    return { text, messages: JSON.parse(text) as JsonObject[] };
  },
};
