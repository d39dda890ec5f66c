/** What was recalled for a conversation is never extracted from it again. */
import type { GiveWay } from '../../kernel/index.js';
import { unitsOf } from '../../text/index.js';
import type { TextSource } from '../summaries/sources.js';
import { agree, overlap, type Statement, statementOf } from './english/statements.js';
import { differenceBetween } from './english/wordings.js';
import type { ExtractedFact } from './extractor.js';

const MAX_STATEMENTS = 2000;
/** As alike as this to what was recalled, and it was taken from there. */
const KNOWN = 0.75;

/** "Memory: …", "[2024-03-01] Anna: …": what was recalled is often told with where it is from. */
const LABEL = /^(?:\[[^\]]{1,40}\] ?)?\p{L}[\p{L}\d _.-]{0,40}: (.+)$/su;

/** What is known from memory, sentence by sentence. */
export async function recalledStatements(
  sources: readonly TextSource[],
  recalled: readonly string[],
  give_way: GiveWay,
): Promise<Statement[]> {
  const known: Statement[] = [];
  const texts = [...recalled, ...sources.filter((source) => source.recalled).map(({ text }) => text)];
  for (const text of texts)
    for (const unit of unitsOf(text)) {
      const due = give_way();
      if (due) await due;
      if (known.length >= MAX_STATEMENTS || unit.kind === 'fragment') continue;
      known.push(statementOf(unit.text));
      const said = LABEL.exec(unit.text)?.[1];
      if (said !== undefined) known.push(statementOf(said));
    }
  return known;
}

/** What an answer repeats of what was recalled for it is not learned again. */
export function isRecalled(fact: ExtractedFact, known: readonly Statement[]): boolean {
  if (known.length === 0) return false;
  const statement = statementOf(fact.content);
  return known.some(
    (one) =>
      agree(one, statement) &&
      overlap(one, statement) >= KNOWN &&
      differenceBetween(one.text, fact.content, fact.subject) === 'none',
  );
}

/** The statements of a text that stood in a window, sentence by sentence: `isRecalled` tells whether a fact is among them. */
export const statementsIn = (text: string): Statement[] =>
  [...unitsOf(text)]
    .filter(({ kind }) => kind !== 'fragment')
    .slice(0, MAX_STATEMENTS)
    .map((unit) => statementOf(unit.text));

const MEMORY = /<(memory|memories|context|recalled|retrieved|documents?|background)\b[^<>]{0,200}>/gi;

/** The text without what was put into it from memory, by the marks that such texts have. */
export function withoutMemory(text: string): string {
  const kept: string[] = [];
  const unclosed = new Set<string>();
  let from = 0;
  for (const { 0: mark, 1: name, index } of text.matchAll(MEMORY)) {
    const closing = `</${name!.toLowerCase()}>`;
    if (index < from || unclosed.has(closing)) continue;
    // Not in the text in lower case, which may be longer.
    const end = new RegExp(closing, 'gi');
    end.lastIndex = index + mark.length;
    if (!end.test(text)) {
      unclosed.add(closing);
      continue;
    }
    kept.push(text.slice(from, index));
    from = end.lastIndex;
  }
  return from === 0 ? text : [...kept, text.slice(from)].join('\n');
}
