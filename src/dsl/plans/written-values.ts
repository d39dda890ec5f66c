/** JSON as values of the language, by the schema of its kind: what `checks/values.ts` reads, written. */
import { coreOf, type MemoryAccess, ttl } from '../../engine/contract.js';
import type { Json, JsonObject } from '../../kernel/contract.js';
import { canonical } from '../../kernel/node.js';
import { type AnySchema, defOf, isLongText, optionOf, tagsOf } from '../checks/forms.js';
import { type Kind, rulesOf } from '../checks/kinds.js';
import { type Field, isBareWord, type Name, type ObjectValue, type Span, type Value } from '../syntax/ast.js';
import { durationOf } from '../syntax/numbers.js';

/** What is written has no place in a source. */
const NOWHERE: Span = { line: 1, column: 1, start: 0, end: 0 };

export const nameOf = (value: string): Name => ({ ...NOWHERE, value, quoted: !isBareWord(value) });
const blockOf = (fields: readonly Field[]): ObjectValue => ({ ...NOWHERE, type: 'object', fields });
const listOf = (items: readonly Value[]): Value => ({ ...NOWHERE, type: 'list', items });
const fieldOf = (name: string, value: Value): Field => ({ key: nameOf(name), value });
const text = (value: string): Value => ({ ...NOWHERE, type: 'text', value });
const word = (value: string): Value => (isBareWord(value) ? { ...NOWHERE, type: 'name', value } : text(value));

/** Whether a bare name would refer to a definition of the source. */
export type Defined = (path: string, name: string) => boolean;

export class ValueWriter {
  readonly #kind: Kind;
  readonly #defined: Defined;

  constructor(kind: Kind, defined: Defined) {
    this.#kind = kind;
    this.#defined = defined;
  }

  definition(fields: JsonObject): ObjectValue {
    const { shape } = this.#kind.fields;
    const names = Object.keys(shape).filter((name) => fields[name] !== undefined);
    return blockOf(names.map((name) => fieldOf(name, this.#write(fields[name]!, shape[name] as AnySchema, name))));
  }

  #write(json: Json, schema: AnySchema, path: string): Value {
    const core = coreOf(schema);
    const def = defOf(core);
    if (path === 'memory_access') return accessValue(json as MemoryAccess);
    if (typeof json === 'number' && this.#kind.durations.includes(path))
      return { ...NOWHERE, type: 'duration', ...durationOf(json) };
    if (core === ttl) return lifetime(json);
    if (def.type === 'union') return this.#write(json, alternativeOf(core, json), path);
    if (def.type === 'array' && Array.isArray(json))
      return listOf(json.map((item, i) => this.#write(item, def.element as AnySchema, `${path}[${i}]`)));
    if ((def.type === 'object' || def.type === 'record') && typeof json === 'object' && json !== null)
      return this.#block(json as JsonObject, core, path);
    if (typeof json === 'string' && def.type !== 'unknown') return this.#text(json, core, path);
    return free(json);
  }

  #block(json: JsonObject, core: AnySchema, path: string): Value {
    const { type, shape, valueType } = defOf(core) as {
      type: string;
      shape?: Record<string, AnySchema>;
      valueType?: AnySchema;
    };
    return blockOf(
      Object.entries(json).map(([name, value]) => {
        const member = type === 'object' ? shape![name] : valueType;
        return fieldOf(name, member ? this.#write(value, member, `${path}.${name}`) : free(value));
      }),
    );
  }

  /** A name that may be a reference is bare only if it is one. */
  #text(value: string, core: AnySchema, path: string): Value {
    const place = path.replace(/\[\d+\]$/, '');
    const isReference = Object.hasOwn(this.#kind.references, place);
    if (isReference) return value === '*' || this.#defined(place, value) ? word(value) : text(value);
    return defOf(core).type === 'string' && isLongText(core) ? text(value) : word(value);
  }
}

/** The alternative of a union that this value was read by. */
function alternativeOf(core: AnySchema, json: Json): AnySchema {
  const { options, discriminator: tag } = defOf(core) as unknown as { options: AnySchema[]; discriminator?: string };
  if (typeof json !== 'object' || json === null) return optionOf(options, 'scalar');
  if (Array.isArray(json)) return optionOf(options, 'list');
  const tagged = tag === undefined ? undefined : options.find((one) => tagsOf(one, tag).includes(String(json[tag])));
  return tagged ?? optionOf(options, 'object');
}

/** Texts are quoted in free JSON. */
function free(json: Json): Value {
  if (json === null) return { ...NOWHERE, type: 'null' };
  if (typeof json === 'string') return text(json);
  if (typeof json === 'number') return { ...NOWHERE, type: 'number', value: json };
  if (typeof json === 'boolean') return { ...NOWHERE, type: 'boolean', value: json };
  if (Array.isArray(json)) return listOf(json.map(free));
  return blockOf(Object.entries(json).map(([name, value]) => fieldOf(name, free(value))));
}

function lifetime(json: Json): Value {
  if (typeof json === 'string') return word(json);
  const { Duration } = json as { Duration?: Json };
  return typeof Duration === 'number' ? { ...NOWHERE, type: 'duration', ...durationOf(Duration) } : free(json);
}

const SHORT = ['none', 'own', 'own_trajectory', 'all'] as const;

/** `own`, or a block of rules by type. */
function accessValue(access: MemoryAccess): Value {
  const rules = canonical(access as Json);
  const short = SHORT.find((name) => canonical(rulesOf(name) as Json) === rules);
  if (short) return word(short);
  return blockOf(
    (['read', 'write'] as const).flatMap((side) => {
      const list = access[side];
      return list === undefined ? [] : [fieldOf(side, rulesValue(list))];
    }),
  );
}

function rulesValue(rules: NonNullable<MemoryAccess['read']>): Value {
  const types = new Set(rules.map(({ memory_type }) => memory_type));
  const isPlain =
    rules.length > 0 && types.size === rules.length && rules.every((rule) => Object.keys(rule).length === 2);
  if (!isPlain)
    return listOf(rules.map((rule) => blockOf(Object.entries(rule).map(([name, one]) => fieldOf(name, word(one))))));
  return blockOf(rules.map(({ memory_type, scope }) => fieldOf(memory_type, word(scope))));
}
