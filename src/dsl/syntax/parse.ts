/** Parses a source in steps: tokens first, then one definition after another. */
import type { IToken } from 'chevrotain';
import { type Steps, withCommas } from '../../kernel/index.js';
import {
  type Definition,
  type Document,
  MAX_DEFINITIONS,
  MAX_MISTAKES,
  MAX_NESTING,
  MAX_TOKENS,
  MAX_TOKENS_PER_DEFINITION,
  type Mistake,
  type Parsed,
  type Position,
} from './ast.js';

type Grammar = typeof import('./grammar.js') & typeof import('./lexer.js');
type Lexed = import('./lexer.js').Lexed;

let loading: Promise<Grammar> | undefined;

/** Lazy import: loading the parser takes longer than most commands. */
export const loadGrammar = (): Promise<Grammar> =>
  (loading ??= Promise.all([import('./grammar.js'), import('./lexer.js')]).then(([grammar, lexer]) => ({
    ...grammar,
    ...lexer,
  })));

const limit = (message: string, { startLine, startColumn }: IToken): Mistake => ({
  code: 'limit',
  message,
  line: startLine!,
  column: startColumn!,
});

interface Chunk {
  readonly tokens: IToken[];
  /** Why it is not parsed. */
  readonly mistake?: Mistake;
}

const OPENING = new Set(['{', '[']);
const CLOSING = new Set(['}', ']']);

/** `agent B {` can be no field: a block before it is not closed. */
function beginsDefinition(tokens: readonly IToken[], i: number, kinds: ReadonlySet<string>): boolean {
  const kind = tokens[i]!;
  if (!kinds.has(kind.image)) return false;
  const name = tokens[i + 1]?.tokenType.name;
  const next = tokens[i + 2]?.tokenType.name;
  return (
    (name === 'Word' || name === 'Text') && (next === 'OpenBlock' || next === 'Extends') && tokens[i - 1]?.image !== ':'
  );
}

/** The tokens of one definition each, up to the bracket that closes it. */
function* chunksOf(tokens: readonly IToken[], kinds: ReadonlySet<string>): Generator<Chunk> {
  let chunk: IToken[] = [];
  let depth = 0;
  let mistake: Mistake | undefined;
  const cut = (): Chunk => {
    const done = mistake ? { tokens: chunk, mistake } : { tokens: chunk };
    [chunk, depth, mistake] = [[], 0, undefined];
    return done;
  };
  for (let i = 0; i < tokens.length; i++) {
    const token = tokens[i]!;
    const { image } = token;
    if (depth > 0 && beginsDefinition(tokens, i, kinds)) yield cut();
    chunk.push(token);
    if (OPENING.has(image)) depth++;
    if (CLOSING.has(image)) depth--;
    if (depth > MAX_NESTING) mistake ??= limit(`brackets are nested deeper than ${MAX_NESTING} levels`, token);
    if (chunk.length > MAX_TOKENS_PER_DEFINITION)
      mistake ??= limit(`a definition has at most ${withCommas(MAX_TOKENS_PER_DEFINITION)} tokens`, token);
    if (depth <= 0 && CLOSING.has(image)) yield cut();
  }
  if (chunk.length > 0) yield cut();
}

/** One syntax error per line: what follows it there is mostly its consequence. */
function firstOfLine(mistakes: readonly Mistake[]): Mistake[] {
  const lines = new Set<number>();
  return mistakes.filter(({ code, line }) => code !== 'syntax' || (!lines.has(line) && lines.add(line)));
}

const byPosition = (a: Position, b: Position): number => a.line - b.line || a.column - b.column;

/** The positions between the first and the last token. */
function within(tokens: readonly IToken[], positions: readonly Position[]): Position[] {
  const [first, last] = [tokens[0]!, tokens.at(-1)!];
  const [from, to] = [first, last].map(({ startLine, startColumn }) => ({ line: startLine!, column: startColumn! }));
  return positions.filter((one) => byPosition(from!, one) <= 0 && byPosition(one, to!) <= 0);
}

/** Parses one chunk. Mistakes behind a text that is not closed are its consequence. */
function parseChunk(grammar: Grammar, tokens: IToken[], lexed: Lexed): ReturnType<Grammar['parseTokens']> {
  const parsed = grammar.parseTokens(tokens);
  const [unclosed] = within(tokens, lexed.unclosed);
  const mistakes = unclosed ? parsed.mistakes.filter((one) => byPosition(one, unclosed) < 0) : parsed.mistakes;
  return { definitions: within(tokens, lexed.mistakes).length > 0 ? [] : parsed.definitions, mistakes };
}

/** A bracket that nothing opened, after a definition in which one is missing. */
const isLeftOver = (tokens: readonly IToken[]): boolean => tokens.length === 1 && CLOSING.has(tokens[0]!.image);

const NOTHING: Document = { definitions: [], comments: [] };

/** Parses a source. `kinds` are the words that begin a definition. */
export function* parseSource(grammar: Grammar, source: string, kinds: ReadonlySet<string>): Steps<Parsed> {
  const lexed = yield* grammar.lex(source, MAX_MISTAKES);
  if (lexed.exceeded) {
    const message = `a source has at most ${withCommas(MAX_TOKENS)} tokens and comments: split it`;
    return { document: NOTHING, mistakes: [{ code: 'limit', message, ...lexed.exceeded }] };
  }
  const mistakes: Mistake[] = [...lexed.mistakes];
  const definitions: Definition[] = [];
  let isBroken = false;
  for (const { tokens, mistake } of chunksOf(lexed.tokens, kinds)) {
    yield;
    if (mistakes.length >= MAX_MISTAKES) break;
    if (isBroken && isLeftOver(tokens)) continue;
    if (mistake) {
      mistakes.push(mistake);
      isBroken = true;
      continue;
    }
    if (definitions.length >= MAX_DEFINITIONS) {
      mistakes.push(limit(`a source has at most ${withCommas(MAX_DEFINITIONS)} definitions`, tokens[0]!));
      break;
    }
    const parsed = parseChunk(grammar, tokens, lexed);
    isBroken = parsed.definitions.length === 0;
    mistakes.push(...parsed.mistakes);
    definitions.push(...parsed.definitions);
  }
  const sorted = firstOfLine(mistakes.sort(byPosition)).slice(0, MAX_MISTAKES);
  return { document: { definitions, comments: lexed.comments }, mistakes: sorted };
}
