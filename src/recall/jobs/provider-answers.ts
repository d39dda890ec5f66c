/** Validates the answers of summarizers and extractors, each field read once: only valid parts are used. */
import { costFrom, memberOf, PlainFailure, plainReason } from '../../providers/index.js';
import { countTokens, LONGEST_TOKEN } from '../../text/index.js';
import type { ExtractedFact, Extraction, ExtractionRequest } from '../extraction/extractor.js';
import type { Summary, SummaryRequest } from '../summaries/summarizer.js';

/** More facts of one stretch of turns are junk. */
const MAX_FACTS = 200;
const MAX_TYPE = 100;
/** Longest title, subject and slot. */
const MAX_FIELD = 10_000;
const MAX_SOURCE_IDS = 10_000;

/** The common members of all answers. */
export function readAnswer(answer: unknown, provider: unknown): Pick<Summary, 'cost' | 'fallback_reason'> {
  const reason = memberOf(answer, 'fallback_reason');
  const cost = costFrom(memberOf(answer, 'cost'), memberOf(provider, 'name'));
  return { cost, ...(typeof reason === 'string' ? { fallback_reason: plainReason(reason) } : {}) };
}

const isText = (value: unknown, max: number): value is string =>
  typeof value === 'string' && value.length <= max && value.isWellFormed() && !value.includes('\u0000');

/** Whether a card can hold it, as JSON and with empty metadata. */
const fits = (text: string, max_bytes: number): boolean =>
  Buffer.byteLength(JSON.stringify(text)) + '{}'.length <= max_bytes;

export async function readSummary(
  answer: unknown,
  { sources, max_tokens }: SummaryRequest,
  max_bytes: number,
): Promise<Pick<Summary, 'text' | 'source_ids'>> {
  const text = memberOf(answer, 'text');
  if (typeof text !== 'string') throw new PlainFailure('the summary is not a text');
  // Counting the tokens of an oversized text would take too long.
  if (text.length > max_tokens * LONGEST_TOKEN || text.length > max_bytes)
    throw new PlainFailure(`the summary has ${text.length} characters, too many for ${max_tokens} tokens`);
  if (!isText(text, max_bytes) || !fits(text, max_bytes))
    throw new PlainFailure('the summary is not a text that can be stored');
  const tokens = await countTokens(text);
  if (tokens > max_tokens) throw new PlainFailure(`the summary has ${tokens} tokens, more than ${max_tokens}`);
  return { text: text.trim() === '' ? '' : text, source_ids: idsAmong(memberOf(answer, 'source_ids'), sources) };
}

/** The ids without duplicates; refuses ids that are not among the sources. */
function idsAmong(ids: unknown, sources: readonly { readonly id: string }[]): string[] {
  const known = new Set<unknown>(sources.map(({ id }) => id));
  // Bounded: a hostile list may claim any length.
  const count = Array.isArray(ids) ? ids.length : Number.POSITIVE_INFINITY;
  const own = count <= MAX_SOURCE_IDS ? Array.from({ length: count }, (_, i) => memberOf(ids, String(i))) : [null];
  if (own.some((id) => !known.has(id))) throw new PlainFailure('it names sources that it was not given');
  return [...new Set(own as string[])];
}

export function readFacts(
  answer: unknown,
  { sources }: ExtractionRequest,
  max_bytes: number,
): Pick<Extraction, 'facts'> {
  const facts = memberOf(answer, 'facts');
  if (!Array.isArray(facts)) throw new PlainFailure('the facts are not a list');
  const count = Math.min(facts.length, MAX_FACTS);
  return { facts: Array.from({ length: count }, (_, i) => factOf(memberOf(facts, String(i)), sources, max_bytes)) };
}

function factOf(answer: unknown, sources: ExtractionRequest['sources'], max_bytes: number): ExtractedFact {
  const [kind, type, title, content, confidence] = ['kind', 'type', 'title', 'content', 'confidence'].map((name) =>
    memberOf(answer, name),
  );
  const [subject = '', slot = '', value = ''] = ['subject', 'slot', 'value'].map((name) => memberOf(answer, name));
  const negated = memberOf(answer, 'negated') ?? false;
  const named = (text: unknown, max: number): text is string => isText(text, max) && text !== '';
  if (
    (kind !== 'note' && kind !== 'artifact') ||
    !named(type, MAX_TYPE) ||
    !named(title, MAX_FIELD) ||
    !named(content, max_bytes) ||
    !fits(content, max_bytes) ||
    typeof confidence !== 'number' ||
    !(confidence >= 0 && confidence <= 1)
  )
    throw new PlainFailure('a fact has no valid kind, type, title, content or confidence');
  if (
    !isText(subject, MAX_FIELD) ||
    !isText(slot, MAX_FIELD) ||
    !isText(value, max_bytes) ||
    typeof negated !== 'boolean'
  )
    throw new PlainFailure('a fact has no valid subject, slot, value or negated');
  const source_ids = idsAmong(memberOf(answer, 'source_ids'), sources);
  if (source_ids.length === 0) throw new PlainFailure('a fact names no source');
  const [happens_at, language] = ['happens_at', 'language'].map((name) => memberOf(answer, name));
  const optional = {
    ...(named(happens_at, MAX_TYPE) ? { happens_at } : {}),
    ...(named(language, MAX_TYPE) ? { language } : {}),
  };
  return { kind, type, title, content, confidence, source_ids, subject, slot, value, negated, ...optional };
}
