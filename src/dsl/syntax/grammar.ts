/** The grammar, on chevrotain: the tokens of a definition to its syntax tree. Loaded at the first use, which takes a while. */
import {
  EmbeddedActionsParser,
  type IParserErrorMessageProvider,
  type IToken,
  type ParserMethod,
  type TokenType,
  tokenMatcher,
} from 'chevrotain';
import type { Definition, Field, Mistake, Name, ObjectValue, Span, Value } from './ast.js';
import { tokens } from './lexer.js';
import { unexpected } from './messages.js';
import { numericValue } from './numbers.js';
import { dedent, unescapeText } from './strings.js';

const spanOf = ({ startOffset, endOffset, startLine, startColumn }: IToken): Span => ({
  start: startOffset,
  end: endOffset! + 1,
  line: startLine!,
  column: startColumn!,
});

/** The text of an image, which may lack its closing quotes. */
function textOf(image: string): string {
  const quotes = image.startsWith('"""') ? 3 : 1;
  const closed = image.length >= 2 * quotes && image.endsWith('"'.repeat(quotes));
  const raw = image.slice(quotes, closed ? -quotes : undefined);
  return unescapeText(quotes === 3 ? dedent(raw) : raw);
}

const nameOf = (token: IToken): Name =>
  token.tokenType === tokens.Text
    ? { value: textOf(token.image), quoted: true, ...spanOf(token) }
    : { value: token.image, quoted: false, ...spanOf(token) };

function wordValue(token: IToken): Value {
  const { image } = token;
  if (image === 'null') return { type: 'null', ...spanOf(token) };
  if (image === 'true' || image === 'false') return { type: 'boolean', value: image === 'true', ...spanOf(token) };
  return { type: 'name', value: image, ...spanOf(token) };
}

/** Thrown out of the parser at its limit of mistakes. */
class TooManyMistakes extends Error {}

type Paths = readonly (readonly (readonly TokenType[])[])[];

/** What a reader expects who knows the language, not the grammar. */
const fieldOrEnd = ['a field', '`}`'];
const VALUE = ['a value'];
const COLON = ['`:`'];

function expectedIn(ruleName: string, label: string, previous: IToken): readonly string[] {
  if (ruleName === 'source') return ['a definition'];
  if (ruleName === 'block' && label === '`}`') return fieldOrEnd;
  if (ruleName === 'list' && label === '`]`')
    return tokenMatcher(previous, tokens.OpenList) || tokenMatcher(previous, tokens.Comma)
      ? [...VALUE, '`]`']
      : ['`,`', '`]`'];
  return [label];
}

const labelsOf = (paths: Paths): string[] => [
  ...new Set(paths.flatMap((alternatives) => alternatives.map(([first]) => first!.LABEL ?? first!.name))),
];

/** The parser's messages are the expected tokens as JSON: `unexpected` words them. */
const messagesUpTo = (limit: number): IParserErrorMessageProvider & { count: number } => {
  const say = (expected: readonly string[]): string => {
    if (provider.count++ >= limit) throw new TooManyMistakes();
    return JSON.stringify(expected);
  };
  const provider = {
    count: 0,
    buildMismatchTokenMessage: ({
      expected,
      previous,
      ruleName,
    }: {
      expected: TokenType;
      previous: IToken;
      ruleName: string;
    }) => say(expectedIn(ruleName, expected.LABEL ?? expected.name, previous)),
    buildNotAllInputParsedMessage: () => say(['a definition']),
    buildNoViableAltMessage: ({
      expectedPathsPerAlt,
      previous,
      ruleName,
    }: {
      expectedPathsPerAlt: unknown;
      previous: IToken;
      ruleName: string;
    }) => {
      if (ruleName !== 'value') return say(labelsOf(expectedPathsPerAlt as Paths));
      return say(tokenMatcher(previous, tokens.Colon) ? VALUE : COLON);
    },
    buildEarlyExitMessage: ({ expectedIterationPaths }: { expectedIterationPaths: unknown }) =>
      say(labelsOf([expectedIterationPaths as Paths[number]])),
  };
  return provider;
};

const MAX_PER_PARSE = 100;

class DefinitionParser extends EmbeddedActionsParser {
  /** Mistakes that the grammar allows for, so that it can go on behind them. */
  readonly found: { readonly expected: readonly string[]; readonly token: IToken }[] = [];
  /** Numbers and durations that cannot be read. */
  readonly misread: Mistake[] = [];
  readonly #messages: { count: number };

  constructor() {
    const messages = messagesUpTo(MAX_PER_PARSE);
    super(tokens, { recoveryEnabled: true, maxLookahead: 1, errorMessageProvider: messages });
    this.#messages = messages;
    this.performSelfAnalysis();
  }

  begin(input: IToken[]): void {
    this.#messages.count = 0;
    this.found.length = 0;
    this.misread.length = 0;
    this.input = input;
  }

  readonly source: ParserMethod<[], Definition[]> = this.RULE(
    'source',
    () => {
      const definitions: Definition[] = [];
      this.MANY(() => {
        const one = this.SUBRULE(this.definition);
        if (one) definitions.push(one);
      });
      return definitions;
    },
    { recoveryValueFunc: () => [] },
  );

