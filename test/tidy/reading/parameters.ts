/** Finds functions, methods and function types by their parameter lists, and counts the parameters. */
import { codeOf, lineOf } from './code.js';
import { remembered, type Tree } from './tree.js';

export const MOST_PARAMETERS = 5;

const OPENS: Readonly<Record<string, string>> = { '(': ')', '[': ']', '{': '}' };

/** Whether `<` at an index begins type arguments: the formatter puts spaces around the operator. */
const beginsTypes = (bare: string, i: number): boolean => bare[i] === '<' && /[\w$]/.test(bare[i - 1] ?? '');
const endsTypes = (bare: string, i: number): boolean => bare[i] === '>' && bare[i - 1] !== '=';

/** What is between a bracket and its counterpart, split at the commas outside of other brackets. */
function itemsFrom(bare: string, open: number): { items: string[]; end: number } {
  const closers = [OPENS[bare[open]!]!];
  const items: string[] = [];
  let from = open + 1;
  for (let i = open + 1; i < bare.length; i++) {
    const char = bare[i]!;
    if (char in OPENS) closers.push(OPENS[char]!);
    else if (beginsTypes(bare, i)) closers.push('>');
    else if (char === '>' && closers.at(-1) === '>' && endsTypes(bare, i)) closers.pop();
    else if (char === ')' || char === ']' || char === '}') {
      // A `<` that was an operator after all.
      while (closers.at(-1) === '>') closers.pop();
      closers.pop();
      if (closers.length === 0) {
        items.push(bare.slice(from, i));
        return { items: items.map((item) => item.trim()).filter((item) => item !== ''), end: i };
      }
    } else if (char === ',' && closers.length === 1) {
      items.push(bare.slice(from, i));
      from = i + 1;
    }
  }
  return { items: [], end: bare.length };
}

/** `name: type`, `name?: type`, `name = value`, `...rest: type`, and patterns instead of names. An argument is none of these. */
function isParameter(item: string): boolean {
  const name = item.replace(/^(?:(?:public|private|protected|readonly)\s+)*(?:\.\.\.)?/, '');
  if (name[0] === '{' || name[0] === '[') return /^\s*[:=](?![=>])/.test(name.slice(itemsFrom(name, 0).end + 1));
  return /^[\w$]+\??\s*[:=](?![=>])/.test(name);
}

export interface Signature {
  readonly index: number;
  readonly name: string;
  readonly parameters: number;
}

/** Everything with at least two parameters: a list of one cannot be told from an expression, and need not be. */
export const signaturesOf = remembered((source: string): readonly Signature[] => {
  const { bare } = codeOf(source);
  const found: Signature[] = [];
  for (let open = bare.indexOf('('); open !== -1; open = bare.indexOf('(', open + 1)) {
    const { items, end } = itemsFrom(bare, open);
    if (items.length < 2) continue;
    if (!items.every(isParameter) && !/^\s*=>/.test(bare.slice(end + 1, end + 20))) continue;
    const before = bare.slice(Math.max(0, open - 200), open);
    const name = /([\w$]+)\s*(?:<[^()]*>)?\s*(?:[:=]\s*(?:async\s*)?(?:<[^()]*>)?\s*)?$/.exec(before)?.[1];
    found.push({ index: open, name: name ?? 'a function', parameters: items.length });
  }
  return found;
});

export function longParameterLists(tree: Tree): string[] {
  return [...tree].flatMap(([path, text]) =>
    signaturesOf(text)
      .filter(({ parameters }) => parameters > MOST_PARAMETERS)
      .map(({ index, name, parameters }) => `${path}:${lineOf(text, index)} ${name} has ${parameters} parameters`),
  );
}
