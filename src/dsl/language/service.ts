/** Use cases of sources: validate, parse and format. */
import type { In, Out } from '../../engine/contract.js';
import type { Call } from '../../engine/index.js';
import { CairnError, cooperativeYield, runWithYields, type Steps } from '../../kernel/index.js';
import { type Checked, checkDocument, type Declared } from '../checks/check.js';
import { kindNames } from '../checks/kinds.js';
import type { Definition, Mistake, Parsed, Position, Value } from '../syntax/ast.js';
import { formatDocument } from '../syntax/format.js';
import { loadGrammar, parseSource } from '../syntax/parse.js';
import type { ParsedSource, ShownField, ShownValue } from './model.js';

type Options = Pick<Call['options'], 'signal'>;

/** Sources up to this length are parsed at once, longer ones one after another: parsing takes much memory. */
const MAX_SHORT = 64 * 1024;
let lastLong: Promise<unknown> = Promise.resolve();

/** Runs all work on a source that holds its tokens or its tree. */
function inTurn<T>(source: string, work: () => Promise<T>): Promise<T> {
  if (source.length <= MAX_SHORT) return work();
  const done = lastLong.then(work);
  lastLong = done.catch(() => undefined);
  return done;
}

/** Long sources are parsed in steps, so that other requests are answered meanwhile. */
async function parseText(source: string, { signal }: Options = {}): Promise<Parsed> {
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

const formatText = (source: string, { document }: Parsed, { signal }: Options = {}): Promise<string> =>
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

type ShownTree = NonNullable<ParsedSource['ast']>;

/** In steps of a definition: a source may have hundreds of thousands of values. */
function* shownTree({ document: { definitions, comments } }: Parsed): Steps<ShownTree> {
  const shown: ShownTree['definitions'] = [];
  for (const one of definitions) {
    shown.push({
      kind: one.kind.value,
      name: one.name?.value ?? null,
      extends: one.base?.value ?? null,
      fields: fieldsOf(one.body.fields),
      ...at(one),
    });
    yield;
  }
  return { definitions: shown, comments: comments.map(({ text, ...where }) => ({ text, ...at(where) })) };
}

const shown = async (
  parsed: Parsed,
  mistakes: readonly Mistake[],
  { signal }: Options = {},
): Promise<ParsedSource> => ({
  valid: mistakes.length === 0,
  errors: mistakes.map(({ expected, ...one }) => ({ ...one, ...(expected ? { expected: [...expected] } : {}) })),
  ast: parsed.mistakes.length === 0 ? await runWithYields(shownTree(parsed), cooperativeYield(signal)) : null,
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

export const validate = ({ options }: Call, { source }: In<'dsl.validate'>): Promise<ParsedSource> =>
  inTurn(source, async () => {
    const read = await checkText(source, options);
    return shown(read.parsed, mistakesOf(read), options);
  });

export const parse = ({ options }: Call, { source }: In<'dsl.parse'>): Promise<ParsedSource> =>
  inTurn(source, async () => {
    const parsed = await parseText(source, options);
    return shown(parsed, parsed.mistakes, options);
  });

/** Refuses a source with mistakes. */
function refuse(mistakes: readonly Mistake[]): void {
  const [first] = mistakes;
  if (!first) return;
  const more = mistakes.length === 1 ? '' : ` (and ${mistakes.length - 1} more)`;
  throw new CairnError('INVALID_SOURCE', `line ${first.line}, column ${first.column}: ${first.message}${more}`, {
    errors: mistakes,
  });
}

export const format = ({ options }: Call, { source }: In<'dsl.format'>): Promise<Out<'dsl.format'>> =>
  inTurn(source, async () => {
    const parsed = await parseText(source, options);
    refuse(parsed.mistakes);
    const formatted = await formatText(source, parsed, options);
    return { source: formatted, changed: formatted !== source };
  });

/** What a source declares; refuses one with mistakes. */
export const declaredBy = ({ options }: Call, source: string): Promise<readonly Declared[]> =>
  inTurn(source, async () => {
    const read = await checkText(source, options);
    refuse(mistakesOf(read));
    return read.checked.declared;
  });
