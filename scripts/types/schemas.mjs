// Prints zod schemas as TypeScript types: named interfaces, with the descriptions of members as documentation. A schema
// can accept something else than it returns, so it has an input type and an output type.
import { describedAs } from '../../dist/engine/contract.js';
import { comment, indented, key, literal, pascal, sentence, singular } from './text.mjs';

const WRAPPERS = new Set(['optional', 'nullable', 'default', 'prefault', 'nonoptional', 'readonly']);

/** The end of a pipe that has a type: a transform has none, so the schema beside it counts. */
function endOf({ in: first, out: last }, io) {
  const [wanted, other] = io === 'input' ? [first, last] : [last, first];
  return wanted._zod.def.type === 'transform' ? other : wanted;
}

function innerOf(schema, io) {
  const { def } = schema._zod;
  if (WRAPPERS.has(def.type)) return def.innerType;
  return def.type === 'pipe' ? endOf(def, io) : undefined;
}

/** The metadata of a schema, with that of the schemas it wraps as defaults. */
function metaOf(schema, io) {
  const inner = innerOf(schema, io);
  return { ...(inner && metaOf(inner, io)), ...schema.meta() };
}

/** A member with a default is optional in an input. */
export const isOptional = ({ _zod }, io) => (io === 'input' ? _zod.optin : _zod.optout) !== undefined;

/** Default, format and limits of an input member. */
function limitsOf(schema) {
  const { def } = schema._zod;
  const inner = innerOf(schema, 'input');
  if (def.type === 'default') return [`Default: ${inWords(def.defaultValue)}.`, limitsOf(inner)].join(' ').trim();
  if (inner) return limitsOf(inner);
  const { format } = schema.meta() ?? {};
  if (format === 'uuid') return 'A UUID.';
  if (format === 'date-time') return 'An ISO 8601 time.';
  const checks = (def.checks ?? []).map((check) => check._zod.def);
  const limit = (kind) => checks.find(({ check }) => check === kind);
  if (def.type === 'array') {
    const { maximum } = limit('max_length') ?? {};
    return maximum && `At most ${inWords(maximum)} items.`;
  }
  if (def.type !== 'number') return undefined;
  const kind = schema.isInt ? 'An integer' : 'A number';
  const [least, most] = [limit('greater_than')?.value, limit('less_than')?.value].map(inWords);
  if (least && most) return `${kind} from ${least} to ${most}.`;
  if (least) return `${kind}, ${least} or more.`;
  return most && `${kind}, ${most} or less.`;
}

const inWords = (limit) => limit?.toLocaleString('en');

/**
 * `special` maps schema definitions to a type or another schema, for schemas that do not show their type. `refined`
 * replaces the types of members of named types. `renamed` replaces derived names.
 *
 * `plain` prints the types that zod infers: no refinements, mutable lists, and the members that an input accepts only so
 * that an answer can be posted back, typed `any`.
 */
export class SchemaTypes {
  #special;
  #refined;
  #renamed;
  #plain;
  /** Schema definition → schema and its names. */
  #named = new Map();
  /** Name → schema definition. */
  #taken = new Map();
  /** Name → declaration, in order. */
  #declared = new Map();
  /** Body of a declaration → its name. */
  #bodies = new Map();
  #unused;
  #isFinished = false;

  constructor({ special, refined, renamed, plain }) {
    this.#special = special;
    this.#refined = plain ? {} : refined;
    this.#renamed = renamed;
    this.#plain = plain;
    this.#unused = new Set([...Object.keys(this.#renamed), ...Object.keys(this.#refined)]);
  }

