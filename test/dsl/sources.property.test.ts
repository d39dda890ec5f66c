/**
 * Sources made by the grammar, mutations of them, and random characters: every one is answered, with errors that lie inside of
 * it, and formatting keeps what it means.
 */
import fc from 'fast-check';
import { afterAll, describe, expect, it } from 'vitest';
import { checkDocument } from '#cairn/dsl/checks/check.js';
import { kindNames } from '#cairn/dsl/checks/kinds.js';
import { mistakesOf } from '#cairn/dsl/language/service.js';
import { MAX_MISTAKES, type Parsed, type Position } from '#cairn/dsl/syntax/ast.js';
import { formatDocument } from '#cairn/dsl/syntax/format.js';
import { loadGrammar, parseSource } from '#cairn/dsl/syntax/parse.js';
import { runSteps, type Steps } from '#cairn/kernel/index.js';
import { anySource, largeSource, mutatedSource, randomSource, validSource } from './sources/arbitrary.js';
import { hostileSources } from './sources/hostile.js';

/**
 * CAIRN_TEST_SEED=… repeats a run; CAIRN_TEST_SOURCES=100000 makes more sources, holds each to the limit of DSL-8 and
 * reports the slowest.
 */
const seed = Number(process.env.CAIRN_TEST_SEED ?? Math.trunc(Math.random() * 2 ** 31));
const count = Number(process.env.CAIRN_TEST_SOURCES ?? 5000);
const isLong = process.env.CAIRN_TEST_SOURCES !== undefined;
const timeout = isLong ? 3_600_000 : 120_000;
const share = (part: number) => ({ numRuns: Math.ceil(count * part), seed });

const grammar = await loadGrammar();

const parse = (source: string): Parsed => runSteps(parseSource(grammar, source, kindNames));
const check = (parsed: Parsed) => runSteps(checkDocument(parsed.document, parsed.mistakes.length === 0));
const format = ({ document }: Parsed, source: string): string => runSteps(formatDocument(document, source));

/** For any source of up to 64 KB (DSL-8). Beside other tests, what is far slower fails alone. */
const MAX_MS = isLong ? 100 : 500;
/** A canonical form may be longer than its source. */
const maxMs = (source: string): number => MAX_MS * Math.max(1, source.length / 65_536);
/** A busy machine is no mistake: the fastest of several attempts counts, and time without a processor does not. */
const ATTEMPTS = 20;

function stopwatch(): () => number {
  const [wall, cpu] = [performance.now(), process.cpuUsage()];
  return () => {
    const { user, system } = process.cpuUsage(cpu);
    return Math.min(performance.now() - wall, (user + system) / 1000);
  };
}

/** The slowest source: by the time to parse and check it, or to parse and format it. */
const slowest = { ms: 0, what: '', length: 0, begin: '' };
let answered = 0;
let formatted = 0;

/** Does the work again if it was slow, and fails if it always is. */
function timed<T>(what: string, source: string, work: () => T): T {
  for (let ms = Number.POSITIVE_INFINITY, attempts = 1; ; attempts++) {
    const elapsed = stopwatch();
    const value = work();
    ms = Math.min(ms, elapsed());
    if (ms > maxMs(source) && attempts < ATTEMPTS) continue;
    expect(ms, `ms to ${what} ${source.slice(0, 80)}`).toBeLessThanOrEqual(maxMs(source));
    if (ms > slowest.ms) Object.assign(slowest, { ms, what, length: source.length, begin: source.slice(0, 80) });
    return value;
  }
}

function answer(source: string) {
  const { parsed, checked } = timed('check', source, () => {
    const parsed = parse(source);
    return { parsed, checked: check(parsed) };
  });
  answered++;
  return { parsed, errors: mistakesOf({ parsed, checked }) };
}

/** The canonical form of a source without syntax errors. */
function canonicalOf(source: string): string {
  formatted++;
  return timed('format', source, () => format(parse(source), source));
}

/** The lengths of lines, with one column behind the last character. A byte order mark takes none. */
const lengthsOf = (source: string): number[] =>
  source
    .replace(/^\ufeff/, '')
    .split(/\r\n|\r|\n/)
    .map((line) => line.length + 1);

function expectInside(errors: readonly Position[], source: string): void {
  const lengths = lengthsOf(source);
  const outside = errors.filter(
    ({ line, column }) => !(line >= 1 && column >= 1 && column <= (lengths[line - 1] ?? 0)),
  );
  expect(outside).toEqual([]);
}

const isOrdered = (errors: readonly Position[]): boolean =>
  errors.every(({ line, column }, i) => {
    const before = errors[i - 1];
    return !before || before.line < line || (before.line === line && before.column <= column);
  });

