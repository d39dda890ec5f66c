/** What summarises and extracts in a store: what was given, a model endpoint, or the offline way. */
import { extractFacts } from '../domain/extraction-rules.js';
import { extractiveSummary } from '../domain/extractive-summary.js';
import { recurringStatements } from '../domain/recurring-statements.js';
import type { Extractor } from '../provider/extractor.js';
import { givingWay } from '../provider/giving-way.js';
import type { Summarizer } from '../provider/summarizer.js';
import { countTokens } from '../provider/tokenizer.js';
import type { Providers } from './provider-calls.js';

export interface ProviderOptions {
  readonly summarizer?: Summarizer;
  readonly extractor?: Extractor;
}
const cost = {
  provider: 'offline',
  model: null,
  input_tokens: 0,
  output_tokens: 0,
  duration_ms: 0,
  attempts: 0,
};
const tmpS: Summarizer = {
  name: 'offline',
  async summarize({ sources, max_tokens, level }) {
    if (level === 'L2') {
      const all = await recurringStatements(sources, { give_way: givingWay() });
      return {
        text: all.map((one) => one.text).join('\n'),
        source_ids: [...new Set(all.flatMap((one) => one.source_ids))],
        cost,
      };
    }
    const { text, source_ids } = await extractiveSummary(sources, {
      max_tokens,
      count: countTokens,
      give_way: givingWay(),
    });
    return { text, source_ids, cost };
  },
};
const tmpE: Extractor = {
  name: 'offline',
  async extract({ sources, recalled }) {
    return {
      facts: await extractFacts(sources, { give_way: givingWay(), ...(recalled ? { recalled } : {}) }),
      cost,
    };
  },
};
export const providersOf = ({ summarizer, extractor }: ProviderOptions): Providers => ({
  summarizer: summarizer ?? tmpS,
  extractor: extractor ?? tmpE,
  offline: { summarizer: tmpS, extractor: tmpE },
});
