/** Checks a document: kinds, names, fields, values, references and cycles. */
import type { JsonObject } from '../../kernel/contract.js';
import { CairnError, type Steps, withCommas, wordedIssues } from '../../kernel/index.js';
import {
  type Definition,
  type Document,
  type Field,
  MAX_INHERITED,
  MAX_MISTAKES,
  type Mistake,
  type Position,
  type Value,
} from '../syntax/ast.js';
import { alternatives } from './forms.js';
import { KIND_NAMES, type KindName } from './kind-names.js';
import { isKind, kinds, type Target, toInput } from './kinds.js';
import { NameSuggestions, nearest } from './suggestions.js';
import { inPlace, type Located, partAt, type Reference, ValueReader } from './values.js';

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

/** More names of a cycle are not listed. */
const MAX_NAMES = 20;

/** Definitions by kind and name; duplicates, unknown kinds and wrong names are mistakes. */
class Index {
  readonly byKey = new Map<string, Definition>();
  readonly mistakes: Mistake[] = [];
  readonly #fields = new Map<Definition, Fields | undefined>();
  readonly #names = new Map<string, readonly string[]>();
  readonly suggestions = new NameSuggestions();

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
  fieldsOf(definition: Definition): Fields | undefined {
    const chain = new Set<Definition>();
    let one = definition;
    while (!this.#fields.has(one)) {
      chain.add(one);
      const { base }: Definition = one;
      if (!base) break;
      const next = this.byKey.get(keyOf(definition.kind.value, base.value));
      if (next && !chain.has(next)) one = next;
      else {
        if (next) this.#cycle([...chain], next);
        else this.#undefinedBase(one);
        this.#fields.set(one, undefined);
      }
    }
    // From the last base, which is known or has none, back to the definition.
    const isBroken = this.#fields.has(one) && !this.#fields.get(one);
    let fields = this.#fields.get(one);
    for (const each of [...chain].reverse()) {
      if (!isBroken) fields = mergedFields(each, fields);
      this.#fields.set(each, fields);
    }
    return fields;
  }

  #undefinedBase({ kind, name, base }: Definition): void {
    const found = this.suggestions.nearest(base!.value, this.#namesOf(kind.value));
    // A definition cannot extend itself.
    const suggestion = found === name!.value ? undefined : found;
    this.#mistake(
      'undefined_reference',
      base!,
      `${titleOf(kind.value, base!.value)} is not defined in this source${hint(suggestion, ': define it, or remove `extends`')}`,
      suggestion === undefined ? {} : { suggestion },
    );
  }

  #namesOf(kind: string): readonly string[] {
    let names = this.#names.get(kind);
    if (!names) {
      const same = [...this.byKey.values()].filter((one) => one.kind.value === kind);
      names = same.map(({ name }) => name!.value);
      this.#names.set(kind, names);
    }
    return names;
  }

  /** Reported for the definition that comes first in the cycle, which begins with `begin`. */
  #cycle(chain: readonly Definition[], begin: Definition): void {
    const cycle = chain.slice(chain.indexOf(begin));
    const first = cycle.reduce((a, b) => (a.start < b.start ? a : b));
    const at = cycle.indexOf(first);
    const names = [...cycle.slice(at), ...cycle.slice(0, at), first].map(({ name }) => name!.value);
    this.#mistake('circular_dependency', first.base!, `circular dependency: ${shortened(names).join(' extends ')}`);
  }
}

/** A long cycle is named by its ends. */
const shortened = (names: readonly string[]): readonly string[] =>
  names.length <= MAX_NAMES ? names : [...names.slice(0, MAX_NAMES - 2), '…', ...names.slice(-1)];

/** Fields by their name; several if one is there twice. */
type Fields = ReadonlyMap<string, readonly Field[]>;

/** Own fields replace whole fields of the base. */
function mergedFields({ body }: Definition, inherited: Fields | undefined): Fields {
  if (body.fields.length === 0 && inherited) return inherited;
  const fields = new Map<string, Field[]>();
  for (const field of body.fields) {
    const same = fields.get(field.key.value);
    if (same) same.push(field);
    else fields.set(field.key.value, [field]);
  }
  return inherited ? new Map([...inherited, ...fields]) : fields;
}

/** Counts the values that definitions take over: each is read again, and stored again. */
class InheritedValues {
  readonly #sizes = new Map<Field, number>();
  #count = 0;

  exceed({ body }: Definition, fields: readonly Field[]): boolean {
    const own = new Set(body.fields);
    for (const field of fields) if (!own.has(field)) this.#count += this.#sizeOf(field);
    return this.#count > MAX_INHERITED;
  }

  mistake({ base, kind }: Definition): Mistake {
    const message = `definitions take over at most ${withCommas(MAX_INHERITED)} values by \`extends\` in all: extend smaller ones`;
    return { code: 'limit', message, ...inPlace(base ?? kind) };
  }

  #sizeOf(field: Field): number {
    const known = this.#sizes.get(field);
    const size = known ?? valuesOf(field.value);
    if (known === undefined) this.#sizes.set(field, size);
    return size;
  }
}

/** Brackets nest at most 72 levels. */
function valuesOf(value: Value): number {
  if (value.type === 'list') return value.items.reduce((sum, item) => sum + valuesOf(item), 1);
  if (value.type === 'object') return value.fields.reduce((sum, field) => sum + valuesOf(field.value), 1);
  return 1;
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

type Known = Readonly<Record<Target, Set<string>>>;

/** What bare names may refer to. */
function targetsOf(definitions: Iterable<Definition>): Known {
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
  known: Known,
  suggestions: NameSuggestions,
): Mistake | undefined {
  if (targets.some((target) => known[target].has(name))) return undefined;
  const suggestion = suggestions.nearest(
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

/** The first by position. */
function* undefinedReferences(
  references: readonly Reference[],
  known: Known,
  suggestions: NameSuggestions,
): Steps<readonly Mistake[]> {
  const mistakes: Mistake[] = [];
  for (const reference of [...references].sort(byPosition)) {
    const mistake = undefinedReference(reference, known, suggestions);
    if (!mistake) continue;
    yield;
    if (mistakes.push(mistake) >= MAX_MISTAKES) break;
  }
  return mistakes;
}

const byPosition = (a: Position, b: Position): number => a.line - b.line || a.column - b.column;

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
  const inherited = new InheritedValues();
  for (const definition of index.byKey.values()) {
    yield;
    const byName = index.fieldsOf(definition);
    if (!byName) continue;
    const fields = [...byName.values()].flat();
    if (inherited.exceed(definition, fields)) {
      mistakes.push(inherited.mistake(definition));
      break;
    }
    const read = declare(definition, fields);
    mistakes.push(...read.mistakes);
    references.push(...read.references);
    if (read.declared) declared.push(read.declared);
    if (mistakes.length >= MAX_MISTAKES) break;
  }
  if (complete) {
    const known = targetsOf(index.byKey.values());
    mistakes.push(...(yield* undefinedReferences(references, known, index.suggestions)));
  }
  const all = [...index.mistakes, ...mistakes].filter(({ code }) => complete || code !== 'undefined_reference');
  return { declared, mistakes: distinct(all) };
}
