/** Facts of a conversation with the values that hold at its end: a later turn may have given another. */
import type { CooperativeYield } from '../../kernel/index.js';
import { readTurns } from '../summaries/reading/candidates.js';
import type { Correction } from '../summaries/reading/corrections.js';
import { marked } from '../summaries/reading/replacements.js';
import type { TextSource } from '../summaries/sources.js';
import { titleOf } from './english/extraction.js';
import type { ExtractedFact } from './extractor.js';

/** Marks replaced values in facts, as summaries do, and drops facts whose value does not hold any more. */
export async function presentFacts(
  facts: readonly ExtractedFact[],
  sources: readonly TextSource[],
  maybe_yield: CooperativeYield,
): Promise<ExtractedFact[]> {
  const corrections = new Map<string, Correction[]>();
  for (const { source, sentences } of (await readTurns(sources, maybe_yield)).turns)
    for (const { correction } of sentences) {
      const { id } = sources[source]!;
      if (correction) corrections.set(id, [...(corrections.get(id) ?? []), correction]);
    }
  const place = new Map(sources.map(({ id }, at) => [id, at]));
  const present: ExtractedFact[] = [];
  for (const fact of facts) {
    await maybe_yield();
    const own = fact.type === 'Code' ? [] : fact.source_ids.flatMap((id) => corrections.get(id) ?? []);
    // A later fact of the same slot replaces it when it is stored.
    const now = own.length === 0 || isFollowed(fact, facts, place) ? fact : corrected(fact, own, sources);
    if (now) present.push(now);
  }
  return withoutRepeated(present);
}

/** Drops the facts that say what a corrected one says. */
function withoutRepeated(facts: readonly ExtractedFact[]): ExtractedFact[] {
  const plain = ({ content }: ExtractedFact): string =>
    content
      .replace(MARK, '')
      .replace(/[.!]+$/, '')
      .toLowerCase();
  const corrected = facts.filter(({ content }) => MARK.test(content)).map((fact) => ({ fact, said: plain(fact) }));
  return facts.filter((one) => !corrected.some(({ fact, said }) => fact !== one && said === plain(one)));
}
const MARK = / \((?:since [\d-]+; )?before: [^)]*\)/;

function isFollowed(fact: ExtractedFact, facts: readonly ExtractedFact[], place: ReadonlyMap<string, number>): boolean {
  if (fact.slot === '') return false;
  const placeOf = ({ source_ids }: ExtractedFact): number => place.get(source_ids[0]!) ?? 0;
  return facts.some((one) => one.subject === fact.subject && one.slot === fact.slot && placeOf(one) > placeOf(fact));
}

/** Undefined if it does not hold any more. */
function corrected(
  fact: ExtractedFact,
  corrections: readonly Correction[],
  sources: readonly TextSource[],
): ExtractedFact | undefined {
  let { content, value } = fact;
  const source_ids = new Set(fact.source_ids);
  for (const { text, old, replaced, by } of corrections) {
    if (text === undefined && old.some((one) => content.includes(one))) return undefined;
    for (const one of replaced) {
      if (!content.includes(one.old.text)) continue;
      content = content.replace(one.old.text, () => marked(one));
      value = value.replace(one.old.text, () => one.now);
      source_ids.add(sources[by]!.id);
    }
  }
  if (content === fact.content) return fact;
  return { ...fact, content, value, title: titleOf(content), source_ids: [...source_ids] };
}
