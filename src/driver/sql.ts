/** The `sql` tag: portable SQL in PostgreSQL's syntax, cached by template; `toSqlite` has all rewrites for SQLite. */

export type Dialect = 'sqlite' | 'postgres';

/** Placeholder for the tenant of the Query or Tx; the empty string outside all tenants. */
export const TENANT: unique symbol = Symbol('tenant');

/** Of bytes only on PostgreSQL. */
type List = readonly string[] | readonly number[] | readonly Uint8Array[];

export type Param = string | number | null | Uint8Array | List | typeof TENANT;

export class Sql {
  readonly parts: readonly string[];
  readonly values: readonly (Param | Sql)[];

  readonly either: Readonly<Record<Dialect, Sql>> | undefined;

  constructor(parts: readonly string[], values: readonly (Param | Sql)[], either?: Readonly<Record<Dialect, Sql>>) {
    this.parts = parts;
    this.values = values;
    this.either = either;
  }
}

export const sql = (parts: TemplateStringsArray, ...values: (Param | Sql)[]): Sql => new Sql(parts, values);

/** The same tag, for the few statements that cross tenants. A test checks that all others name `tenant_id`. */
export const acrossTenants = sql;

const rows = new Map<string, readonly string[]>();

export function join(fragments: readonly Sql[], separator: string): Sql {
  // The same array for the same shape, since compiled text is cached by array identity.
  const shape = `${fragments.length}${separator}`;
  let parts = rows.get(shape);
  if (!parts) {
    const between = Array<string>(Math.max(0, fragments.length - 1)).fill(separator);
    rows.set(shape, (parts = fragments.length === 0 ? [''] : ['', ...between, '']));
  }
  return new Sql(parts, fragments);
}

const verbatims = new Map<string, readonly string[]>();

/** Text that cannot be a parameter, such as the length in a type. Never input of a caller. */
export function verbatim(words: string): Sql {
  let parts = verbatims.get(words);
  if (!parts) verbatims.set(words, (parts = [words]));
  return new Sql(parts, []);
}

/** A fragment that differs by dialect. */
export const byDialect = (either: Readonly<Record<Dialect, Sql>>): Sql =>
  new Sql(either.postgres.parts, either.postgres.values, either);

export type BoundParam = Exclude<Param, typeof TENANT>;

interface Compiled {
  readonly text: string;
  readonly params: readonly BoundParam[];
}

/** Cache of compiled texts: a trie over the templates of a statement and its fragments. */
class Shape {
  text: string | undefined;
  readonly #next: WeakMap<readonly string[], Shape>[] = [];

  /** The child for a template at this parameter position. */
  with(parts: readonly string[], position: number): Shape {
    const here = (this.#next[position] ??= new WeakMap());
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
  return { text: shape.text, params: params.map((param) => (param === TENANT ? tenant : param)) };
}

const inDialect = (value: Sql, dialect: Dialect): Sql => value.either?.[dialect] ?? value;

const isSql = (value: Param | Sql): value is Sql => value instanceof Sql;

/** Collects the parameters, and finds the shape by the fragments and their positions. */
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

/** The texts between the parameters, with fragments inlined. */
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
 * SQLite needs no row locks, since it has one writer at a time, and takes a list as JSON. `LIMIT ?+0`: a bare parameter is
 * part of the plan, so SQLite would plan the statement again at each binding, at ten times the cost.
 */
function toSqlite(text: string): string {
  return text
    .replace(/\s*\bFOR UPDATE\b/g, '')
    .replace(/=\s*ANY\(\?\)/g, 'IN (SELECT value FROM json_each(?))')
    .replace(/\bIS NOT DISTINCT FROM\b/g, 'IS')
    .replace(/\bLIMIT \?/g, 'LIMIT ?+0');
}
