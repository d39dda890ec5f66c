/** Summarises without a model. */
import { cooperativeYield } from '../../kernel/index.js';
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
    const maybe_yield = cooperativeYield(signal);
    const { sources, max_tokens, max_words } = request;
    const { text, source_ids } =
      request.level === 'L2'
        ? await principles(request, await recurringStatements(sources, { maybe_yield }))
        : await extractiveSummary(sources, { max_tokens, max_words, count: countTokens, maybe_yield });
    return { text, source_ids, cost: offlineCost(started) };
  },
};

/** As many recurring statements as fit, the most widespread first. */
async function principles(
  { sources, max_tokens }: SummaryRequest,
  recurring: Awaited<ReturnType<typeof recurringStatements>>,
): Promise<Pick<Summary, 'text' | 'source_ids'>> {
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