  readonly definition: ParserMethod<[], Definition | undefined> = this.RULE('definition', () => {
    const kind = this.CONSUME(tokens.Word);
    const name = this.OPTION({
      GATE: () => this.LA(1).tokenType !== tokens.Extends,
      DEF: () => this.SUBRULE(this.name),
    });
    const base = this.OPTION2(() => {
      this.CONSUME(tokens.Extends);
      return this.SUBRULE2(this.name);
    });
    const body = this.SUBRULE(this.block);
    return this.ACTION(() =>
      body === undefined
        ? undefined
        : { kind: nameOf(kind), name: name ?? null, base: base ?? null, body, ...spanOf(kind), end: body.end },
    );
  });

  readonly name: ParserMethod<[], Name | undefined> = this.RULE('name', () => {
    const token = this.OR([{ ALT: () => this.CONSUME(tokens.Word) }, { ALT: () => this.CONSUME(tokens.Text) }]);
    return this.ACTION(() => nameOf(token));
  });

  readonly block: ParserMethod<[], ObjectValue | undefined> = this.RULE('block', () => {
    const fields: Field[] = [];
    const open = this.CONSUME(tokens.OpenBlock);
    this.MANY(() => {
      const one = this.SUBRULE(this.field);
      if (one) fields.push(one);
    });
    const close = this.CONSUME(tokens.CloseBlock);
    return this.ACTION((): ObjectValue => ({ type: 'object', fields, ...spanOf(open), end: close.endOffset! + 1 }));
  });

  /** The colon is optional before a block, and reported if it is missing elsewhere. */
  readonly field: ParserMethod<[], Field | undefined> = this.RULE('field', () => {
    const key = this.SUBRULE(this.name);
    const colon = this.OPTION(() => this.CONSUME(tokens.Colon));
    const next = this.LA(1);
    const value = this.SUBRULE(this.value);
    this.OPTION2(() => this.CONSUME(tokens.Comma));
    return this.ACTION(() => {
      if (key === undefined || value === undefined) return undefined;
      if (!colon && value.type !== 'object') this.#missing(COLON, next);
      return { key, value };
    });
  });

  readonly value: ParserMethod<[], Value | undefined> = this.RULE('value', () =>
    this.OR<Value | undefined>([
      { ALT: () => this.#text(this.CONSUME(tokens.Text)) },
      { ALT: () => this.#numeric(this.CONSUME(tokens.Numeric)) },
      { ALT: () => this.#word(this.CONSUME(tokens.Word)) },
      { ALT: () => this.SUBRULE(this.list) },
      { ALT: () => this.SUBRULE(this.block) },
    ]),
  );

  /** A missing comma is reported, and the list goes on. */
  readonly list: ParserMethod<[], Value | undefined> = this.RULE('list', () => {
    const items: Value[] = [];
    const open = this.CONSUME(tokens.OpenList);
    let separated = true;
    this.MANY(() => {
      const next = this.LA(1);
      const item = this.SUBRULE(this.value);
      this.ACTION(() => {
        if (!separated) this.#missing(['`,`', '`]`'], next);
        if (item) items.push(item);
      });
      const comma = this.OPTION(() => this.CONSUME(tokens.Comma));
      separated = comma !== undefined;
    });
    const close = this.CONSUME(tokens.CloseList);
    return this.ACTION((): Value => ({ type: 'list', items, ...spanOf(open), end: close.endOffset! + 1 }));
  });

  #missing(expected: readonly string[], token: IToken): void {
    if (this.found.length < MAX_PER_PARSE) this.found.push({ expected, token });
  }

  #text(token: IToken): Value {
    return this.ACTION(() => ({ type: 'text', value: textOf(token.image), ...spanOf(token) }));
  }

  #word(token: IToken): Value {
    return this.ACTION(() => wordValue(token));
  }

  #numeric(token: IToken): Value | undefined {
    return this.ACTION(() => {
      const span = spanOf(token);
      const read = numericValue(token.image);
      if ('type' in read) return { ...read, ...span };
      if (this.misread.length < MAX_PER_PARSE) this.misread.push({ ...read, line: span.line, column: span.column });
      return undefined;
    });
  }
}

let parser: DefinitionParser | undefined;

/** Parses the tokens of a definition, or whatever stands between two. */
export function parseTokens(input: IToken[]): { readonly definitions: Definition[]; readonly mistakes: Mistake[] } {
  parser ??= new DefinitionParser();
  parser.begin(input);
  let definitions: Definition[] = [];
  try {
    definitions = parser.source();
  } catch (error) {
    if (!(error instanceof TooManyMistakes)) throw error;
  }
  const refused = parser.errors.map(({ message, token }) => ({ expected: JSON.parse(message) as string[], token }));
  const mistakes = [
    ...parser.misread,
    ...[...parser.found, ...refused].map(({ expected, token }) => unexpected(expected, token, input)),
  ].sort((a, b) => a.line - b.line || a.column - b.column);
  return { definitions: mistakes.length === 0 ? definitions : [], mistakes };
}
