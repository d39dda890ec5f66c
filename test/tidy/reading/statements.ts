/** Finds the `sql` templates of a source text, and those that touch tables without naming the tenant. */

export interface Statement {
  readonly tag: string;
  readonly line: number;
  /** Its own text, without what is put in. */
  readonly text: string;
  /** The expressions that are put in. */
  readonly expressions: readonly string[];
  /** Whether it reads or changes a table, rather than being a part of a statement. */
  readonly touches: boolean;
}

interface Template {
  readonly text: string;
  readonly expressions: readonly string[];
  readonly end: number;
}

/** Reads a template from behind its opening backtick. */
function readTemplate(source: string, start: number): Template {
  const expressions: string[] = [];
  let text = '';
  let i = start;
  while (i < source.length && source[i] !== '`') {
    if (source[i] === '\\') {
      text += source.slice(i, i + 2);
      i += 2;
    } else if (source.startsWith('${', i)) {
      const from = i + 2;
      i = endOfExpression(source, from);
      expressions.push(source.slice(from, i));
      text += ' ? ';
      i++;
    } else text += source[i++];
  }
  return { text, expressions, end: i + 1 };
}

/** Where the brace is that closes an expression. */
function endOfExpression(source: string, start: number): number {
  let depth = 0;
  for (let i = start; i < source.length; i++) {
    const char = source[i]!;
    if (char === '`') i = readTemplate(source, i + 1).end - 1;
    else if (char === "'" || char === '"') i = endOfString(source, i);
    else if (char === '{') depth++;
    else if (char === '}' && depth-- === 0) return i;
  }
  throw new Error('an expression in a template has no end');
}

function endOfString(source: string, start: number): number {
  for (let i = start + 1; i < source.length; i++) {
    if (source[i] === '\\') i++;
    else if (source[i] === source[start]) return i;
  }
  throw new Error('a string has no end');
}

const TOUCHES = /\b(FROM|UPDATE|DELETE|INSERT)\b/;

export function statementsOf(source: string): Statement[] {
  return [...source.matchAll(/\b(sql|acrossTenants)`/g)].map((match) => {
    const { text, expressions } = readTemplate(source, match.index + match[0].length);
    // FOR UPDATE locks what another word reads; json_each reads a column.
    const touches = TOUCHES.test(text.replaceAll('FOR UPDATE', '').replaceAll('FROM json_each(', ''));
    return { tag: match[1]!, line: source.slice(0, match.index).split('\n').length, text, expressions, touches };
  });
}

/** The declaration of a name that is in force at a place: the last one before it, or a function anywhere. */
function declarationOf(source: string, name: string, before: number): string | undefined {
  const declared = [...source.matchAll(new RegExp(`\\b(const|let|function) ${name}\\b`, 'g'))];
  const found =
    declared.filter(({ index }) => index < before).at(-1) ?? declared.find(([, kind]) => kind === 'function');
  const fallback = found ?? declared[0];
  if (!fallback) return undefined;
  const end = source.indexOf(fallback[1] === 'function' ? '\n}' : ';\n', fallback.index);
  return source.slice(fallback.index, end < 0 ? source.length : end);
}

/** Whether an expression stands for SQL that names the tenant, by what it is made from in the same file. */
function namesTenant(source: string, expression: string, before: number, depth = 0): boolean {
  if (expression.includes('tenant_id')) return true;
  if (depth > 4) return false;
  const names = new Set(expression.match(/\b[A-Za-z_]\w*\b(?!\s*:)/g) ?? []);
  for (const name of names) {
    const declaration = declarationOf(source, name, before);
    if (declaration === undefined) continue;
    const value = declaration.slice(declaration.indexOf(name) + name.length);
    if (namesTenant(source, value, source.indexOf(declaration), depth + 1)) return true;
  }
  return false;
}

/** Where there are statements that touch a table, and whose tenant cannot be seen. */
export function unnamedStatements(source: string): string[] {
  const lines = source.split('\n');
  return statementsOf(source)
    .filter(({ tag, touches }) => tag === 'sql' && touches)
    .filter(({ text }) => !/\btenant_id\b/.test(text))
    .filter(({ expressions, line }) => {
      const before = lines.slice(0, line - 1).join('\n').length;
      return !expressions.some((expression) => namesTenant(source, expression, before));
    })
    .map(({ line }) => `line ${line}`);
}

/** Behind the WHERE of a statement itself, not of a query within it; undefined where it has none of its own. */
function conditionOf(text: string): string | undefined {
  let depth = 0;
  for (const { 0: token, index } of text.matchAll(/[()]|\bWHERE\b/g)) {
    if (token === '(') depth++;
    else if (token === ')') depth--;
    else if (depth === 0) return text.slice(index + token.length).trim();
  }
  return undefined;
}

/**
 * Where there are changes whose own condition does not begin with the tenant. That a query within one names it is not
 * enough: ids of several tenants may be the same.
 */
export function looseChanges(source: string): string[] {
  return (
    statementsOf(source)
      .filter(({ tag, text }) => tag === 'sql' && /^\s*(UPDATE|DELETE FROM)\b/.test(text))
      // All behind the table may be put in as one part, which the other rule looks into.
      .filter(({ text }) => !/^\s*\w+( FROM)? \w+\s+\?\s*$/.test(text))
      .filter(({ text }) => !/^((\w+\.)?tenant_id = |\? )/.test(conditionOf(text) ?? ''))
      .map(({ line }) => `line ${line}`)
  );
}
