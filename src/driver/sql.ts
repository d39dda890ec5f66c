/**
 * The `sql` tag: portable SQL written once, in PostgreSQL's words, compiled to the dialect and cached by template.
 * What SQLite says differently is in `toSqlite`, and nowhere else.
 */

export type Dialect = 'sqlite' | 'postgres';
export type Param = string | number | null | readonly string[] | readonly number[];

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

/** Puts fragments in a row. */
export function join(fragments: readonly Sql[], separator: string): Sql {
  if (fragments.length === 0) return new Sql([''], []);
  const parts = ['', ...Array<string>(fragments.length - 1).fill(separator), ''];
  return new Sql(parts, fragments);
}

/** Text that is part of the program, such as a table's name; never a user's. */
export const literal = (text: string): Sql => new Sql([text], []);

export interface Compiled {
  readonly text: string;
  readonly params: readonly Param[];
}

const cache: Record<Dialect, WeakMap<readonly string[], string>> = {
  sqlite: new WeakMap(),
  postgres: new WeakMap(),
};

export function compile(query: Sql, dialect: Dialect): Compiled {
  const values = query.values;
  let nested = false;
  for (let i = 0; i < values.length; i++) if (values[i] instanceof Sql) nested = true;
  if (nested) {
    const parts: string[] = [];
    const params: Param[] = [];
    flatten(query, parts, params);
    return { text: render(parts, dialect), params };
  }
  let text = cache[dialect].get(query.parts);
  if (text === undefined) {
    text = render(query.parts, dialect);
    cache[dialect].set(query.parts, text);
  }
  return { text, params: values as readonly Param[] };
}

function flatten(query: Sql, parts: string[], params: Param[]): void {
  query.parts.forEach((part, i) => {
    if (i === 0 && parts.length > 0) parts[parts.length - 1] += part;
    else if (i > 0 && query.values[i - 1] instanceof Sql) parts[parts.length - 1] += part;
    else parts.push(part);
    if (i >= query.values.length) return;
    const value = query.values[i] as Param | Sql;
    if (value instanceof Sql) flatten(value, parts, params);
    else params.push(value);
  });
}

function render(parts: readonly string[], dialect: Dialect): string {
  if (dialect === 'sqlite') return toSqlite(parts.join('?'));
  return parts.reduce((text, part, i) => (i === 0 ? part : `${text}$${i}${part}`), '');
}

/** SQLite has one writer at a time, so row locks are already held; and it takes a list as JSON. */
function toSqlite(text: string): string {
  return text
    .replace(/\s*\bFOR UPDATE\b/g, '')
    .replace(/=\s*ANY\(\?\)/g, 'IN (SELECT value FROM json_each(?))')
    .replace(/\bIS NOT DISTINCT FROM\b/g, 'IS');
}
