/** Summarises by a model endpoint. */
import { givingWay } from '../../kernel/index.js';
import { ModelEndpoint, type ModelSettings, modelFailure } from '../../providers/index.js';
import { countTokens, unitsOf } from '../../text/index.js';
import { extractiveSummary } from './extractive-summary.js';
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
      const { max_tokens, sources, level = 'L1' } = request;
      const { value: text, cost } = await endpoint.ask(
        {
          instructions: `${TASKS[level]} ${MATERIAL_RULES} Answer with the text alone, without a heading, in at most ${Math.floor(max_tokens * 0.7)} words.`,
          material: await materialOf(request, settings.max_input_tokens, signal),
          // Its tokens are not ours, and thinking takes some as well.
          max_output_tokens: Math.ceil(max_tokens * 1.5) + 200,
          read: (answer) => fitted(answer, max_tokens),
        },
        signal,
      );
      return { text, source_ids: [...new Set(sources.map(({ id }) => id))], cost };
    },
  };
}

/** What is too much for one question is first brought down to its most telling sentences. */
async function materialOf({ sources }: SummaryRequest, max_tokens: number, signal?: AbortSignal): Promise<string> {
  const all = markedSources(sources)
    .map(({ text }) => text)
    .join('\n');
  if ((await countTokens(all)) <= max_tokens) return all;
  const { text } = await extractiveSummary(sources, { max_tokens, count: countTokens, give_way: givingWay(signal) });
  return `<source>\n${text}\n</source>`;
}

/** As many whole sentences as the budget holds. */
async function fitted(answer: string, max_tokens: number): Promise<string> {
  if (!/\p{L}/u.test(answer)) throw modelFailure('nonsense', 'answered with no text');
  if ((await countTokens(answer)) <= max_tokens) return answer;
  let end = 0;
  let kept = '';
  for (const { text } of unitsOf(answer)) {
    const last = text.split('\n').at(-1)!;
    const at = answer.indexOf(last, end);
    // What was joined from several lines is not found as it stands: the cut is then made at the one before.
    if (at < 0) continue;
    end = at + last.length;
    const longer = answer.slice(0, end);
    if ((await countTokens(longer)) > max_tokens) break;
    kept = longer;
  }
  if (kept === '') throw modelFailure('nonsense', `answered with no sentence of at most ${max_tokens} tokens`);
  return kept;
}
