/**
 * The TextMate grammar for editors: its expressions compile, its includes lead somewhere, and it names the tokens of the
 * guide. The matcher here is a small one: the first of the leftmost matches, begin and end, captures, line by line.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { KIND_NAMES } from '#cairn/dsl/checks/kind-names.js';
import { kindNames } from '#cairn/dsl/checks/kinds.js';
import { UNITS } from '#cairn/dsl/syntax/ast.js';
import { loadGrammar, parseSource } from '#cairn/dsl/syntax/parse.js';
import { runSteps } from '#cairn/kernel/index.js';
import { ROOT } from '../support/run.js';

type Captures = Readonly<Record<string, { readonly name: string }>>;

interface Rule {
  readonly name?: string;
  readonly match?: string;
  readonly begin?: string;
  readonly end?: string;
  readonly include?: string;
  readonly captures?: Captures;
  readonly beginCaptures?: Captures;
  readonly endCaptures?: Captures;
  readonly patterns?: readonly Rule[];
}

interface Grammar extends Rule {
  readonly scopeName: string;
  readonly fileTypes: readonly string[];
  readonly repository: Readonly<Record<string, Rule>>;
}

const grammar = JSON.parse(readFileSync(join(ROOT, 'editors/cairn.tmLanguage.json'), 'utf8')) as Grammar;
const guide = readFileSync(join(ROOT, 'docs/guides/dsl.md'), 'utf8');
const sources = [...guide.matchAll(/```cairn\n(.*?)```/gs)].map(([, source]) => source!);

const rulesIn = (rule: Rule): Rule[] => [rule, ...(rule.patterns ?? []).flatMap(rulesIn)];
const allRules = [...rulesIn(grammar), ...Object.values(grammar.repository).flatMap(rulesIn)];

/** Patterns with the included ones in their place. */
const flattened = (patterns: readonly Rule[]): Rule[] =>
  patterns.flatMap((rule) => {
    const meant = rule.include === undefined ? rule : grammar.repository[rule.include.slice(1)]!;
    return meant.match !== undefined || meant.begin !== undefined ? [meant] : flattened(meant.patterns ?? []);
  });

interface Token {
  readonly text: string;
  readonly scope: string;
}

class Tokenizer {
  readonly tokens: Token[] = [];
  readonly #open: Rule[] = [grammar];

  line(text: string): void {
    for (let at = 0; at <= text.length; ) {
      const rule = this.#open.at(-1)!;
      const ends: Rule[] = rule.end === undefined ? [] : [rule];
      const found = [
        ...ends.map((one) => ({ one, isEnd: true, match: matchAt(one.end!, text, at) })),
        ...flattened(rule.patterns ?? []).map((one) => {
          return { one, isEnd: false, match: matchAt(one.match ?? one.begin!, text, at) };
        }),
      ].filter(({ match }) => match !== null);
      const first = found.sort((a, b) => a.match!.index - b.match!.index)[0];
      if (!first) {
        this.#add(text.slice(at), rule.name);
        break;
      }
      this.#add(text.slice(at, first.match!.index), rule.name);
      const { one, isEnd, match } = first;
      const captures = isEnd ? one.endCaptures : (one.captures ?? one.beginCaptures);
      this.#captured(match!, one.name, captures);
      if (isEnd) this.#open.pop();
      else if (one.begin !== undefined) this.#open.push(one);
      const next = match!.index + match![0].length;
      if (next === text.length && match![0] === '') break;
      at = next;
    }
  }

  #add(text: string, scope = 'none'): void {
    if (text.trim() !== '') this.tokens.push({ text: text.trim(), scope });
  }

  #captured(match: RegExpExecArray, name: string | undefined, captures: Captures = {}): void {
    const parts = Object.entries(captures).filter(([i]) => match[Number(i)] !== undefined);
    for (const [i, { name: scope }] of parts) this.#add(match[Number(i)]!, scope);
    if (!parts.some(([i]) => i === '0') && name !== undefined) this.#add(match[0], name);
  }
}

function matchAt(pattern: string, text: string, at: number): RegExpExecArray | null {
  const compiled = new RegExp(pattern, 'g');
  compiled.lastIndex = at;
  return compiled.exec(text);
}

function tokensOf(source: string): Token[] {
  const tokenizer = new Tokenizer();
  for (const line of source.split('\n')) tokenizer.line(line);
  return tokenizer.tokens;
}

const scopesOf = (source: string): string[] => tokensOf(source).map(({ text, scope }) => `${text} ${scope}`);
const invalidIn = (source: string): Token[] => tokensOf(source).filter(({ scope }) => /^(invalid|none)/.test(scope));