/** Without positions. */
const PLACES = new Set(['line', 'column', 'start', 'end', 'quoted']);
const meaningOf = (value: unknown): unknown =>
  JSON.parse(JSON.stringify(value, (key, inner) => (PLACES.has(key) && typeof inner !== 'object' ? undefined : inner)));

const commentsOf = ({ document }: Parsed): string[] => document.comments.map(({ text }) => text);
/** Lines in messages are positions, too. */
const messagesOf = (errors: readonly { readonly code: string; readonly message: string }[]): string[] =>
  errors.map(({ code, message }) => `${code} ${message.replace(/ on line \d+/g, '')}`).sort();

function expectAnswered(source: string): void {
  const { parsed, errors } = answer(source);
  expect(errors.length).toBeLessThanOrEqual(MAX_MISTAKES);
  expectInside([...errors, ...parsed.document.comments], source);
  expect(isOrdered(errors)).toBe(true);
  expect(errors.filter(({ message }) => !/^\S.{5,}\S$/s.test(message))).toEqual([]);
  if (parsed.mistakes.length > 0) return;
  const canonical = canonicalOf(source);
  const again = answer(canonical);
  expect(again.parsed.mistakes).toEqual([]);
  expect(meaningOf(again.parsed.document.definitions)).toEqual(meaningOf(parsed.document.definitions));
  expect(commentsOf(again.parsed)).toEqual(commentsOf(parsed));
  expect(canonicalOf(canonical)).toBe(canonical);
  // With more mistakes than are reported, the first ones by position are, which formatting may change.
  if (errors.length < MAX_MISTAKES) expect(messagesOf(again.errors)).toEqual(messagesOf(errors));
}

/** Parses and checks step by step, and counts the steps. */
function stepsOf<T>(steps: Steps<T>): { readonly count: number; readonly value: T } {
  for (let count = 0; ; count++) {
    const next = steps.next();
    if (next.done) return { count, value: next.value };
  }
}

describe(`random sources, seed ${seed}`, () => {
  afterAll(() => {
    if (isLong)
      console.log(
        `${answered} sources checked, ${formatted} formatted; slowest ${slowest.ms.toFixed(1)} ms to ${slowest.what} ` +
          `${slowest.length} characters: ${JSON.stringify(slowest.begin)}`,
      );
  });

  it(
    'DSL-1, DSL-9 that the grammar makes are parsed, and formatting keeps them',
    () => {
      const property = fc.property(validSource, (source) => {
        expect(parse(source).mistakes).toEqual([]);
        expectAnswered(source);
      });
      fc.assert(property, share(0.3));
    },
    timeout,
  );

  it(
    'DSL-2, DSL-8, DSL-9 that are mutations of others are answered',
    () => fc.assert(fc.property(mutatedSource, expectAnswered), share(0.5)),
    timeout,
  );

  it(
    'DSL-2, DSL-8 of random characters are answered',
    () => fc.assert(fc.property(randomSource, expectAnswered), share(0.2)),
    timeout,
  );

  it(
    'DSL-2, DSL-8, DSL-9 of 64 KB, made of many of them, are answered',
    () => fc.assert(fc.property(largeSource, expectAnswered), share(0.004)),
    timeout,
  );

  it('DSL-8 are read in steps: one for 500 tokens, each definition and each undefined reference', () => {
    const property = fc.property(anySource, fc.nat({ max: 3000 }), (source, comments) => {
      const { count, value } = stepsOf(parseSource(grammar, `${source}\n${'#\n'.repeat(comments)}`, kindNames));
      expect(count).toBeGreaterThanOrEqual(
        value.document.definitions.length + Math.floor(value.document.comments.length / 500),
      );
      const checks = stepsOf(checkDocument(value.document, true)).count;
      expect(checks).toBeLessThanOrEqual(value.document.definitions.length + MAX_MISTAKES);
    });
    fc.assert(property, { numRuns: 100, seed });
  });
});

describe('hostile sources of 64 KB', () => {
  const times: string[] = [];
  afterAll(() => {
    if (isLong) console.log(times.sort((a, b) => Number.parseFloat(b) - Number.parseFloat(a)).join('\n'));
  });

  it.each(Object.entries(hostileSources))('DSL-8 %s', (name, source) => {
    expect(source.length).toBeLessThanOrEqual(65_536);
    slowest.ms = 0;
    expectAnswered(source);
    times.push(`${slowest.ms.toFixed(1)} ms to ${slowest.what} ${name}`);
  });
});
