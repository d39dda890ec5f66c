/** A digest by a model: statements that cite their turns, each checked against these. */
import { z } from 'zod';
import {
  type ModelEndpoint,
  type ModelSettings,
  modelFailure,
  type ProviderCost,
  sumOfCosts,
} from '../../providers/index.js';
import { countTokens } from '../../text/index.js';
import { batchesOf, citedBy, isGrounded, jsonIn, MATERIAL_RULES, type MarkedSource } from './model-material.js';
import { wordCount } from './reading/clauses.js';
import type { Summary, SummaryRequest } from './summarizer.js';

const answerForm = z.object({
  statements: z.array(z.object({ text: z.string().min(3).max(2000), sources: z.array(z.string()).min(1) })),
});
type Statement = z.output<typeof answerForm>['statements'][number];

const task = (words: number): string =>
  `The conversation ends and will be erased. List what has to outlast it, as short statements in at most ${words} words altogether, the most important first: decisions, preferences, constraints, procedures, names, contacts, numbers, dates, places, causes, open tasks. Each statement stands alone: the subject of a question is filled in where the answer is short; a proposal that was agreed to is a decision. A value that was corrected is stated as it is now, followed by "(before: the old value)". Leave out greetings, acknowledgements, jokes, anecdotes, and ideas that were not taken up. ${MATERIAL_RULES} Cite every source that a statement rests on. Answer with JSON alone: {"statements":[{"text":"…","sources":["s1"]}]}`;

/** If fewer of the statements are in the turns that they cite, the answer is not used. */
const TRUE_SHARE = 0.5;
const MOST_WORDS = 2000;

export async function modelDigest(
  endpoint: ModelEndpoint,
  { sources, max_tokens, max_words = MOST_WORDS }: SummaryRequest,
  settings: Pick<ModelSettings, 'max_input_tokens'>,
  signal?: AbortSignal,
): Promise<Summary> {
  const batches = await batchesOf(sources, settings.max_input_tokens);
  const kept: { readonly text: string; readonly cited: readonly MarkedSource[] }[] = [];
  const costs: ProviderCost[] = [];
  for (const batch of batches) {
    const words = Math.ceil((max_words * batch.length) / sources.length);
    const { value, cost } = await endpoint.ask(
      {
        instructions: task(words),
        material: batch.map(({ text }) => text).join('\n'),
        max_output_tokens: max_tokens * 3 + 500,
        schema: answerForm,
        read: (answer) => trueStatements(answer, batch),
      },
      signal,
    );
    kept.push(...value);
    costs.push(cost);
  }
  const fitting = await fittingOf(kept, max_tokens, max_words);
  const cited = new Set(fitting.flatMap((one) => one.cited.map(({ source }) => source.id)));
  const [first, ...others] = costs;
  return {
    text: fitting.map(({ text }) => text).join('\n'),
    source_ids: sources.map(({ id }) => id).filter((id) => cited.delete(id)),
    cost: sumOfCosts(first!, ...others),
  };
}

function trueStatements(
  answer: string,
  batch: readonly MarkedSource[],
): { text: string; cited: readonly MarkedSource[] }[] {
  const parsed = answerForm.safeParse(jsonIn(answer));
  if (!parsed.success) throw modelFailure('nonsense', 'answered with something other than the requested statements');
  const { statements } = parsed.data;
  const byMark = new Map(batch.map((marked) => [marked.mark, marked]));
  const kept = statements.flatMap((one) => checked(one, byMark, batch) ?? []);
  if (kept.length === 0 || kept.length < statements.length * TRUE_SHARE)
    throw modelFailure('nonsense', 'answered with statements that the turns they cite do not make');
  return kept;
}

/** A statement whose words, names and numbers are in the turns that it cites, or in the questions before them. */
function checked(
  { text: raw, sources }: Statement,
  byMark: ReadonlyMap<string, MarkedSource>,
  batch: readonly MarkedSource[],
) {
  const text = raw.replace(/\s+/g, ' ').trim();
  const cited = citedBy(sources, byMark);
  const before = cited.flatMap((one) => batch[batch.indexOf(one) - 1] ?? []);
  const material = [...cited, ...before];
  if (cited.length === 0 || !isGrounded(text, material)) return undefined;
  // Without the marks and dates around the texts.
  const said = material
    .map(({ source }) => `${source.speaker ?? ''}\n${source.text}`)
    .join('\n')
    .toLowerCase();
  const numbers = new Set(said.match(/\d+/g));
  const names = [...text.matchAll(NAME)].map(([name]) => name.toLowerCase());
  const speakers = batch.map(({ source }) => source.speaker?.toLowerCase() ?? '').join('\n');
  const isTrue =
    (text.match(/\d+/g) ?? []).every((number) => numbers.has(number)) &&
    names.every((name) => said.includes(name) || speakers.includes(name));
  return isTrue ? { text, cited } : undefined;
}

/** A word with a capital inside a sentence, except "I". */
const NAME = /(?<=[\p{L}\p{N},;)] )(?!I\b)\p{Lu}[\p{L}\p{N}]+/gu;

async function fittingOf<S extends { readonly text: string }>(
  statements: readonly S[],
  max_tokens: number,
  max_words: number,
): Promise<S[]> {
  const fitting: S[] = [];
  let [tokens, words] = [0, 0];
  for (const one of statements) {
    // With the line break: the tokens of lines add up to at least those of the text.
    const cost = await countTokens(`${one.text}\n`);
    if (tokens + cost > max_tokens || words + wordCount(one.text) > max_words) continue;
    tokens += cost;
    words += wordCount(one.text);
    fitting.push(one);
  }
  return fitting;
}
