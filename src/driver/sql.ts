/**
 * The `sql` tag: portable SQL written once, in PostgreSQL's words, compiled to the dialect and cached by template.
 * What SQLite says differently is in `toSqlite`, and nowhere else.
 */

export type Dialect = 'sqlite' | 'postgres';
/**
 * Stands for the tenant that a Query or Tx is bound to: statements name the tenant and nobody hands its id around.
 * Outside of all tenants it is the empty string, which no tenant has.
 */
export const TENANT: unique symbol = Symbol('tenant');

export type Param = string | number | null | readonly string[] | readonly number[] | typeof TENANT;

export class Sql {
  readonly parts: readonly string[];
  readonly values: readonly (Param | Sql)[];

  constructor(parts: readonly string[], values: readonly (Param | Sql)[]) {
    this.parts = parts;
    this.values = values;
  }
}

export const sql = (parts: TemplateStringsArray, ...values: (Param | Sql)[]): Sql => new Sql(parts, values);

/** The same tag, for the few statements that rightly cross tenants. A test reads all others for `tenant_id`. */
export const acrossTenants = sql;

const rows = new Map<string, readonly string[]>();

/** Puts fragments in a row. */
export function join(fragments: readonly Sql[], separator: string): Sql {
  // The same array for the same shape: it is what compiled text is remembered by.
  const shape = `${fragments.length}${separator}`;
  let parts = rows.get(shape);
  if (!parts) {
    const between = Array<string>(Math.max(0, fragments.length - 1)).fill(separator);
    rows.set(shape, (parts = fragments.length === 0 ? [''] : ['', ...between, '']));
  }
  return new Sql(parts, fragments);
}

const verbatims = new Map<string, readonly string[]>();

/** Words of our own that are no parameter to a database, such as a length in a type. Never a caller's. */
export function verbatim(words: string): Sql {
  let parts = verbatims.get(words);
  if (!parts) verbatims.set(words, (parts = [words]));
  return new Sql(parts, []);
}

/** A fragment that the dialects say differently. */
class ByDialect extends Sql {
  readonly either: Readonly<Record<Dialect, Sql>>;

  constructor(either: Readonly<Record<Dialect, Sql>>) {
    super(either.postgres.parts, either.postgres.values);
    this.either = either;
  }
}

export const byDialect = (either: Readonly<Record<Dialect, Sql>>): Sql => new ByDialect(either);

/** A value as a database takes it. */
export type BoundParam = Exclude<Param, typeof TENANT>;

export interface Compiled {
  readonly text: string;
  readonly params: readonly BoundParam[];
}

/** What a statement's templates compile to: found along the templates that it is put together from. */
class Shape {
  text: string | undefined;
  readonly #next: WeakMap<readonly string[], Shape>[] = [];

  /** The shape that has this template as well, at this place. */
  with(parts: readonly string[], place: number): Shape {
    const here = (this.#next[place] ??= new WeakMap());
    let shape = here.get(parts);
    if (!shape) here.set(parts, (shape = new Shape()));
    return shape;
  }
}

const shapes: Record<Dialect, Shape> = { sqlite: new Shape(), postgres: new Shape() };

export function compile(given: Sql, dialect: Dialect, tenant = ''): Compiled {
  const query = inDialect(given, dialect);
  let shape = shapes[dialect].with(query.parts, 0);
  let params = query.values as readonly Param[];
  if (query.values.some(isSql)) {
    const flat: Param[] = [];
    shape = walk(query, dialect, shape, flat);
    params = flat;
  }
  shape.text ??= render(flatten(query, dialect), dialect);
  return { text: shape.text, params: bind(params, tenant) };
}

/** The values to bind, which are none of the caller's to change. */
function bind(params: readonly Param[], tenant: string): BoundParam[] {
  return params.map((param) => (param === TENANT ? tenant : param));
}

const inDialect = (value: Sql, dialect: Dialect): Sql => (value instanceof ByDialect ? value.either[dialect] : value);

const isSql = (value: Param | Sql): value is Sql => value instanceof Sql;

/** Collects the parameters, and finds the shape by the fragments and where each stands among them. */
function walk(query: Sql, dialect: Dialect, start: Shape, params: Param[]): Shape {
  let shape = start;
  for (const value of query.values) {
    if (isSql(value)) {
      const fragment = inDialect(value, dialect);
      shape = walk(fragment, dialect, shape.with(fragment.parts, params.length), params);
    } else params.push(value);
  }
  return shape;
}

/** The texts between the parameters, those of fragments included. */
function flatten(query: Sql, dialect: Dialect): string[] {
  const texts = [query.parts[0]!];
  query.values.forEach((value, i) => {
    const [first, ...rest] = isSql(value) ? flatten(inDialect(value, dialect), dialect) : ['', ''];
    texts[texts.length - 1] += first!;
    texts.push(...rest);
    texts[texts.length - 1] += query.parts[i + 1]!;
  });
  return texts;
}

function render(parts: readonly string[], dialect: Dialect): string {
  if (dialect === 'sqlite') return toSqlite(parts.join('?'));
  return parts.reduce((text, part, i) => (i === 0 ? part : `${text}$${i}${part}`), '');
}

/**
 * SQLite has one writer at a time, so row locks are already held; and it takes a list as JSON. A bare parameter as LIMIT
 * is part of its plan, so that it would plan the statement anew whenever one is bound: a tenfold cost.
 */
function toSqlite(text: string): string {
  return text
    .replace(/\s*\bFOR UPDATE\b/g, '')
    .replace(/=\s*ANY\(\?\)/g, 'IN (SELECT value FROM json_each(?))')
    .replace(/\bIS NOT DISTINCT FROM\b/g, 'IS')
    .replace(/\bLIMIT \?/g, 'LIMIT ?+0');
}
