/** The EBNF of the guide (ISO 14977) as a recognizer of sources and a generator of them. */
import fc from 'fast-check';

type Expression =
  | { readonly is: 'terminal'; readonly text: string }
  | { readonly is: 'rule' | 'special'; readonly name: string }
  | { readonly is: 'all' | 'any'; readonly parts: readonly Expression[] }
  | { readonly is: 'repeated' | 'optional'; readonly part: Expression }
  | { readonly is: 'but'; readonly part: Expression; readonly not: Expression };

export type Ebnf = ReadonlyMap<string, Expression>;

const TOKEN = /\s*(?:"([^"]*)"|'([^']*)'|\?\s*(.*?)\s*\?|([a-z][a-z ]*[a-z]|[a-z])|(\d+)|([=,|;{}[\]()*-]))\s*/y;

interface EbnfToken {
  readonly kind: 'terminal' | 'special' | 'name' | 'count' | 'sign';
  readonly text: string;
}

function tokensOf(text: string): EbnfToken[] {
  const tokens: EbnfToken[] = [];
  for (TOKEN.lastIndex = 0; TOKEN.lastIndex < text.length; ) {
    const { lastIndex } = TOKEN;
    const found = TOKEN.exec(text);
    if (!found) throw new Error(`no EBNF: ${text.slice(lastIndex, lastIndex + 40)}`);
    const [, double, single, special, name, count, sign] = found;
    const terminal = double ?? single;
    if (terminal !== undefined) tokens.push({ kind: 'terminal', text: terminal });
    else if (special !== undefined) tokens.push({ kind: 'special', text: special });
    else if (name !== undefined) tokens.push({ kind: 'name', text: name });
    else if (count !== undefined) tokens.push({ kind: 'count', text: count });
    else tokens.push({ kind: 'sign', text: sign! });
  }
  return tokens;
}

const CLOSING: Readonly<Record<string, string>> = { '{': '}', '[': ']', '(': ')' };

/** Reads the rules of an EBNF. */
export function readEbnf(text: string): Ebnf {
  const tokens = tokensOf(text);
  let at = 0;
  const isNext = (sign: string): boolean => tokens[at]?.kind === 'sign' && tokens[at]!.text === sign;
  const take = (sign: string): boolean => isNext(sign) && at++ >= 0;
  const need = (sign: string): void => {
    if (!take(sign)) throw new Error(`${sign} expected before ${JSON.stringify(tokens.slice(at, at + 3))}`);
  };
  const primary = (): Expression => {
    const { kind, text } = tokens[at++]!;
    if (kind === 'terminal') return { is: 'terminal', text };
    if (kind === 'special') return { is: 'special', name: text };
    if (kind === 'name') return { is: 'rule', name: text };
    if (kind === 'count') {
      need('*');
      const part = primary();
      return { is: 'all', parts: Array<Expression>(Number(text)).fill(part) };
    }
    const part = alternatives();
    need(CLOSING[text]!);
    return text === '(' ? part : { is: text === '{' ? 'repeated' : 'optional', part };
  };
  const factor = (): Expression => {
    const part = primary();
    return take('-') ? { is: 'but', part, not: primary() } : part;
  };
  const sequence = (): Expression => {
    const parts = [factor()];
    while (take(',')) parts.push(factor());
    return parts.length === 1 ? parts[0]! : { is: 'all', parts };
  };
  function alternatives(): Expression {
    const parts = [sequence()];
    while (take('|')) parts.push(sequence());
    return parts.length === 1 ? parts[0]! : { is: 'any', parts };
  }
  const rules = new Map<string, Expression>();
  while (at < tokens.length) {
    const name = tokens[at++]!.text;
    need('=');
    if (rules.has(name)) throw new Error(`${name} has two rules`);
    rules.set(name, alternatives());
    need(';');
  }
  return rules;
}

