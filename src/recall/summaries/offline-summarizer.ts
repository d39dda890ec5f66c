/** Summarises without a model. */
import { givingWay } from '../../kernel/index.js';
import { offlineCost } from '../../providers/index.js';
import { countTokens } from '../../text/index.js';
import { extractiveSummary } from './extractive-summary.js';
import { recurringStatements } from './recurring-statements.js';
import type { Summarizer, Summary, SummaryRequest } from './summarizer.js';

export const offlineSummarizer: Summarizer = {
  name: 'offline',
  async summarize(request, { signal } = {}) {
    const started = performance.now();
    signal?.throwIfAborted();
    const made = request.level === 'L2' ? await principles(request, signal) : await sentencesOf(request, signal);
    return { ...made, cost: offlineCost(started) };
  },
};

type Made = Pick<Summary, 'text' | 'source_ids'>;

async function sentencesOf({ sources, max_tokens }: SummaryRequest, signal?: AbortSignal): Promise<Made> {
  const { text, source_ids } = await extractiveSummary(sources, {
    max_tokens,
    count: countTokens,
    give_way: givingWay(signal),
  });
  return { text, source_ids };
}

/** What recurs, the most widespread first, as many as fit. */
async function principles({ sources, max_tokens }: SummaryRequest, signal?: AbortSignal): Promise<Made> {
  const recurring = await recurringStatements(sources, { give_way: givingWay(signal) });
  let text = '';
  const cited = new Set<string>();
  for (const { text: statement, source_ids } of recurring) {
    const longer = `${text}${text === '' ? '' : '\n'}- ${statement}`;
    if ((await countTokens(longer)) > max_tokens) continue;
    text = longer;
    for (const id of source_ids) cited.add(id);
  }
  return { text, source_ids: sources.map(({ id }) => id).filter((id) => cited.delete(id)) };
}
