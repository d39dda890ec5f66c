/** Values of a definition as JSON, by the schema of its kind; each part keeps the position where it was written. */
import { z } from 'zod';
import { coreOf, readLeniently, TTL_NAMES, ttl } from '../../engine/contract.js';
import type { Json, JsonObject } from '../../kernel/contract.js';
import { setJsonMember, wordedIssues } from '../../kernel/index.js';
import { type Field, MAX_MISTAKES, type Mistake, type ObjectValue, type Position, type Value } from '../syntax/ast.js';
import { durationOf, milliseconds } from '../syntax/numbers.js';
import { quoteText } from '../syntax/strings.js';
import {
  type AnySchema,
  alternatives,
  CONSTANTS,
  defOf,
  FORMS,
  isDurationFor,
  isLongText,
  optionOf,
  rewritten,
  type Scalar,
  tagsOf,
  takes,
  wordsFor,
} from './forms.js';
import type { Kind, Target } from './kinds.js';
import { nearest } from './suggestions.js';

/** JSON with the positions of its parts. */
export interface Located {
  readonly json: Json;
  /** Set if it has mistakes that are already reported: the schema is not asked about it. */
  readonly reported?: true;
  readonly at: Position;
  readonly parts: ReadonlyMap<string, Located>;
}

export interface Reference extends Position {
  readonly name: string;
  readonly targets: readonly Target[];
  readonly field: string;
}

/** The part at a path, or the nearest one around it that was written or is reported. */
export function partAt(located: Located, path: readonly PropertyKey[]): Located {
  let found = located;
  for (const step of path) {
    const part = found.parts.get(String(step));
    if (!part) break;
    found = part;
    if (part.reported) break;
  }
  return found;
}

/** Whether something was written at this path. */
function hasPart(located: Located, path: readonly PropertyKey[]): boolean {
  let part: Located | undefined = located;
  for (const step of path) part = part?.parts.get(String(step));
  return part !== undefined;
}

export const inPlace = ({ line, column }: Position): Position => ({ line, column });

const NO_PARTS: ReadonlyMap<string, Located> = new Map();

/** Reads the values of one definition. */
export class ValueReader {
  readonly mistakes: Mistake[] = [];
  readonly references: Reference[] = [];
  readonly #kind: Kind;
  readonly #title: string;

  constructor(kind: Kind, title: string) {
    this.#kind = kind;
    this.#title = title;
  }

  readDefinition(fields: readonly Field[], at: Position): Located {
    return this.#object({ fields }, this.#kind.fields, '', at);
  }

  #mistake(code: Mistake['code'], at: Position, message: string, more: Partial<Mistake> = {}): void {
    if (!this.#isFull()) this.mistakes.push({ code, message, ...more, ...inPlace(at) });
  }