/** The rules that a rule uses, at any depth, and what is said of characters in words. */
export function usedBy(ebnf: Ebnf, name: string): { readonly rules: Set<string>; readonly specials: Set<string> } {
  const [rules, specials] = [new Set([name]), new Set<string>()];
  const look = (one: Expression): void => {
    if (one.is === 'special') specials.add(one.name);
    else if (one.is === 'rule' && !rules.has(one.name)) {
      rules.add(one.name);
      const meant = ebnf.get(one.name);
      if (meant) look(meant);
    } else if ('parts' in one) one.parts.forEach(look);
    else if ('part' in one) look(one.part);
    if (one.is === 'but') look(one.not);
  };
  look(ebnf.get(name)!);
  return { rules, specials };
}

/** The positions behind what a terminal, special or rule without one of its own matches at a position. */
type Leaf = (one: Expression & { readonly is: 'terminal' | 'rule' | 'special' }, at: number) => readonly number[];

/** Finds where a rule can end. `leaf` answers for what is not in `ebnf`. */
class Recognizer {
  readonly #known = new Map<string, readonly number[]>();
  readonly #ebnf: Ebnf;
  readonly #leaf: Leaf;

  constructor(ebnf: Ebnf, leaf: Leaf) {
    this.#ebnf = ebnf;
    this.#leaf = leaf;
  }

  ends(one: Expression, at: number): readonly number[] {
    switch (one.is) {
      case 'rule':
        return this.#ebnf.has(one.name) ? this.rule(one.name, at) : this.#leaf(one, at);
      case 'terminal':
      case 'special':
        return this.#leaf(one, at);
      case 'any':
        return [...new Set(one.parts.flatMap((part) => this.ends(part, at)))];
      case 'all':
        return one.parts.reduce<readonly number[]>(
          (begins, part) => [...new Set(begins.flatMap((begin) => this.ends(part, begin)))],
          [at],
        );
      case 'optional':
        return [...new Set([at, ...this.ends(one.part, at)])];
      case 'but': {
        const not = this.ends(one.not, at);
        return this.ends(one.part, at).filter((end) => !not.includes(end));
      }
      default: {
        const all = new Set([at]);
        for (const begin of all) for (const end of this.ends(one.part, begin)) all.add(end);
        return [...all];
      }
    }
  }