  /** Ends the declarations: from now on `typeOf` writes types without a name in place. */
  finish() {
    if (this.#unused.size > 0) throw new Error(`no such types: ${[...this.#unused].join(', ')}`);
    this.#isFinished = true;
  }

  get names() {
    return [...this.#declared.keys()];
  }

  get declarations() {
    return [...this.#declared.values()];
  }

  /** Names a schema by the first free candidate, and returns the name. */
  claim(schema, io, candidates) {
    const { def } = schema._zod;
    const entry = this.#named.get(def) ?? { schema };
    if (entry[io] !== undefined) return entry[io];
    const names = candidates.map((name) => this.#renamed[name] ?? name);
    for (const name of candidates) this.#unused.delete(name);
    const name = names.find((one) => (this.#taken.get(one) ?? def) === def);
    if (name === undefined) throw new Error(`name already taken: ${names.join(', ')}`);
    this.#taken.set(name, def);
    this.#named.set(def, { ...entry, [io]: name });
    return name;
  }

  nameOf(schema, io) {
    return this.#named.get(schema._zod.def)?.[io];
  }

  /** Declares an object or union, and returns its name. A declaration with the same body is used again. */
  declare(schema, io, candidates, about = []) {
    const isNew = this.nameOf(schema, io) === undefined;
    const name = this.claim(schema, io, candidates);
    if (this.#declared.has(name)) return name;
    // Set before the members are printed, since these can refer back to it.
    this.#declared.set(name, '');
    const body = schema._zod.def.type === 'union' ? this.#unionOf(schema, io, name) : this.#bodyOf(schema, io, name);
    const same = this.#bodies.get(body);
    if (same !== undefined && isNew) {
      this.#declared.delete(name);
      this.#taken.delete(name);
      this.#named.get(schema._zod.def)[io] = same;
      return same;
    }
    this.#bodies.set(body, name);
    const { description } = schema.meta() ?? {};
    const doc = comment([...(description === undefined ? [] : [sentence(description)]), ...about]);
    const { generic = '', as = name } = this.#refined[name] ?? {};
    const isInterface = schema._zod.def.type === 'object' && body.endsWith('}');
    const text = isInterface ? `interface ${as}${generic} ${body}` : `type ${as}${generic} = ${body};`;
    this.#declared.set(name, `${doc}export ${text}\n`);
    return name;
  }

  /** `owner` and `member` say where the schema stands: parts without a name are named after them. */
  typeOf(schema, io, owner, member) {
    const { def } = schema._zod;
    const special = this.#special.get(def)?.(io);
    if (typeof special === 'string') return special;
    if (special !== undefined) return this.typeOf(special, io, owner, member);
    const inner = innerOf(schema, io);
    if (inner !== undefined) {
      const type = this.typeOf(inner, io, owner, member);
      return def.type === 'nullable' ? alternatives([type, 'null']) : type;
    }
    switch (def.type) {
      case 'string':
      case 'number':
      case 'boolean':
      case 'void':
        return def.type;
      case 'enum':
        return alternatives(Object.values(def.entries).map(literal));
      case 'literal':
        return alternatives(def.values.map(literal));
      case 'lazy':
        return this.typeOf(def.getter(), io, owner, member);
      case 'array':
        return this.#listOf(this.typeOf(def.element, io, owner, member), io);
      case 'record':
        return `Record<string, ${this.typeOf(def.valueType, io, owner, member)}>`;
      case 'unknown':
        return this.#unknownOf(schema, io);
      case 'union':
      case 'object':
        return this.#partOf(schema, io, owner, member);
      default:
        throw new Error(`${owner}: unsupported schema z.${def.type}()`);
    }
  }

  #listOf(element, io) {
    const simple = /^[\w.]+$/.test(element);
    if (io === 'output' || this.#plain) return simple ? `${element}[]` : `Array<${element}>`;
    return simple ? `readonly ${element}[]` : `ReadonlyArray<${element}>`;
  }

  /** JSON objects and bytes, which zod sees as unknown. */
  #unknownOf(schema, io) {
    const { type, items } = schema.meta() ?? {};
    if (type === 'object') return io === 'input' ? 'JsonObjectInput' : 'JsonObject';
    if (type === 'array' && items.type === 'integer') return `Uint8Array | ${this.#listOf('number', io)}`;
    throw new Error('z.unknown() is neither JSON nor bytes: add its type to `special` in scripts/types/api.mjs');
  }

  /** A nested object or union: named by its id or its place if it is long or documented, else written in place. */
  #partOf(schema, io, owner, member) {
    const known = this.nameOf(schema, io);
    if (this.#isFinished) return known ?? this.#inPlace(schema, io);
    const id = schema.meta()?.id;
    if (known !== undefined || id !== undefined) {
      const suffix = io === 'input' ? 'Input' : '';
      const asAnswered = io === 'input' && this.nameOf(schema, 'output') === undefined;
      const candidates = [...(asAnswered ? [id] : []), `${id}${suffix}`, partName(owner, member, io)];
      return this.declare(schema, io, candidates);
    }
    const derived = partName(owner, member, io);
    const name = this.#renamed[derived] ?? derived;
    if (schema._zod.def.type === 'union') return this.#unionOf(schema, io, name);
    const members = this.#membersOf(schema, io, name);
    const line = `{ ${members.map(({ text }) => text).join('; ')} }`;
    if (members.length > 0 && line.length < 90 && members.every(({ about }) => about === '') && !line.includes('\n'))
      return line;
    if (members.length === 0 || member === undefined) return this.#blockOf(members);
    return this.declare(schema, io, [derived, `${owner}${pascal(singular(member))}`]);
  }

  #inPlace(schema, io) {
    if (schema._zod.def.type === 'union') return this.#unionOf(schema, io);
    return this.#bodies.get(this.#bodyOf(schema, io)) ?? this.#blockOf(this.#membersOf(schema, io));
  }

  #unionOf(schema, io, name) {
    return alternatives(schema._zod.def.options.map((option) => this.typeOf(option, io, name)));
  }

  #membersOf(schema, io, owner, but = {}) {
    return Object.entries(schema._zod.def.shape).flatMap(([name, member]) => {
      const { description, readOnly } = metaOf(member, io);
      const isIgnored = io === 'input' && readOnly;
      if (name in but || (isIgnored && !this.#plain)) return [];
      const said = [describedAs(name, description), io === 'input' ? limitsOf(member) : undefined];
      const refined = isIgnored ? 'any' : this.#refined[owner]?.members[name];
      const type = refined ?? this.typeOf(member, io, owner, name);
      const optional = isOptional(member, io);
      const text = `${key(name)}${optional ? '?' : ''}: ${type}${optional && io === 'input' ? ' | undefined' : ''}`;
      return [{ text, about: said.filter(Boolean).map(sentence).join(' ') }];
    });
  }

  #bodyOf(schema, io, name) {
    const base = this.#baseOf(schema, io);
    const members = this.#membersOf(schema, io, name, base?._zod.def.shape);
    return base === undefined ? this.#blockOf(members) : `extends ${this.typeOf(base, io)} ${this.#blockOf(members)}`;
  }

  #blockOf(members) {
    if (members.length === 0) return 'Record<string, never>';
    const lines = members.map(
      ({ text, about }) => `${comment(about === '' ? [] : [about], { indent: '  ' })}${indented(text)};\n`,
    );
    return `{\n${lines.join('')}}`;
  }

  /** The largest named answer type whose members this one all has. */
  #baseOf(schema, io) {
    if (io === 'input') return undefined;
    const shapeOf = (one) => one._zod.def.shape;
    const size = (one) => Object.keys(shapeOf(one)).length;
    return [...this.#named.values()]
      .filter((one) => one.output !== undefined && shapeOf(one.schema) && size(one.schema) > 3)
      .map((one) => one.schema)
      .filter((one) => size(one) < size(schema))
      .filter((one) => Object.entries(shapeOf(one)).every(([name, member]) => shapeOf(schema)[name] === member))
      .sort((a, b) => size(b) - size(a))[0];
  }
}

const alternatives = (types) => [...new Set(types)].join(' | ');

/** Names a part after its place: `error` of AgentInput is AgentErrorInput. */
const partName = (owner = '', member = '', io = 'output') =>
  io === 'input'
    ? `${owner.replace(/Input$/, '')}${pascal(singular(member))}Input`
    : `${owner}${pascal(singular(member))}`;
