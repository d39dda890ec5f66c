/** Summarises with a model endpoint. */
import { cooperativeYield } from '../../kernel/index.js';
import { ModelEndpoint, type ModelSettings, modelFailure } from '../../providers/index.js';
import { countTokens, unitsOf } from '../../text/index.js';
import { extractiveSummary } from './extractive-summary.js';
import { modelDigest } from './model-digest.js';
import { MATERIAL_RULES, markedSources } from './model-material.js';
import type { Summarizer, SummaryRequest } from './summarizer.js';

const TASKS = {
  L1: 'Summarise the sources: what was decided, found out, done, asked for and left open, and who it concerns.',
  L2: 'The sources come from different tasks. State, as a short list, only the principles that hold in two or more of them.',
} as const;

export function modelSummarizer(settings: ModelSettings): Summarizer {
  const endpoint = new ModelEndpoint(settings);
  return {
    name: endpoint.name,
    async summarize(request, { signal } = {}) {
      if (request.digest) return modelDigest(endpoint, request, settings, signal);
      const { max_tokens, sources, level = 'L1' } = request;
      const { value: text, cost } = await endpoint.ask(
        {
          instructions: `${TASKS[level]} ${MATERIAL_RULES} Answer with the text alone, without a heading, in at most ${Math.floor(max_tokens * 0.7)} words.`,
          material: await materialOf(request, settings.max_input_tokens, signal),
          // The model counts tokens differently, and reasoning takes some.
          max_output_tokens: Math.ceil(max_tokens * 1.5) + 200,
          read: (answer) => fitted(answer, max_tokens),
        },
        signal,
      );
      return { text, source_ids: [...new Set(sources.map(({ id }) => id))], cost };
    },
  };
}

/** Sources that exceed the input limit are reduced to an extractive summary first. */
async function materialOf({ sources }: SummaryRequest, max_tokens: number, signal?: AbortSignal): Promise<string> {
  const all = markedSources(sources)
    .map(({ text }) => text)
    .join('\n');
  if ((await countTokens(all)) <= max_tokens) return all;
  const { text } = await extractiveSummary(sources, {
    max_tokens,
    count: countTokens,
    maybe_yield: cooperativeYield(signal),
  });
  return `<source>\n${text}\n</source>`;
}

/** The whole sentences of an answer that fit. */
async function fitted(answer: string, max_tokens: number): Promise<string> {
  if (!/\p{L}/u.test(answer)) throw modelFailure('nonsense', 'answered with no text');
  if ((await countTokens(answer)) <= max_tokens) return answer;
  let end = 0;
  let kept = '';
  for (const { text } of unitsOf(answer)) {
    const last = text.split('\n').at(-1)!;
    const at = answer.indexOf(last, end);
    // A unit joined from several lines is not found verbatim: the cut is then at the one before.
    if (at < 0) continue;
    end = at + last.length;
    const longer = answer.slice(0, end);
    if ((await countTokens(longer)) > max_tokens) break;
    kept = longer;
  }
  if (kept === '') throw modelFailure('nonsense', `answered with no sentence of at most ${max_tokens} tokens`);
  return kept;
}
