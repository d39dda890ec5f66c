/** Windows as XML or JSON, and the renderer of each format. */
import { answerText, type Message, openaiMessages, type Transcript } from '../../facts/index.js';
import type { Json, JsonObject } from '../../kernel/contract.js';
import { canonical } from '../../kernel/node.js';
import type { ContextFormat, SectionName } from '../contexts/model.js';
import { chat, markdown } from './markdown.js';
import { GIVEN } from './sections.js';
import { conversationOf } from './turns.js';
import { markedText, partsOf, type Renderer, type Rendering, textGiven, type WindowPart } from './window.js';

// biome-ignore lint/suspicious/noControlCharactersInRegex: XML cannot hold these, not even escaped
const UNFIT = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff]/g;

const inXml = (text: string): string =>
  text.replace(UNFIT, '\ufffd').replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');

const attribute = (name: string, value: string): string =>
  value === '' ? '' : ` ${name}="${inXml(value).replaceAll('"', '&quot;').replaceAll('\n', '&#10;')}"`;

const ELEMENTS: Readonly<Partial<Record<SectionName, string>>> = {
  principles: 'principle',
  notes: 'note',
  artifacts: 'artifact',
  summaries: 'summary',
  passages: 'passage',
};

const xmlPart = (part: WindowPart): string => {
  const { section, title, type, contradicts = [] } = part;
  return `<${ELEMENTS[section]}${attribute('title', title)}${attribute('type', type)}${attribute('contradicts', contradicts.join('; '))}>${inXml(markedText(part))}</${ELEMENTS[section]}>\n`;
};

const given = (section: SectionName, text: string): string => `<${section}>${inXml(text)}</${section}>\n`;

const xmlMessage = ({ role, text, calls }: Message): string => {
  const made = calls.map(
    ({ id, name, input, result }) =>
      `<call${attribute('id', id)}${attribute('name', name)}>${inXml(canonical(input))}</call><result${attribute('id', id)}>${inXml(answerText(result))}</result>`,
  );
  return `<turn role="${role}">${inXml(text)}${made.join('')}</turn>\n`;
};

const xmlTurns = ({ system, messages }: Transcript): string =>
  [...system.map((text) => `<turn role="system">${inXml(text)}</turn>\n`), ...messages.map(xmlMessage)].join('');

const around = (section: SectionName, inner: string): string => `<${section}>\n${inner}</${section}>\n`;

const xml: Renderer = {
  frame: '',
  around: (section) => around(section, ''),
  part: (part) => (GIVEN.includes(part.section) ? given(part.section, part.text) : xmlPart(part)),
  turns: xmlTurns,
  render(window): Rendering {
    const sections = window.order.map((section) => {
      const parts = partsOf(window, section);
      if (parts.length === 0) return '';
      if (GIVEN.includes(section)) return given(section, parts[0]!.text);
      return around(section, parts.map(xmlPart).join(''));
    });
    const turns = xmlTurns(conversationOf(window.turns));
    const input = textGiven(window, 'user_input');
    const text = [
      '<context>\n',
      ...sections,
      turns === '' ? '' : around('turns', turns),
      input === undefined ? '' : given('user_input', input),
      '</context>',
    ].join('');
    return { text, messages: null };
  },
};

const jsonPart = (part: WindowPart): JsonObject => {
  const { title, type, contradicts = [] } = part;
  return {
    text: markedText(part),
    ...(contradicts.length === 0 ? {} : { contradicts: [...contradicts] }),
    ...(title === '' ? {} : { title }),
    ...(type === '' ? {} : { type }),
  };
};

const jsonTurns = ({ system, messages }: Transcript): Json[] => [
  ...system.map((content) => ({ role: 'system', content })),
  ...openaiMessages('', messages),
];

const json: Renderer = {
  frame: '',
  around: (section) => `"${section}":[],`,
  part: (part) => `${canonical(GIVEN.includes(part.section) ? part.text : jsonPart(part))},`,
  turns: (conversation) =>
    jsonTurns(conversation)
      .map((turn) => `${canonical(turn)},`)
      .join(''),
  render(window): Rendering {
    const shown: JsonObject = {};
    for (const section of window.order) {
      const parts = partsOf(window, section);
      if (parts.length === 0) continue;
      shown[section] = GIVEN.includes(section) ? parts[0]!.text : parts.map(jsonPart);
    }
    const turns = jsonTurns(conversationOf(window.turns));
    if (turns.length > 0) shown.turns = turns;
    const input = textGiven(window, 'user_input');
    if (input !== undefined) shown.user_input = input;
    return { text: canonical(shown), messages: null };
  },
};

export const renderers: Readonly<Record<ContextFormat, Renderer>> = { messages: chat, markdown, xml, json };