  rule(name: string, at: number): readonly number[] {
    const key = `${name} ${at}`;
    let ends = this.#known.get(key);
    if (!ends) {
      ends = this.ends(this.#ebnf.get(name)!, at);
      this.#known.set(key, ends);
    }
    return ends;
  }
}

/** What the EBNF says of characters in words: the characters that are meant. */
export const SPECIALS: Readonly<Record<string, RegExp>> = {
  'A to Z, a to z': /[A-Za-z]/y,
  '0 to 9': /[0-9]/y,
  'A to F, a to f': /[A-Fa-f]/y,
  '1 to 9': /[1-9]/y,
  'any but quotes, backslash and line breaks': /[^"\\\n\r]/y,
  'LF, CR or CR LF': /\r\n|\n|\r/y,
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are meant
  'space, control characters but NUL, white space of Unicode': /[\u0001-\u0020]|\s/y,
  'characters without "*/"': /(?:(?!\*\/)[\s\S])*/y,
};

/** The rules whose parts are tokens, between which there may be gaps; all others are about characters. */
export const SYNTAX = ['source', 'definition', 'name', 'block', 'field', 'value', 'list'];
const TOKENS = ['word', 'number', 'duration', 'text'];
const SIGNS = '{}[]:,';

interface Token {
  readonly kind: string;
  readonly text: string;
}

/** The tokens of a source by the rules about characters; undefined if it has characters that belong to none. */
function tokensIn(ebnf: Ebnf, source: string): Token[] | undefined {
  const characters = new Recognizer(ebnf, (one, at) => {
    if (one.is === 'terminal') return source.startsWith(one.text, at) ? [at + one.text.length] : [];
    const pattern = one.is === 'special' ? SPECIALS[one.name] : undefined;
    if (!pattern) throw new Error(`the EBNF does not say what ${one.name} is`);
    pattern.lastIndex = at;
    const found = pattern.exec(source);
    return found ? [at + found[0].length] : [];
  });
  const longest = (rule: string, at: number): number => Math.max(at, ...characters.rule(rule, at));
  const tokens: Token[] = [];
  for (let at = 0; at < source.length; ) {
    const gap = longest('gap', at);
    if (gap > at) {
      at = gap;
      continue;
    }
    const kinds = TOKENS.map((kind) => ({ kind, end: longest(kind, at) })).sort((a, b) => b.end - a.end);
    const sign = { kind: source[at]!, end: at + 1 };
    const { kind, end } = SIGNS.includes(source[at]!) ? sign : kinds[0]!;
    if (end === at) return undefined;
    // What the guide says below the rules.
    if (/number|duration/.test(kind) && /[\w.]/.test(source[end] ?? '')) return undefined;
    if (source.startsWith('"""', at) && end < at + 6) return undefined;
    tokens.push({ kind, text: source.slice(at, end) });
    at = end;
  }
  return tokens;
}

/** Whether a source follows the EBNF. */
export function isSource(ebnf: Ebnf, source: string): boolean {
  const tokens = tokensIn(ebnf, source);
  if (!tokens) return false;
  const syntax = new Map([...ebnf].filter(([name]) => SYNTAX.includes(name)));
  const recognizer = new Recognizer(syntax, (one, at) => {
    const token = tokens[at];
    const fits = one.is === 'terminal' ? token?.text === one.text : one.is === 'rule' && token?.kind === one.name;
    return fits ? [at + 1] : [];
  });
  return recognizer.rule('source', 0).includes(tokens.length);
}

const CHARACTERS: Readonly<Record<string, fc.Arbitrary<string>>> = {
  ...Object.fromEntries(
    Object.entries(SPECIALS).map(([name, pattern]) => {
      const fits = (text: string): boolean => {
        pattern.lastIndex = 0;
        return pattern.exec(text)?.[0] === text;
      };
      const usual = fc.constantFrom(...'azAZ09fF éü\u00a0\t\n\r*/#😀', '\r\n', '\0', '\u2028').filter(fits);
      return [
        name,
        fc.oneof({ weight: 3, arbitrary: usual }, fc.string({ unit: 'binary', maxLength: 1 }).filter(fits)),
      ];
    }),
  ),
  'A to Z, a to z': fc.constantFrom(...'azAZ'),
  '0 to 9': fc.constantFrom(...'0159'),
  '1 to 9': fc.constantFrom(...'159'),
  'A to F, a to f': fc.constantFrom(...'aAfF'),
  'LF, CR or CR LF': fc.constantFrom('\n', '\r', '\r\n'),
};

/** Sources that the EBNF makes. */
export function sourcesOf(ebnf: Ebnf): fc.Arbitrary<string> {
  const patternOf = (one: Expression): readonly string[] => (one.is === 'terminal' ? [one.text] : []);
  const { source } = fc.letrec<Record<string, string>>((tie) => {
    const made = (one: Expression, between: fc.Arbitrary<string>): fc.Arbitrary<string> => {
      const joined = (parts: readonly string[]) => between.map((gap) => parts.filter((part) => part !== '').join(gap));
      switch (one.is) {
        case 'terminal':
          return fc.constant(one.text);
        case 'special':
          return CHARACTERS[one.name]!;
        case 'rule':
          return tie(one.name) as fc.Arbitrary<string>;
        case 'any':
          return fc.oneof({ maxDepth: 6, depthIdentifier: 'ebnf' }, ...one.parts.map((part) => made(part, between)));
        case 'all':
          return fc.tuple(...one.parts.map((part) => made(part, between))).chain(joined);
        case 'optional':
          return fc.option(made(one.part, between), { nil: '' });
        case 'but':
          return made(one.part, between).filter((text) => !patternOf(one.not).includes(text));
        default:
          return fc.array(made(one.part, between), { maxLength: 3, depthIdentifier: 'ebnf' }).chain(joined);
      }
    };
    const none = fc.constant('');
    // A comment may end with its line only.
    const gap = fc.oneof(
      fc.constant(' '),
      made(ebnf.get('gap')!, none).map((text) => `${text}\n`),
    );
    return Object.fromEntries([...ebnf].map(([name, rule]) => [name, made(rule, SYNTAX.includes(name) ? gap : none)]));
  });
  return source as fc.Arbitrary<string>;
}