  #isFull(): boolean {
    return this.mistakes.length >= MAX_MISTAKES;
  }

  #read(value: Value, schema: AnySchema, path: string): Located {
    const core = coreOf(schema);
    const { type } = defOf(core);
    const leaf = (json: Json): Located => ({ json, at: inPlace(value), parts: NO_PARTS });
    if (this.#kind.durations.includes(path)) return this.#duration(value, core, path);
    if (type === 'union') return this.#union(value, core, path);
    if (type === 'unknown') return this.#json(value, core, path);
    switch (value.type) {
      case 'null':
        return z.safeParse(schema, undefined).success
          ? this.#refuse('type_mismatch', value, `\`${path}\` must not be null: leave it out`)
          : this.#wrong(core, path, value, 'null');
      case 'duration':
        return this.#wrong(core, path, value, 'a duration');
      case 'name':
        return this.#name(value, core, path);
      case 'list':
        return this.#list(value.items, core, path, value);
      case 'object':
        return this.#object(value, core, path, value);
      default:
        return this.#misfit(value, core, path) ?? leaf(value.value);
    }
  }

  /** A text, number or boolean of another type than the field, where it is clear what to write. */
  #misfit(value: Scalar, core: AnySchema, path: string): Located | undefined {
    const suggestion = rewritten(value, core);
    const found = value.type === 'boolean' ? `\`${value.value}\`` : FORMS[value.type];
    return suggestion === undefined ? undefined : this.#wrong(core, path, value, found, suggestion);
  }

  /** JSON of any form, or an object of any form. */
  #json(value: Value, core: AnySchema, path: string): Located {
    const takesBlocks = z.safeParse(core, {}).success && !z.safeParse(core, null).success;
    if (value.type === 'object' || !takesBlocks) return this.#free(value, path);
    return this.#refuse('type_mismatch', value, `\`${path}\` must be a block, not ${FORMS[value.type]}`);
  }

  /** Reports a mistake; the value counts as read. */
  #refuse(code: Mistake['code'], at: Position, message: string, more: Partial<Mistake> = {}): Located {
    this.#mistake(code, at, message, more);
    return { json: null, at: inPlace(at), parts: NO_PARTS, reported: true };
  }

  #duration(value: Value, core: AnySchema, path: string): Located {
    if (value.type === 'duration') return { json: milliseconds(value), at: inPlace(value), parts: NO_PARTS };
    const suggestion = value.type === 'number' ? `${value.value}ms` : value.type === 'text' ? value.value : '';
    return this.#refuse('type_mismatch', value, `\`${path}\` must be a duration, such as 60s`, {
      expected: ['a duration'],
      ...(isDurationFor(core, suggestion) ? { suggestion } : {}),
    });
  }

  #name({ value, ...at }: Value & { readonly type: 'name' }, core: AnySchema, path: string): Located {
    const { type } = defOf(core);
    const targets = this.#kind.references[path.replace(/\[\d+\]$/, '')];
    if (targets && value !== '*') this.references.push({ name: value, targets, field: path, ...inPlace(at) });
    if (type === 'enum' || type === 'literal' || (type === 'string' && !isLongText(core)))
      return { json: value, at: inPlace(at), parts: NO_PARTS };
    if (type === 'string') return this.#unquoted(value, at, path);
    const rule = type === 'array' ? ruleIn(core) : undefined;
    if (rule) return this.#scopeAlone(value, rule, at, path);
    return this.#wrong(core, path, at, `\`${value}\``, rewritten({ type: 'name', value }, core));
  }

  /** `read: all` where the rules of each type belong. */
  #scopeAlone(value: string, { scope }: Rule, at: Position, path: string): Located {
    const suggestion = wordsFor(coreOf(scope)).includes(value) ? `{ *: ${value} }` : undefined;
    const message = `\`${path}\` must be rules by type, such as ${suggestion ?? '{ Note: all }'}, not \`${value}\``;
    return this.#refuse('type_mismatch', at, message, suggestion === undefined ? {} : { suggestion });
  }

  #unquoted(value: string, at: Position, path: string): Located {
    const suggestion = quoteText(value);
    return this.#refuse('type_mismatch', at, `\`${path}\` must be a quoted text: write ${suggestion}`, { suggestion });
  }

  #unquotedJson(value: string, at: Position, path: string): Located {
    const suggestion = CONSTANTS[value.toLowerCase()];
    if (suggestion === undefined) return this.#unquoted(value, at, path);
    const message = `\`${path}\` must be ${suggestion} or a quoted text, not \`${value}\``;
    return this.#refuse('type_mismatch', at, message, { suggestion });
  }

  /** Any JSON. It has no parts: no schema looks into it. */
  #free(value: Value, path: string): Located {
    return { json: this.#freeJson(value, () => path), at: inPlace(value), parts: NO_PARTS };
  }

  /** Texts are quoted, or a slip such as `True` would become one. The path is needed for mistakes only. */
  #freeJson(value: Value, path: () => string): Json {
    switch (value.type) {
      case 'list':
        return value.items.map((item, i) => this.#freeJson(item, () => `${path()}[${i}]`));
      case 'object': {
        const json: JsonObject = {};
        for (const { key, value: inner } of this.#unique(value))
          setJsonMember(
            json,
            key.value,
            this.#freeJson(inner, () => `${path()}.${key.value}`),
          );
        return json;
      }
      case 'name':
        return this.#unquotedJson(value.value, value, path()).json;
      case 'duration': {
        const message = `\`${path()}\` must not be a duration: write a number or a quoted text`;
        return this.#refuse('type_mismatch', value, message).json;
      }
      default:
        return value.type === 'null' ? null : value.value;
    }
  }

  /** The alternative that takes values of this form. Its own schema says more than that of the union. */
  #union(value: Value, core: AnySchema, path: string): Located {
    const { options, discriminator } = defOf(core) as unknown as { options: AnySchema[]; discriminator?: string };
    if (core === ttl && value.type !== 'object') return this.#lifetime(value, path);
    if (discriminator !== undefined && value.type === 'object')
      return this.#tagged(value, options, discriminator, path);
    const form = value.type === 'object' || value.type === 'list' ? value.type : 'scalar';
    const option = optionOf(options, form);
    const fits = value.type === 'null' ? z.safeParse(option, null).success : takes(option, form);
    if (fits) return this.#checked(value, option, path);
    const forms = alternatives(options.flatMap((one) => wordsFor(coreOf(one))));
    return this.#refuse('type_mismatch', value, `\`${path}\` must be ${forms}, not ${FORMS[value.type]}`);
  }

  /** Reads a value and checks it by its own schema. */
  #checked(value: Value, schema: AnySchema, path: string): Located {
    const before = this.mistakes.length;
    const located = this.#read(value, schema, path);
    this.check(schema as z.ZodType, located, path);
    return this.mistakes.length === before ? located : { ...located, reported: true };
  }

  #tagged(value: ObjectValue, options: readonly AnySchema[], tag: string, path: string): Located {
    const given = value.fields.find(({ key }) => key.value === tag)?.value;
    const named = given && 'value' in given ? String(given.value) : undefined;
    const option = options.find((one) => tagsOf(one, tag).some((each) => each.toLowerCase() === named?.toLowerCase()));
    if (option) return this.#checked(value, option, path);
    const tags = options.flatMap((one) => tagsOf(one, tag));
    const suggestion = named === undefined ? undefined : nearest(named, tags);
    const [code, at] = given ? (['invalid_value', given] as const) : (['missing_field', value] as const);
    return this.#refuse(
      code,
      at,
      `\`${path}.${tag}\` ${given ? '' : 'is required and '}must be ${alternatives(tags)}`,
      { expected: tags, ...(suggestion === undefined ? {} : { suggestion }) },
    );
  }

  /** The message of the schema names forms of JSON. */
  #lifetime(value: Value, path: string): Located {
    const at = inPlace(value);
    if (value.type === 'duration') {
      const json = { Duration: milliseconds(value) };
      const { error } = ttl.safeParse(json);
      if (!error) return { json, at, parts: NO_PARTS };
      return this.#refuse('invalid_value', value, `\`${path}\` ${inUnits(wordedIssues(error)[0]!.words)}`);
    }
    const given = value.type === 'name' || value.type === 'text' ? value.value : undefined;
    if (given !== undefined && ttl.safeParse(given).success) return { json: given, at, parts: NO_PARTS };
    const suggestion = given === undefined ? undefined : nearest(given, TTL_NAMES);
    const forms = alternatives([...TTL_NAMES, 'a duration such as 7d']);
    return this.#refuse('invalid_value', value, `\`${path}\` must be ${forms}`, {
      expected: [...TTL_NAMES, 'a duration'],
      ...(suggestion === undefined ? {} : { suggestion }),
    });
  }

  /** Checks what was read by a schema; undefined if there are mistakes. */
  check<T>(schema: z.ZodType<T>, located: Located, path = ''): T | undefined {
    const parsed = z.safeParse(schema, readLeniently(schema, located.json));
    if (parsed.success) return parsed.data;
    for (const { path: inner, code, words, values } of wordedIssues(parsed.error)) {
      const part = partAt(located, inner);
      const field = pathText(path, inner);
      // An enumeration reports an absent value as a wrong one.
      const isMissing = code === 'missing' || (values.length > 0 && !hasPart(located, inner));
      if (part.reported || (isMissing && this.#isMisspelled(field))) continue;
      const suggestion = typeof part.json === 'string' ? nearest(part.json, values) : undefined;
      const subject = isMissing && field === String(inner[0]) ? `\`${field}\` of ${this.#title}` : `\`${field}\``;
      const limit = this.#kind.durations.includes(field)
        ? inUnits(words)
        : words.replace(/^must be an object/, 'must be a block');
      const rule = values.length > 0 ? `must be ${alternatives(values)}` : limit;
      this.#mistake(
        isMissing ? 'missing_field' : (CODES[code] ?? 'invalid_value'),
        part.at,
        `${subject} ${isMissing && values.length > 0 ? `is required and ${rule}` : rule}`,
        { ...(values.length > 0 ? { expected: values } : {}), ...(suggestion === undefined ? {} : { suggestion }) },
      );
    }
    return undefined;
  }

  /** A field that is there under an unknown name is not missing. */
  #isMisspelled(field: string): boolean {
    return this.mistakes.some(({ code, suggestion }) => code === 'unknown_field' && field.endsWith(suggestion ?? '\0'));
  }

  #list(items: readonly Value[], core: AnySchema, path: string, at: Position): Located {
    const parts = new Map<string, Located>();
    const { type, element } = defOf(core) as unknown as { type: string; element?: AnySchema };
    if (type !== 'array' || !element) return this.#wrong(core, path, at, 'a list');
    for (const [i, item] of items.entries()) parts.set(String(i), this.#read(item, element, `${path}[${i}]`));
    return { json: [...parts.values()].map(({ json }) => json), at: inPlace(at), parts };
  }

  #wrong(core: AnySchema, path: string, at: Position, found: string, suggestion?: string): Located {
    const fix = suggestion === undefined ? '' : `: write ${suggestion}`;
    return this.#refuse(
      'type_mismatch',
      at,
      `\`${path}\` must be ${alternatives(wordsFor(core))}, not ${found}${fix}`,
      { ...(suggestion === undefined ? {} : { suggestion }) },
    );
  }

  #object(value: Pick<ObjectValue, 'fields'>, core: AnySchema, path: string, at: Position): Located {
    const def = defOf(core);
    if (def.type === 'array' && ruleIn(core)) return this.#rules(value, core, path, at);
    if (def.type !== 'object' && def.type !== 'record') return this.#wrong(core, path, at, 'a block');
    const shape = def.type === 'object' ? (def.shape as Record<string, AnySchema>) : undefined;
    const parts = new Map<string, Located>();
    const json: JsonObject = {};
    for (const { key, value: inner } of this.#unique(value)) {
      const name = key.value;
      const member = shape ? (Object.hasOwn(shape, name) ? shape[name] : undefined) : (def.valueType as AnySchema);
      if (!member) {
        this.#unknownField(key.value, key, path, shape!);
        continue;
      }
      const part = this.#read(inner, member, path === '' ? name : `${path}.${name}`);
      parts.set(name, part);
      setJsonMember(json, name, part.json);
    }
    return { json, at: inPlace(at), parts };
  }

  /** `read { Note: all }` for a list of rules. */
  #rules({ fields }: Pick<ObjectValue, 'fields'>, core: AnySchema, path: string, at: Position): Located {
    const { element } = defOf(core) as unknown as { element: AnySchema };
    const parts = new Map<string, Located>();
    for (const [i, { key, value }] of fields.entries()) {
      const type: Field = { key: { ...key, value: 'memory_type' }, value: { ...key, type: 'name', value: key.value } };
      const rule: Value = { ...key, type: 'object', fields: [type, { key: { ...key, value: 'scope' }, value }] };
      const inner = `${path}.${key.value}`;
      parts.set(String(i), this.#checked(rule, element, inner));
    }
    return { json: [...parts.values()].map(({ json }) => json), at: inPlace(at), parts };
  }

  #unknownField(name: string, at: Position, path: string, shape: Readonly<Record<string, unknown>>): void {
    if (this.#isFull()) return;
    const fields = Object.keys(shape);
    const short = Object.entries(this.#kind.renamed).find(([, member]) => member === name)?.[0];
    const suggestion = (path === '' ? short : undefined) ?? nearest(name, fields);
    const owner = path === '' ? this.#title : `\`${path}\``;
    if (name === 'extends' && path === '') {
      const message = `\`extends\` is no field: write \`${this.#title.replaceAll('`', '')} extends Base { … }\``;
      this.#mistake('unknown_field', at, message, { expected: fields });
      return;
    }
    const rest =
      suggestion === undefined ? `, which has ${alternatives(fields, 'and')}` : `: did you mean \`${suggestion}\`?`;
    this.#mistake('unknown_field', at, `unknown field \`${name}\` of ${owner}${rest}`, {
      expected: fields,
      ...(suggestion === undefined ? {} : { suggestion }),
    });
  }

  /** The first of fields with the same name; others are mistakes. */
  #unique({ fields }: Pick<ObjectValue, 'fields'>): Field[] {
    const first = new Map<string, Field>();
    for (const field of fields) {
      const { key } = field;
      const before = first.get(key.value);
      if (!before) first.set(key.value, field);
      else this.#mistake('duplicate', key, `\`${key.value}\` is already set on line ${before.key.line}: remove one`);
    }
    return [...first.values()];
  }
}

/** Limits of a duration are in milliseconds. */
const inUnits = (words: string): string =>
  words.replace(/[\d,]+$/, (number) => {
    const { value, unit } = durationOf(Number(number.replaceAll(',', '')));
    return `${value}${unit}`;
  });

const CODES: Readonly<Record<string, Mistake['code']>> = { invalid_type: 'type_mismatch' };

const pathText = (begin: string, path: readonly PropertyKey[]): string =>
  path.reduce<string>(
    (text, step) => (typeof step === 'number' ? `${text}[${step}]` : `${text}${text === '' ? '' : '.'}${String(step)}`),
    begin,
  );

type Rule = Readonly<Record<'memory_type' | 'scope', AnySchema>>;

/** The members of the rules in a list of them; undefined for any other list. */
const ruleIn = (list: AnySchema): Rule | undefined => {
  const { shape } = defOf(coreOf(defOf(list).element as AnySchema)) as { shape?: Rule };
  return shape && 'memory_type' in shape ? shape : undefined;
};