describe('the grammar for editors', () => {
  it('DSL-1 compiles, and its includes lead to rules that are all used', () => {
    expect(grammar).toMatchObject({ scopeName: 'source.cairn', fileTypes: ['cairn'] });
    const patterns = allRules.flatMap(({ match, begin, end }) =>
      [match, begin, end].filter((one) => one !== undefined),
    );
    expect(patterns.length).toBeGreaterThan(20);
    for (const pattern of patterns) expect(() => new RegExp(pattern, 'u')).not.toThrow();
    const included = new Set(allRules.flatMap(({ include }) => (include === undefined ? [] : [include.slice(1)])));
    expect([...included].sort()).toEqual(Object.keys(grammar.repository).sort());
    for (const { begin, end } of allRules) expect(begin === undefined).toBe(end === undefined);
    const names = allRules.flatMap(({ name }) => name ?? []).filter((name) => name !== grammar.name);
    for (const name of names) expect(name).toMatch(/^[a-z-]+(\.[a-z-]+)*\.cairn$/);
  });

  it('DSL-1 knows every kind and unit', () => {
    for (const kind of KIND_NAMES) expect(scopesOf(`${kind} A {}`)[0]).toBe(`${kind} storage.type.kind.cairn`);
    for (const unit of Object.keys(UNITS))
      expect(scopesOf(`agent A { x: 5${unit} }`)).toContain(`${unit} keyword.other.unit.cairn`);
  });

  it('DSL-1 names every token of the guide, and none as invalid', () => {
    expect(sources.length).toBeGreaterThan(5);
    for (const source of sources) expect({ source, invalid: invalidIn(source) }).toEqual({ source, invalid: [] });
    const scopes = sources.flatMap(scopesOf);
    expect(scopes).toEqual(
      expect.arrayContaining([
        '// punctuation.definition.comment.cairn',
        'profile storage.type.kind.cairn',
        'Coder entity.name.type.definition.cairn',
        'extends keyword.other.extends.cairn',
        'Worker entity.other.inherited-class.cairn',
        'system_prompt variable.other.property.cairn',
        '""" punctuation.definition.string.begin.cairn',
        'You write code. string.quoted.triple.cairn',
        'Reads diffs string.quoted.double.cairn',
        'llm_config variable.other.property.cairn',
        '* variable.other.property.cairn',
        '* constant.other.name.cairn',
        '0.2 constant.numeric.cairn',
        '7 constant.numeric.duration.cairn',
        'true constant.language.cairn',
        'null constant.language.cairn',
        'write_code constant.other.name.cairn',
        ': punctuation.separator.key-value.cairn',
        '{ punctuation.section.block.begin.cairn',
        '] punctuation.section.list.end.cairn',
      ]),
    );
  });

  it.each([
    ['// a "b" {', '// a "b" { comment.line.double-slash.cairn'],
    ['# a', '# a comment.line.number-sign.cairn'],
    ['/* a\n b */ agent A {}', 'b comment.block.cairn'],
    ['agent "A" {}', 'A string.quoted.double.cairn'],
    ['profile A { d: "a\\n\\u00e9" }', '\\u00e9 constant.character.escape.cairn'],
    ['profile A { d: "a\\q" }', '\\q invalid.illegal.escape.cairn'],
    ['profile A { d: """a "quoted" {\n # none\n""" }', '# none string.quoted.triple.cairn'],
    ['agent A { "a b": 1 }', '"a b" string.quoted.double.key.cairn'],
    ['agent A { x: -1.5e-7 }', '-1.5e-7 constant.numeric.cairn'],
    ['agent A { x: 10weeks }', '10weeks invalid.illegal.number.cairn'],
    ['agnet A {}', 'agnet invalid.illegal.kind.cairn'],
    ['agent A { x: agent-2 }', 'agent-2 constant.other.name.cairn'],
    ['agent A { x: true_story }', 'true_story constant.other.name.cairn'],
    ['agent A { profile: P }', 'profile variable.other.property.cairn'],
  ])('DSL-1 reads %j', (source, token) => {
    expect(scopesOf(source)).toContain(token);
  });

  it('DSL-1 reads what the parser reads', async () => {
    const parser = await loadGrammar();
    for (const source of sources) {
      const { document } = runSteps(parseSource(parser, source, kindNames));
      // A quoted name is read as a text.
      const heads = document.definitions.flatMap(({ kind, name }) => [
        kind.value,
        ...(name && !name.quoted ? [name.value] : []),
      ]);
      const read = tokensOf(source).filter(({ scope }) => /^(storage|entity\.name)/.test(scope));
      expect(read.map(({ text }) => text)).toEqual(heads);
    }
  });
});
