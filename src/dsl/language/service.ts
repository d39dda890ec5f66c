/** Use cases of sources: validate, parse and format. */
import type { In, Out } from '../../engine/contract.js';
import type { Call } from '../../engine/index.js';
import { CairnError, cooperativeYield, runWithYields } from '../../kernel/index.js';
import { type Checked, checkDocument, type Declared } from '../checks/check.js';
import { kindNames } from '../checks/kinds.js';
import type { Definition, Mistake, Parsed, Position, Value } from '../syntax/ast.js';
import { formatDocument } from '../syntax/format.js';
import { loadGrammar, parseSource } from '../syntax/parse.js';
import type { ParsedSource, ShownField, ShownValue } from './model.js';

type Options = Pick<Call['options'], 'signal'>;

/** Long sources are parsed in steps, so that other requests are answered meanwhile. */
export async function parseText(source: string, { signal }: Options = {}): Promise<Parsed> {
  const grammar = await loadGrammar();
  return runWithYields(parseSource(grammar, source, kindNames), cooperativeYield(signal));
}

/** With syntax errors, only definitions without one are checked, and no references. */
export async function checkText(source: string, options: Options = {}): Promise<{ parsed: Parsed; checked: Checked }> {
  const parsed = await parseText(source, options);
  const complete = parsed.mistakes.length === 0;
  const checked = await runWithYields(checkDocument(parsed.document, complete), cooperativeYield(options.signal));
  return { parsed, checked };
}

export const formatText = (source: string, { document }: Parsed, { signal }: Options = {}): Promise<string> =>
  runWithYields(formatDocument(document, source), cooperativeYield(signal));

const at = ({ line, column }: Position): Position => ({ line, column });

function shownValue(value: Value): ShownValue {
  const { start: _start, end: _end, ...rest } = value;
  if (rest.type === 'list') return { ...rest, items: rest.items.map(shownValue) };
  if (rest.type === 'object') return { ...rest, fields: fieldsOf(rest.fields) };
  return rest;
}

const fieldsOf = (fields: Definition['body']['fields']): ShownField[] =>
  fields.map(({ key, value }) => ({ name: key.value, value: shownValue(value), ...at(key) }));

const shownTree = ({ document: { definitions, comments } }: Parsed): NonNullable<ParsedSource['ast']> => ({
  definitions: definitions.map((one) => ({
    kind: one.kind.value,
    name: one.name?.value ?? null,
    extends: one.base?.value ?? null,
    fields: fieldsOf(one.body.fields),
    ...at(one),
  })),
  comments: comments.map(({ text, ...where }) => ({ text, ...at(where) })),
});

const shown = (parsed: Parsed, mistakes: readonly Mistake[]): ParsedSource => ({
  valid: mistakes.length === 0,
  errors: mistakes.map(({ expected, ...one }) => ({ ...one, ...(expected ? { expected: [...expected] } : {}) })),
  ast: parsed.mistakes.length === 0 ? shownTree(parsed) : null,
});

const byPosition = (a: Position, b: Position): number => a.line - b.line || a.column - b.column;

export const mistakesOf = ({ parsed, checked }: { parsed: Parsed; checked: Checked }): Mistake[] =>
  [...parsed.mistakes, ...checked.mistakes].sort(byPosition).slice(0, 100);

/** The mistakes of a source, and how many definitions it has: `validate` without a store. */
export async function examineSource(source: string): Promise<{ mistakes: readonly Mistake[]; definitions: number }> {
  const read = await checkText(source);
  return { mistakes: mistakesOf(read), definitions: read.parsed.document.definitions.length };
}

/** The canonical form of a source: `format` without a store. */
export async function formatSource(source: string): Promise<{ mistakes: readonly Mistake[]; formatted: string }> {
  const parsed = await parseText(source);
  return {
    mistakes: parsed.mistakes,
    formatted: parsed.mistakes.length > 0 ? source : await formatText(source, parsed),
  };
}

export async function validate(call: Call, { source }: In<'dsl.validate'>): Promise<ParsedSource> {
  const read = await checkText(source, call.options);
  return shown(read.parsed, mistakesOf(read));
}

export async function parse(call: Call, { source }: In<'dsl.parse'>): Promise<ParsedSource> {
  const parsed = await parseText(source, call.options);
  return shown(parsed, parsed.mistakes);
}

/** Refuses a source with mistakes. */
export function refuse(mistakes: readonly Mistake[]): void {
  const [first] = mistakes;
  if (!first) return;
  const more = mistakes.length === 1 ? '' : ` (and ${mistakes.length - 1} more)`;
  throw new CairnError('INVALID_SOURCE', `line ${first.line}, column ${first.column}: ${first.message}${more}`, {
    errors: mistakes,
  });
}

export async function format(call: Call, { source }: In<'dsl.format'>): Promise<Out<'dsl.format'>> {
  const parsed = await parseText(source, call.options);
  refuse(parsed.mistakes);
  const formatted = await formatText(source, parsed, call.options);
  return { source: formatted, changed: formatted !== source };
}

/** What a source declares; refuses one with mistakes. */
export async function declaredBy(call: Call, source: string): Promise<readonly Declared[]> {
  const read = await checkText(source, call.options);
  refuse(mistakesOf(read));
  return read.checked.declared;
}
