/** Keeps texts recalled for a conversation from being extracted from it again. */
import type { CooperativeYield } from '../../kernel/index.js';
import { unitsOf } from '../../text/index.js';
import type { TextSource } from '../summaries/sources.js';
import { agree, overlap, type Statement, statementOf } from './english/statements.js';
import { differenceBetween } from './english/wordings.js';
import type { ExtractedFact } from './extractor.js';

const MAX_STATEMENTS = 2000;
/** Overlap with a recalled statement at which a fact repeats it. */
const KNOWN = 0.75;

/** "Memory: …", "[2024-03-01] Anna: …": recalled texts often have a label. */
const LABEL = /^(?:\[[^\]]{1,40}\] ?)?\p{L}[\p{L}\d _.-]{0,40}: (.+)$/su;

/** The statements of recalled texts, with and without their labels. */
export async function recalledStatements(
  sources: readonly TextSource[],
  recalled: readonly string[],
  maybe_yield: CooperativeYield,
): Promise<Statement[]> {
  const known: Statement[] = [];
  const texts = [...recalled, ...sources.filter((source) => source.recalled).map(({ text }) => text)];
  for (const text of texts)
    for (const unit of unitsOf(text)) {
      await maybe_yield();
      if (known.length >= MAX_STATEMENTS || unit.kind === 'fragment') continue;
      known.push(statementOf(unit.text));
      const said = LABEL.exec(unit.text)?.[1];
      if (said !== undefined) known.push(statementOf(said));
    }
  return known;
}

/** Whether a fact repeats a known statement. */
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

/** The statements of a text, for `isRecalled`. */
export const statementsIn = (text: string): Statement[] =>
  [...unitsOf(text)]
    .filter(({ kind }) => kind !== 'fragment')
    .slice(0, MAX_STATEMENTS)
    .map((unit) => statementOf(unit.text));

const MEMORY = /<(memory|memories|context|recalled|retrieved|documents?|background)\b[^<>]{0,200}>/gi;

/** The text without elements such as `<memory>`. */
export function withoutMemory(text: string): string {
  const kept: string[] = [];
  const unclosed = new Set<string>();
  let from = 0;
  for (const { 0: mark, 1: name, index } of text.matchAll(MEMORY)) {
    const closing = `</${name!.toLowerCase()}>`;
    if (index < from || unclosed.has(closing)) continue;
    // A lower-case copy of the text could have other indexes.
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
