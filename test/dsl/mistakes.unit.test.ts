/** Typical mistakes, and every error that they are answered with: position, code, whole message, what fits and what to write. */
import { describe, expect, it } from 'vitest';
import { mistake } from '#cairn/dsl/language/model.js';
import { checkText, mistakesOf } from '#cairn/dsl/language/service.js';
import { definitions } from './mistakes/definitions.js';
import type { MistakeCase } from './mistakes/model.js';
import { syntax } from './mistakes/syntax.js';
import { values } from './mistakes/values.js';

const errorsOf = async (source: string) => mistakesOf(await checkText(source));

const tables: readonly (readonly [string, readonly MistakeCase[]])[] = [
  ['syntax', syntax],
  ['values', values],
  ['definitions', definitions],
];

describe.each(tables)('mistakes of %s', (_, cases) => {
  it.each(cases)('DSL-2, DSL-3 $title', async ({ source, errors }) => {
    expect(await errorsOf(source)).toEqual(errors);
    expect(mistake.array().parse(errors)).toEqual(errors);
  });
});

describe('the tables of mistakes', () => {
  const all = tables.flatMap(([, cases]) => cases);
  const errors = all.flatMap((one) => one.errors);

  it('DSL-3 have every code', () => {
    expect(new Set(errors.map(({ code }) => code))).toEqual(new Set(mistake.shape.code.options));
    expect(new Set(all.map(({ source }) => source)).size).toBe(all.length);
  });

  it('DSL-2 have suggestions that remove the mistake where they stand', async () => {
    const fixable = all.filter((one) => one.errors.length === 1 && replacesWhole(one));
    expect(fixable.length).toBeGreaterThan(25);
    for (const { title, source, errors } of fixable) {
      const [{ line, column, code, suggestion }] = errors as [(typeof errors)[number]];
      const lines = source.split('\n');
      const before = lines[line - 1]!;
      const from = column - 1 + (line === 1 && source.startsWith('\ufeff') ? 1 : 0);
      const rest = before.slice(from).replace(WRITTEN, '');
      lines[line - 1] = `${before.slice(0, from)}${suggestion}${rest}`;
      const left = (await errorsOf(lines.join('\n'))).filter((one) => one.line === line && one.code === code);
      expect({ title, left }).toEqual({ title, left: [] });
    }
  });
});

/** A quoted text, or what stands up to the next space or sign. */
const WRITTEN = /^"[^"]*"|^[^\s,:[\]{}"]+/;

/** Signs replace a character; other suggestions replace what is written there. */
const replacesWhole = ({ errors: [error], source }: MistakeCase): boolean =>
  error!.suggestion !== undefined && /\w/.test(error!.suggestion) && !source.includes('\r');
