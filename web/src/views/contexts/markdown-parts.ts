/** Splits a context in Markdown where its sections and parts begin. Stored text cannot imitate them: it is fenced. */
import type { SectionName } from './sections.js';

/** A section that the text shows, with its entries in order. */
export interface PlannedSection {
  readonly name: SectionName;
  readonly entries: readonly number[];
  /** The text of the request, where it is known: it stands without a heading and is not escaped. */
  readonly given?: string | undefined;
}

export interface TextPart {
  readonly section: SectionName | undefined;
  readonly isHeading: boolean;
  /** Undefined if it cannot be told which it is. */
  readonly entry: number | undefined;
  readonly text: string;
}

const HEADINGS: Readonly<Partial<Record<SectionName, string>>> = {
  principles: '## Principles',
  notes: '## Notes',
  artifacts: '## Artifacts',
  summaries: '## Summaries of earlier turns',
  passages: '## Earlier turns that may matter',
  turns: '## Conversation',
  user_input: '## User input',
};

interface Line {
  readonly start: number;
  readonly text: string;
}

/** The lines outside fences, from a position on. */
function* linesOutsideFences(text: string, from: number): Generator<Line> {
  let fence: string | undefined;
  for (let start = from; start <= text.length; ) {
    const end = text.indexOf('\n', start);
    const line = text.slice(start, end === -1 ? text.length : end);
    const mark = /^`{3,}/.exec(line)?.[0];
    if (fence !== undefined) {
      if (line === fence) fence = undefined;
    } else if (mark !== undefined) fence = line === mark ? mark : undefined;
    else yield { start, text: line };
    if (end === -1) return;
    start = end + 1;
  }
}

function startOf(text: string, section: PlannedSection, from: number): number {
  const heading = HEADINGS[section.name];
  if (heading === undefined) {
    if (section.given === undefined) return -1;
    return text.startsWith(section.given, from) ? from : text.indexOf(section.given, from);
  }
  for (const line of linesOutsideFences(text, from)) if (line.text === heading) return line.start;
  return -1;
}

/** Parts of a section begin with a title of level three. */
function partsIn(text: string, section: PlannedSection): TextPart[] {
  const { name, entries } = section;
  const starts = [...linesOutsideFences(text, 0)]
    .filter((line) => line.text.startsWith('### '))
    .map(({ start }) => start);
  if (starts.length !== entries.length || starts[0] !== 0)
    return [{ section: name, isHeading: false, entry: entries.length === 1 ? entries[0] : undefined, text }];
  return starts.map((start, index) => ({
    section: name,
    isHeading: false,
    entry: entries[index],
    text: text.slice(start, starts[index + 1] ?? text.length).trimEnd(),
  }));
}

/** In the order of the text, without a character lost but blank lines between parts. */
export function splitMarkdown(text: string, plan: readonly PlannedSection[]): TextPart[] {
  const starts: { readonly section: PlannedSection; readonly start: number }[] = [];
  let from = 0;
  for (const section of plan) {
    const start = startOf(text, section, from);
    if (start === -1) continue;
    starts.push({ section, start });
    from = start + (section.given?.length ?? HEADINGS[section.name]?.length ?? 0);
  }
  const parts: TextPart[] = [];
  const before = text.slice(0, starts[0]?.start ?? text.length).trimEnd();
  const unknown = plan.find(({ name, given }) => HEADINGS[name] === undefined && given === undefined);
  if (before !== '') parts.push({ section: unknown?.name, isHeading: false, entry: unknown?.entries[0], text: before });
  for (const [index, { section, start }] of starts.entries()) {
    const whole = text.slice(start, starts[index + 1]?.start ?? text.length).trimEnd();
    const heading = HEADINGS[section.name];
    if (heading === undefined) {
      parts.push({ section: section.name, isHeading: false, entry: section.entries[0], text: whole });
      continue;
    }
    parts.push({ section: section.name, isHeading: true, entry: undefined, text: heading });
    const body = whole.slice(heading.length).trim();
    if (section.name === 'turns') parts.push({ section: 'turns', isHeading: false, entry: undefined, text: body });
    else if (section.name === 'user_input')
      parts.push({ section: 'user_input', isHeading: false, entry: section.entries[0], text: body });
    else parts.push(...partsIn(body, section));
  }
  return parts;
}

export interface LabelledText {
  readonly role: string;
  readonly label: string;
  readonly text: string;
}

const LABEL = /^\*\*(System|User|Assistant|Calls [^\n]*|Result of [^\n]*):\*\*/;

/** The conversation in Markdown: each message begins with a label in bold. */
export function splitConversation(text: string): LabelledText[] {
  const starts: Line[] = [];
  for (const line of linesOutsideFences(text, 0)) if (LABEL.test(line.text)) starts.push(line);
  return starts.map(({ start, text: line }, index) => {
    const label = LABEL.exec(line)![1]!;
    const said = text.slice(start + label.length + 5, starts[index + 1]?.start ?? text.length).trim();
    const role = label.startsWith('Result') ? 'tool' : label.startsWith('Calls') ? 'call' : label.toLowerCase();
    return { role, label, text: unfenced(said) };
  });
}

const unfenced = (text: string): string => /^(`{3,})\n([\s\S]*?)\n?\1$/.exec(text)?.[2] ?? text;
