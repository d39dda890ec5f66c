/** Checks a document: kinds, names, fields, values, references and cycles. */
import type { JsonObject } from '../../kernel/contract.js';
import { CairnError, type Steps, wordedIssues } from '../../kernel/index.js';
import {
  type Definition,
  type Document,
  type Field,
  MAX_MISTAKES,
  type Mistake,
  type Position,
} from '../syntax/ast.js';
import { isKind, KIND_NAMES, type KindName, kinds, type Target, toInput } from './kinds.js';
import { nearest } from './suggestions.js';
import { alternatives, inPlace, type Located, partAt, type Reference, ValueReader } from './values.js';

/** A definition as the operation of its kind takes it. */
export interface Declared {
  readonly kind: KindName;
  /** Empty for settings. */
  readonly name: string;
  readonly input: JsonObject;
}

export interface Checked {
  readonly declared: readonly Declared[];
  readonly mistakes: readonly Mistake[];
}

const titleOf = (kind: string, name: string): string => (name === '' ? kind : `${kind} \`${name}\``);
const keyOf = (kind: string, name: string): string => `${kind} ${name}`;

/** Definitions by kind and name; duplicates, unknown kinds and wrong names are mistakes. */
class Index {
  readonly byKey = new Map<string, Definition>();
  readonly mistakes: Mistake[] = [];

  add(definition: Definition): void {
    const { kind, name } = definition;
    if (!isKind(kind.value)) this.#unknownKind(definition);
    if (!isKind(kind.value) || !this.#hasName(definition, kind.value)) return;
    const key = keyOf(kind.value, name?.value ?? '');
    const before = this.byKey.get(key);
    if (!before) this.byKey.set(key, definition);
    else
      this.#mistake(
        'duplicate',
        name ?? kind,
        name
          ? `${titleOf(kind.value, name.value)} is already defined on line ${before.line}: rename or remove one`
          : `${kind.value} are already defined on line ${before.line}: write all fields there`,
      );
  }

  #mistake(code: Mistake['code'], at: Position, message: string, more: Partial<Mistake> = {}): void {
    this.mistakes.push({ code, message, ...more, ...inPlace(at) });
  }

  #unknownKind({ kind }: Definition): void {
    const suggestion = nearest(kind.value, KIND_NAMES);
    this.#mistake(
      'unknown_kind',
      kind,
      `unknown kind \`${kind.value}\`${hint(suggestion, `: use ${alternatives(KIND_NAMES)}`)}`,
      { expected: KIND_NAMES, ...(suggestion === undefined ? {} : { suggestion }) },
    );
  }

  #hasName({ kind, name, base }: Definition, word: KindName): boolean {
    const schema = kinds[word].name;
    if (!schema) {
      if (name) this.#mistake('invalid_value', name, `${word} have no name: write \`${word} { … }\``);
      else if (base)
        this.#mistake('invalid_value', base, `${word} cannot extend another definition: remove \`extends\``);
      return !name && !base;
    }
    if (!name) {
      this.#mistake('missing_field', kind, `the name is missing: write \`${word} Name { … }\``);
      return false;
    }
    const { error } = schema.safeParse(name.value);
    if (error) this.#mistake('invalid_value', name, `the name of ${article(word)} ${wordedIssues(error)[0]!.words}`);
    return !error;
  }

  /** The fields of a definition, those of its bases included; undefined if its bases do not exist or form a cycle. */
  fieldsOf(definition: Definition): readonly Field[] | undefined {
    const fields = new Map<string, readonly Field[]>();
    const seen = new Set<Definition>();
    for (let one: Definition | undefined = definition; one; ) {
      seen.add(one);
      const own = new Map<string, Field[]>();
      for (const field of one.body.fields) own.set(field.key.value, [...(own.get(field.key.value) ?? []), field]);
      for (const [name, given] of own) if (!fields.has(name)) fields.set(name, given);
      const { base }: Definition = one;
      if (!base) break;
      const next = this.byKey.get(keyOf(definition.kind.value, base.value));
      if (!next) return this.#undefinedBase(one);
      if (seen.has(next)) return this.#cycle(definition, next);
      one = next;
    }
    return [...fields.values()].flat();
  }

  #undefinedBase({ kind, base }: Definition): undefined {
    const names = [...this.byKey.values()].filter((one) => one.kind.value === kind.value).map((one) => one.name!.value);
    const suggestion = nearest(base!.value, names);
    this.#mistake(
      'undefined_reference',
      base!,
      `${titleOf(kind.value, base!.value)} is not defined in this source${hint(suggestion, ': define it, or remove `extends`')}`,
      suggestion === undefined ? {} : { suggestion },
    );
  }

  /** Reported once, for the definition that comes first in the cycle. */
  #cycle(definition: Definition, begin: Definition): undefined {
    if (definition !== begin) return undefined;
    const names = [begin.name!.value];
    let first = begin;
    for (let one = begin; ; ) {
      one = this.byKey.get(keyOf(begin.kind.value, one.base!.value))!;
      names.push(one.name!.value);
      if (one.start < first.start) first = one;
      if (one === begin) break;
    }
    if (first === begin)
      this.#mistake('circular_dependency', begin.base!, `circular dependency: ${names.join(' extends ')}`);
  }
}

