/** Blocks of chat and Markdown text: paragraphs, list items, headings, quotes, tables and code. */

type BlockKind = 'prose' | 'item' | 'heading' | 'quote' | 'table' | 'code';

export interface Block {
  readonly kind: BlockKind;
  /** Without the marks of its kind; of code, the text between the fences. */
  readonly text: string;
  /** The info string after the opening fence. */
  readonly info?: string;
  /** Whether an item is part of a numbered list. */
  readonly numbered?: boolean;
}

/** A line that opens or closes code: marks and info string, which has no backticks after backticks. */
export const FENCE = /^ {0,3}(`{3,}(?=[^`]*$)|~{3,})(.*)$/;
const HEADING = /^ {0,3}#{1,6}\s+(\S.*)$/;
const ITEM = /^\s{0,12}(?:[-*+•‣–]|(\d{1,3}|[a-zA-Z])[.)])\s+(\S.*)$/;
const QUOTE = /^ {0,3}>\s?(.*)$/;
const RULE = /^ {0,3}(?:[-*_=]\s*){3,}$/;
/** A shorter line has a deliberate break; a longer one may be wrapped. */
const WRAPPED_LENGTH = 50;
const MAX_FENCE = 1000;
const MAX_JOINED = 100;
const ENDS_SENTENCE = /[.!?:;。！？…؟۔।॥]["'”’»)\]]*$/u;

/** Reads lines lazily, so that the start of a long text is cheap. */
export function* blocksOf(text: string): Generator<Block> {
  const lines = linesOf(text);
  let open: OpenBlock | undefined;
  for (let next = lines.next(); !next.done; next = lines.next()) {
    const line = next.value;
    const fence = line.length <= MAX_FENCE ? FENCE.exec(line) : null;
    if (fence) {
      if (open) yield closed(open);
      open = undefined;
      yield codeUntil(lines, fence[1]!, fence[2]!.trim());
      continue;
    }
    const read = readLine(line);
    if (open && read && joins(open, read, line)) {
      open.lines.push(read.text);
      continue;
    }
    if (open) yield closed(open);
    open = read && { ...read, lines: [read.text] };
  }
  if (open) yield closed(open);
}

interface ReadLine {
  readonly kind: Exclude<BlockKind, 'code'>;
  readonly text: string;
  readonly numbered?: boolean;
  /** Whether it begins with the mark of its kind. */
  readonly marked: boolean;
}

interface OpenBlock extends ReadLine {
  readonly lines: string[];
}

function* linesOf(text: string): Generator<string> {
  for (let start = 0; start <= text.length; ) {
    const found = text.indexOf('\n', start);
    const end = found < 0 ? text.length : found;
    yield text.slice(start, text[end - 1] === '\r' ? end - 1 : end);
    start = end + 1;
  }
}

/** Undefined for a separator. */
function readLine(line: string): ReadLine | undefined {
  const trimmed = line.trim();
  if (trimmed === '' || (trimmed.length < 200 && RULE.test(line))) return undefined;
  const quote = QUOTE.exec(line);
  if (quote) return { kind: 'quote', text: quote[1]!.trim(), marked: true };
  if (trimmed.startsWith('|') && trimmed.endsWith('|') && trimmed.length > 2)
    return { kind: 'table', text: trimmed, marked: true };
  const heading = HEADING.exec(line);
  if (heading) return { kind: 'heading', text: heading[1]!.trim(), marked: true };
  const item = ITEM.exec(line);
  if (item) return { kind: 'item', text: item[2]!.trim(), numbered: item[1] !== undefined, marked: true };
  return { kind: 'prose', text: trimmed, marked: false };
}

function joins(open: OpenBlock, read: ReadLine, line: string): boolean {
  if (read.kind === 'quote' || read.kind === 'table') return open.kind === read.kind;
  if (read.marked || (open.kind !== 'prose' && open.kind !== 'item')) return false;
  const before = open.lines.at(-1)!;
  // A break after a sentence splits nothing, and an endless block would be read completely before its use.
  if (open.lines.length >= MAX_JOINED || ENDS_SENTENCE.test(before)) return false;
  if (open.kind === 'item' && /^\s/.test(line)) return true;
  return before.length >= WRAPPED_LENGTH && !/^\p{Lu}/u.test(read.text);
}

function closed({ kind, lines, numbered }: OpenBlock): Block {
  const text = lines.join(kind === 'table' || kind === 'quote' ? '\n' : ' ');
  return { kind, text, ...(numbered === undefined ? {} : { numbered }) };
}

/** A fence that is never closed extends to the end. */
function codeUntil(lines: Generator<string>, fence: string, info: string): Block {
  const code: string[] = [];
  for (let next = lines.next(); !next.done; next = lines.next()) {
    const closing = next.value.length <= MAX_FENCE ? FENCE.exec(next.value) : null;
    if (closing && closing[1]!.startsWith(fence) && closing[2]!.trim() === '') break;
    code.push(next.value);
  }
  return { kind: 'code', text: code.join('\n'), info };
}
