/** The canonical form of a document: one layout for every source that means the same, comments kept. */
import type { Steps } from '../../kernel/index.js';
import { type Comment, type Definition, type Document, type Field, isBareWord, type Value } from './ast.js';
import { numberText } from './numbers.js';
import { quoteLines, quoteText } from './strings.js';

const STEP = '  ';
/** Lists and small blocks stay on one line up to this width. */
const WIDTH = 100;

const nameText = (value: string): string => (isBareWord(value) ? value : quoteText(value));

/** A value without parts, on one line; undefined for a text over several lines and for lists and blocks. */
function scalarText(value: Value): string | undefined {
  switch (value.type) {
    case 'text':
      return value.value.includes('\n') ? undefined : quoteText(value.value);
    case 'number':
      return numberText(value.value);
    case 'boolean':
      return String(value.value);
    case 'null':
      return 'null';
    case 'duration':
      return `${value.value}${value.unit}`;
    case 'name':
      return value.value;
    default:
      return undefined;
  }
}

/** A value on one line of at most `room` characters. A block on one line has no block or list of blocks inside. */
function inlineText(value: Value, room: number): string | undefined {
  if (room < 0) return undefined;
  const scalar = scalarText(value);
  if (scalar !== undefined) return scalar.length <= room ? scalar : undefined;
  if (value.type !== 'list' && value.type !== 'object') return undefined;
  const isList = value.type === 'list';
  const parts: string[] = [];
  let left = room - 4;
  for (const part of isList ? value.items : value.fields) {
    const [key, inner] = 'key' in part ? [`${nameText(part.key.value)}: `, part.value] : ['', part];
    if (!isList && inner.type === 'object') return undefined;
    const text = inlineText(inner, left - key.length);
    if (text === undefined) return undefined;
    parts.push(`${key}${text}`);
    left -= key.length + text.length + 2;
  }
  if (isList) return `[${parts.join(', ')}]`;
  return parts.length === 0 ? '{}' : `{ ${parts.join(', ')} }`;
}

const BLANK_LINE = /\n[^\S\n]*\n/;

class Printer {
  readonly lines: string[] = [];
  readonly #source: string;
  readonly #comments: readonly Comment[];
  #next = 0;
  /** End of what was printed last, in the source. */
  #end = 0;

  constructor(source: string, comments: readonly Comment[]) {
    this.#source = source;
    this.#comments = comments;
  }

  definition(definition: Definition): void {
    const { kind, name, base, body } = definition;
    this.leading(definition.start, body.start, '');
    const words = [
      kind.value,
      ...(name ? [nameText(name.value)] : []),
      ...(base ? ['extends', nameText(base.value)] : []),
    ];
    const head = words.join(' ');
    if (body.fields.length === 0 && !this.#commentsBefore(body.end)) this.lines.push(`${head} {}`);
    else this.#fields(`${head} {`, body.fields, body.end, '');
    this.#printed(definition.end);
  }

  /** Prints the comments before an item, and a blank line if the source has one there. Comments up to `inside` come first. */
  leading(start: number, inside: number, indentation: string): void {
    for (;;) {
      const comment = this.#comments[this.#next];
      if (!comment || comment.start >= inside) break;
      this.#blankLine(comment.start);
      this.lines.push(`${indentation}${comment.text}`);
      this.#end = comment.end;
      this.#next++;
    }
    this.#blankLine(start);
  }

  #blankLine(start: number): void {
    const before = this.lines.at(-1);
    // None at the beginning of the text or of a block.
    if (before === undefined || before === '' || /[{[]$/.test(before)) return;
    if (BLANK_LINE.test(this.#source.slice(this.#end, start).replaceAll('\r', ''))) this.lines.push('');
  }

  #commentsBefore(end: number): boolean {
    const comment = this.#comments[this.#next];
    return comment !== undefined && comment.start < end;
  }

  /** Marks an item as printed; a comment behind it on its line follows it. */
  #printed(end: number): void {
    this.#end = end;
    const comment = this.#comments[this.#next];
    if (!comment || comment.start < end || comment.text.includes('\n')) return;
    if (!/^[ \t,]*$/.test(this.#source.slice(end, comment.start))) return;
    this.lines.push(`${this.lines.pop()} ${comment.text}`);
    this.#end = comment.end;
    this.#next++;
  }

  #fields(head: string, fields: readonly Field[], end: number, indentation: string): void {
    this.lines.push(head);
    for (const { key, value } of fields) {
      this.#item(value, key.start, `${indentation}${STEP}`, { head: nameText(key.value), tail: '' });
    }
    this.leading(0, end, `${indentation}${STEP}`);
    this.lines.push(`${indentation}}`);
  }

  /** A field or, without a head, an item of a list. */
  #item(value: Value, start: number, indentation: string, { head, tail }: { head: string; tail: string }): void {
    const hasParts = value.type === 'object' || value.type === 'list';
    this.leading(start, hasParts ? value.start : value.end, indentation);
    const isEmpty = value.type === 'object' && value.fields.length === 0;
    const named = head === '' ? '' : value.type === 'object' ? `${head} ` : `${head}: `;
    const room = WIDTH - indentation.length - named.length - tail.length;
    const text =
      hasParts && this.#commentsBefore(value.end)
        ? undefined
        : (scalarText(value) ?? (isEmpty ? '{}' : inlineText(value, room)));
    const begun = `${indentation}${named}`;
    if (text !== undefined) this.lines.push(`${begun}${text}${tail}`);
    else this.#expanded(value, begun, indentation, tail);
    this.#printed(value.end);
  }

  #expanded(value: Value, begun: string, indentation: string, tail: string): void {
    if (value.type === 'object') this.#fields(`${begun}{`, value.fields, value.end, indentation);
    else if (value.type === 'list') {
      this.lines.push(`${begun}[`);
      const within = `${indentation}${STEP}`;
      for (const item of value.items) this.#item(item, item.start, within, { head: '', tail: ',' });
      this.leading(0, value.end, within);
      this.lines.push(`${indentation}]`);
    } else if (value.type === 'text') this.lines.push(`${begun}${quoteLines(value.value, `${indentation}${STEP}`)}`);
    this.lines.push(`${this.lines.pop()}${tail}`);
  }
}

/** The canonical text of a document that was parsed from `source`, or made without one. */
export function* formatDocument({ definitions, comments }: Document, source = ''): Steps<string> {
  const printer = new Printer(source, comments);
  for (const definition of definitions) {
    if (printer.lines.length > 0 && printer.lines.at(-1) !== '') printer.lines.push('');
    printer.definition(definition);
    yield;
  }
  const last = definitions.length > 0 ? printer.lines.length : 0;
  printer.leading(0, source.length + 1, '');
  if (last > 0 && printer.lines.length > last && printer.lines[last] !== '') printer.lines.splice(last, 0, '');
  return printer.lines.length === 0 ? '' : `${printer.lines.join('\n')}\n`;
}
