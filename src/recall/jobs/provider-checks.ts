/** Validates providers of the caller's own when the store is opened, for callers without a compiler. */
import { invalid } from '../../kernel/index.js';
import type { Embedder } from '../../providers/index.js';
import type { ProviderOptions } from './providers.js';

interface Own extends ProviderOptions {
  readonly embedder?: Embedder | undefined;
}

/** The method that each kind must have. */
const METHODS = { embedder: 'embed', summarizer: 'summarize', extractor: 'extract' } as const;
const MAX_NAME = 200;

/** Refuses a provider by the field that is wrong: later it would only show as work that is never done. */
export function checkProviders(options: Own): void {
  for (const [kind, method] of Object.entries(METHODS)) {
    const provider: unknown = options[kind as keyof typeof METHODS];
    if (provider === undefined) continue;
    if (typeof provider !== 'object' || provider === null)
      refuse(kind, `must be an object with \`name\` and \`${method}\`, or be left out`);
    const { name, [method]: run } = provider as Record<string, unknown>;
    if (typeof name !== 'string' || name.trim() === '' || name.length > MAX_NAME)
      refuse(
        `${kind}.name`,
        `must be a text of 1 to ${MAX_NAME} characters, such as the id of the model: it tells whose work is whose`,
      );
    if (typeof run !== 'function') refuse(`${kind}.${method}`, 'must be a function');
  }
  const { dimensions, batch_size, weight } = options.embedder ?? {};
  const isCount = (value: unknown) => Number.isInteger(value) && (value as number) > 0;
  if (dimensions !== undefined && !isCount(dimensions)) refuse('embedder.dimensions', 'must be an integer ≥ 1');
  if (batch_size !== undefined && !isCount(batch_size)) refuse('embedder.batch_size', 'must be an integer ≥ 1');
  if (weight !== undefined && !(typeof weight === 'number' && weight >= 0 && weight < 1e6))
    refuse('embedder.weight', 'must be a number ≥ 0');
}

function refuse(field: string, rule: string): never {
  throw invalid(`\`${field}\` ${rule}`);
}
