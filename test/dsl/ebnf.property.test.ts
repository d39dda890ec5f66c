/** The EBNF of the guide describes what the parser takes: no more, no less. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { kindNames } from '#cairn/dsl/checks/kinds.js';
import { loadGrammar, parseSource } from '#cairn/dsl/syntax/parse.js';
import { runSteps } from '#cairn/kernel/index.js';
import { ROOT } from '../support/run.js';
import { anySource } from './sources/arbitrary.js';
import { isSource, readEbnf, SPECIALS, SYNTAX, sourcesOf, usedBy } from './sources/ebnf.js';

/** CAIRN_TEST_SEED=… repeats a run. */
const seed = Number(process.env.CAIRN_TEST_SEED ?? Math.trunc(Math.random() * 2 ** 31));

const guide = readFileSync(join(ROOT, 'docs/guides/dsl.md'), 'utf8');
const ebnf = readEbnf(/```ebnf\n(.*?)```/s.exec(guide)![1]!);
const grammar = await loadGrammar();

/** Without numbers that cannot be stored, which the guide mentions below the grammar. */
const mistakesOf = (source: string) =>
  runSteps(parseSource(grammar, source, kindNames)).mistakes.filter(
    ({ message }) => !/is too (?:large|long)|too many digits/.test(message),
  );
const isParsed = (source: string): boolean => mistakesOf(source).length === 0;

describe(`the EBNF of the guide, seed ${seed}`, () => {
  it('DSL-1 defines what it uses, and uses what it defines', () => {
    const [syntax, gap] = [usedBy(ebnf, 'source'), usedBy(ebnf, 'gap')];
    expect(new Set(ebnf.keys())).toEqual(new Set([...syntax.rules, ...gap.rules]));
    expect(Object.keys(SPECIALS).sort()).toEqual([...new Set([...syntax.specials, ...gap.specials])].sort());
    expect([...ebnf.keys()].slice(0, SYNTAX.length)).toEqual(SYNTAX);
  });

  it('DSL-1 makes sources that are parsed without syntax errors', () => {
    const property = fc.property(sourcesOf(ebnf), (source) => {
      expect(mistakesOf(source)).toEqual([]);
      expect(isSource(ebnf, source)).toBe(true);
    });
    fc.assert(property, { seed, numRuns: 400 });
  });

  it('DSL-1, DSL-2 takes a source if, and only if, the parser does', () => {
    const property = fc.property(anySource, (source) => {
      expect(isSource(ebnf, source)).toBe(isParsed(source));
    });
    fc.assert(property, { seed, numRuns: 1000 });
  });

  const body = (text: string): string => `agent A { ${text} }`;
  it.each<readonly [string, boolean]>([
    ['agent extends {}', false],
    ['agent extends extends {}', true],
    ['agent "extends" {}', true],
    ['extends {}', true],
    ['agent * extends * {}', true],
    ...['01', '-01', '1.', '.5', '1e', '1e+', '1_000', '+1', '0x1', '1.5h', '-5m', '5w', '- 1'].map(
      (number) => [body(`a: ${number}`), false] as const,
    ),
    ...['0', '-0', '-0.5', '1e3', '1.5E-7', '2e+1', '0s', '007d', '250ms'].map(
      (number) => [body(`a: ${number}`), true] as const,
    ),
    [body('a: 1b: 2'), false],
    [body('a: 1"b": 2'), true],
    [body('a: 1 b: 2'), true],
    [body('a: x y'), false],
    [body('a {} b: {} "c d" {}'), true],
    [body('a: [1 2]'), false],
    [body('a: [1, 2,]'), true],
    [body('a: [,]'), false],
    [body('a: [], b: [{}]'), true],
    [body('a: "\\q"'), false],
    [body('a: "\\u12"'), false],
    [body('a: "\\u00e9\\n\\/"'), true],
    [body('a: "\n"'), false],
    [body('a: """"x"" \n y"""'), true],
    [body('a: """x""""'), false],
    [body('a: """"""'), true],
    [body('a: """b": 1'), false],
    ['/*/', false],
    ['/**/', true],
    ['/* a /* b */ */', false],
    ['# a // b', true],
    ['#a\ragent A {}', true],
    ['\ufeffagent A {}', true],
    ['\0', false],
    ['agent é {}', false],
    ['agent "é" {}', true],
    ['agent A {};', false],
  ])('DSL-1 agrees with the parser on %j', (source, expected) => {
    expect({ ebnf: isSource(ebnf, source), parser: isParsed(source) }).toEqual({ ebnf: expected, parser: expected });
  });
});
