/** What is in a window, before it is rendered: parts of sections in their order, and turns. */
import type { Transcript } from '../../facts/index.js';
import type { JsonObject } from '../../kernel/contract.js';
import type { SectionName } from '../contexts/model.js';
import type { TurnCard } from './turns.js';

/** A text in a section other than turns. */
export interface WindowPart {
  readonly section: SectionName;
  /** What it is called; empty for texts of the request. */
  readonly title: string;
  /** Such as Fact or Procedure; empty where there is none. */
  readonly type: string;
  readonly text: string;
  /** What else in the window says otherwise. */
  readonly contradicts?: readonly string[];
}

export interface Window {
  /** The sections before the turns, as they stand. */
  readonly order: readonly SectionName[];
  /** Of each section in the order in which they stand. */
  readonly parts: readonly WindowPart[];
  readonly turns: readonly TurnCard[];
}

/** How a format says things. What parts cost is estimated by their own texts; the whole is counted in the end. */
export interface Shape {
  /** Around what is not given by the request, if nothing is. */
  readonly frame: string;
  /** What a section has around its parts. */
  around(section: SectionName): string;
  part(part: WindowPart): string;
  turns(conversation: Transcript): string;
  render(window: Window): Rendering;
}

export interface Rendering {
  /** What is counted and hashed. */
  readonly text: string;
  readonly messages: JsonObject[] | null;
}

export const partsOf = (window: Window, section: SectionName): WindowPart[] =>
  window.parts.filter((part) => part.section === section);

export const textGiven = (window: Window, section: SectionName): string | undefined =>
  partsOf(window, section)[0]?.text;

export const HEADINGS: Readonly<Partial<Record<SectionName, string>>> = {
  principles: 'Principles',
  notes: 'Notes',
  artifacts: 'Artifacts',
  summaries: 'Summaries of earlier turns',
  passages: 'Earlier turns that may matter',
  turns: 'Conversation',
};

/** A title with its type, such as "Login (Fact)"; without a title the type, such as "Fact". */
export const titled = ({ title, type }: WindowPart): string =>
  title === '' || type === '' ? title + type : `${title} (${type})`;

/** Where a sentence or line ends, or nothing follows. */
const ENDS_HERE = /^(?:[.!?]+(?:\s|$)|[。！？]|[^\S\n]*(?:\n|$))/;

/** A title, unless it is how the text begins: its first sentence or line, or as much of that as a title holds. */
export function titleBeside(title: string, text: string): string {
  const isCut = title.endsWith('…');
  const start = isCut ? title.slice(0, -1) : title;
  const said = text.trimStart();
  if (!said.startsWith(start)) return title;
  const isWhole = /[.!?。！？]$/.test(start) || ENDS_HERE.test(said.slice(start.length));
  return isCut || isWhole ? '' : title;
}
