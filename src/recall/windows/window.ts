/** The content of a window before it is rendered: the parts of its sections, and turns. */
import type { Transcript } from '../../facts/index.js';
import type { JsonObject } from '../../kernel/contract.js';
import type { SectionName } from '../contexts/model.js';
import type { TurnCard } from './turns.js';

/** A text of a section other than `turns`. */
export interface WindowPart {
  readonly section: SectionName;
  /** Empty for texts of the request. */
  readonly title: string;
  /** Such as Fact or Procedure; empty where there is none. */
  readonly type: string;
  readonly text: string;
  /** Of a memory that replaced another: since when it holds, and the former value. */
  readonly mark?: string;
  /** Remarks on other parts of the window that contradict it. */
  readonly contradicts?: readonly string[];
}

export interface Window {
  /** The sections before the turns, in display order. */
  readonly order: readonly SectionName[];
  /** In display order within each section. */
  readonly parts: readonly WindowPart[];
  readonly turns: readonly TurnCard[];
}

/** Renders a format. Parts are counted alone as an estimate; the whole rendering is counted in the end. */
export interface Renderer {
  /** Overhead of a window in which no section before the turns was given by the request. */
  readonly frame: string;
  /** The text of a section around its parts. */
  around(section: SectionName): string;
  part(part: WindowPart): string;
  turns(conversation: Transcript): string;
  render(window: Window): Rendering;
}

export interface Rendering {
  /** The text that is counted and hashed. */
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

/** The text with its mark. */
export const markedText = ({ text, mark }: WindowPart): string =>
  mark === undefined ? text : `${text.trimEnd()} (${mark})`;

/** Such as "Login (Fact)"; without a title "Fact". */
export const titled = ({ title, type }: WindowPart): string =>
  title === '' || type === '' ? title + type : `${title} (${type})`;

/** The end of a sentence, a line or the text. */
const ENDS_HERE = /^(?:[.!?]+(?:\s|$)|[。！？]|[^\S\n]*(?:\n|$))/;

/** Empty if the title repeats the first sentence or line of the text, or the beginning of it. */
export function titleBeside(title: string, text: string): string {
  const isCut = title.endsWith('…');
  const start = isCut ? title.slice(0, -1) : title;
  const said = text.trimStart();
  if (!said.startsWith(start)) return title;
  const isWhole = /[.!?。！？]$/.test(start) || ENDS_HERE.test(said.slice(start.length));
  return isCut || isWhole ? '' : title;
}
