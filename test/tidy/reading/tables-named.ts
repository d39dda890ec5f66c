/** Finds the tables that the SQL of a source text names, without a parser: a new way to name one is to be added here. */
import { remembered } from './tree.js';

const withoutComments = (source: string): string =>
  source
    .replace(/^\s*\/\*\*?[\s\S]*?\*\/\s*$/gm, (comment) => comment.replace(/[^\n]/g, ' '))
    .replace(/^\s*\/\/.*$/gm, '');

/** A word behind one of these is a table. Keywords are in capitals, so that prose is none. */
const BEHIND_KEYWORD = /(?<=\b(?:FROM|JOIN|INTO|UPDATE|TABLE|ON|ANALYZE)\s+)\b(\w+)/g;
/** FROM a x, b AS y, c */
const IN_LIST = /\bFROM\s+\w+(?:\s+(?:AS\s+)?\w+)?((?:\s*,\s*\w+(?:\s+(?:AS\s+)?\w+)?)+)/g;
/** A fragment that stands for a table, with or without its alias. */
const FRAGMENT = /\b(?:sql|acrossTenants)`\s*(\w+)(?=\s+(?:AS\s+)?[a-z]\w*\b|\s*`)/g;
/** As rows are inserted by `Tx.insert`, or vectors indexed. */
const DESCRIBED = /\bname:\s*'(\w+)',\s*(?:columns|bits)\b/g;
const QUOTED = /\b(?:verbatim|to_regclass)\(\s*['"`](\w+)['"`]|'(\w+)'::regclass/g;

/** Every word in the place of a table, aliases and fragments of other things among them. */
export const tablesNamed = remembered((source: string): ReadonlySet<string> => {
  const text = withoutComments(source);
  const named = new Set<string>();
  for (const pattern of [BEHIND_KEYWORD, FRAGMENT, DESCRIBED, QUOTED])
    for (const [, word, other] of text.matchAll(pattern)) named.add((word ?? other)!);
  for (const [, list] of text.matchAll(IN_LIST)) for (const [, word] of list!.matchAll(/,\s*(\w+)/g)) named.add(word!);
  return named;
});