const article = (word: string): string => `${/^[aeiou]/.test(word) ? 'an' : 'a'} ${word}`;
const hint = (suggestion: string | undefined, otherwise: string): string =>
  suggestion === undefined ? otherwise : `: did you mean \`${suggestion}\`?`;

/** Reads one definition by the schema of its kind. */
function declare(definition: Definition, fields: readonly Field[]) {
  const kind = definition.kind.value as KindName;
  const name = definition.name?.value ?? '';
  const title = titleOf(kind, name);
  const reader = new ValueReader(kinds[kind], title);
  const at = definition.name ?? definition.kind;
  const located = reader.readDefinition(fields, at);
  const { mistakes, references } = reader;
  const fieldValues = reader.check(kinds[kind].fields, located);
  if (fieldValues === undefined || mistakes.length > 0) return { mistakes, references };
  const input = toInput(kind, fieldValues as JsonObject);
  const conflict = conflictOf(kind, name, input, located);
  return conflict ? { mistakes: [conflict], references } : { mistakes, references, declared: { kind, name, input } };
}

/** A refusal of the operation itself; the field that its message names gives the position. */
function conflictOf(kind: KindName, name: string, input: JsonObject, located: Located): Mistake | undefined {
  try {
    kinds[kind].check?.(name, input);
    return undefined;
  } catch (error) {
    if (!(error instanceof CairnError)) throw error;
    const path = /^`([^`]+)`/.exec(error.message)?.[1]?.split('.') ?? [];
    return { code: 'invalid_value', message: error.message, ...inPlace(partAt(located, path).at) };
  }
}

/** What bare names may refer to. */
function targetsOf(definitions: Iterable<Definition>): Record<Target, Set<string>> {
  const targets = { agent: new Set<string>(), profile: new Set<string>(), type: new Set<string>() };
  for (const { kind, name, body } of definitions) {
    if (kind.value !== 'agent' && kind.value !== 'profile') continue;
    targets[kind.value].add(name!.value);
    const type = body.fields.find(({ key }) => key.value === 'type')?.value;
    if (type?.type === 'name' || type?.type === 'text') targets.type.add(type.value);
  }
  return targets;
}

const NOUNS: Readonly<Record<Target, string>> = { agent: 'agent', profile: 'profile', type: 'type of an agent' };

function undefinedReference(
  { name, targets, ...at }: Reference,
  known: Record<Target, Set<string>>,
): Mistake | undefined {
  if (targets.some((target) => known[target].has(name))) return undefined;
  const suggestion = nearest(
    name,
    targets.flatMap((target) => [...known[target]]),
  );
  const nouns = targets
    .map((target) => NOUNS[target])
    .join(', ')
    .replace(/, ([^,]+)$/, ' or $1');
  const message = `no ${nouns} \`${name}\` is defined in this source${hint(suggestion, ': define it, or quote the name of one outside')}`;
  return { code: 'undefined_reference', message, ...(suggestion === undefined ? {} : { suggestion }), ...inPlace(at) };
}

const byPosition = (a: Mistake, b: Mistake): number => a.line - b.line || a.column - b.column;

/** Inherited fields are checked with every definition that has them; their mistakes are reported once. */
function distinct(mistakes: readonly Mistake[]): Mistake[] {
  const byText = new Map(mistakes.map((one) => [`${one.line}:${one.column} ${one.message}`, one]));
  return [...byText.values()].sort(byPosition).slice(0, MAX_MISTAKES);
}

/** `complete`: no definition was lost to a syntax error, so that a missing reference is a mistake. */
export function* checkDocument({ definitions }: Document, complete: boolean): Steps<Checked> {
  const index = new Index();
  for (const definition of definitions) index.add(definition);
  const mistakes: Mistake[] = [];
  const references: Reference[] = [];
  const declared: Declared[] = [];
  for (const definition of index.byKey.values()) {
    yield;
    const fields = index.fieldsOf(definition);
    if (!fields) continue;
    const read = declare(definition, fields);
    mistakes.push(...read.mistakes);
    references.push(...read.references);
    if (read.declared) declared.push(read.declared);
    if (mistakes.length >= MAX_MISTAKES) break;
  }
  const known = targetsOf(index.byKey.values());
  for (const reference of references) {
    const mistake = undefinedReference(reference, known);
    if (mistake) mistakes.push(mistake);
  }
  const all = [...index.mistakes, ...mistakes].filter(({ code }) => complete || code !== 'undefined_reference');
  return { declared, mistakes: distinct(all) };
}
