/** How a model endpoint is reached, and how much it may take. */
import { z } from 'zod';
import { text } from '../kernel/contract.js';
import { parseAs } from '../kernel/index.js';

export const modelSettings = z.strictObject({
  kind: z.enum(['openai-compatible', 'anthropic']).describe('Which protocol the endpoint speaks'),
  base_url: z
    .url({ protocol: /^https?$/, error: 'must be an http or https address' })
    .describe('With the version, as in https://host/v1'),
  model: text(200, 1),
  api_key: text(1000, 1).optional().describe('None unless the endpoint wants one'),
  timeout_ms: z.int().min(1).max(600_000).default(30_000).describe('For a question, with all its attempts'),
  max_retries: z.int().min(0).max(10).default(2),
  max_input_tokens: z.int().min(500).max(1_000_000).default(24_000).describe('For one question'),
  max_output_tokens: z.int().min(50).max(100_000).default(4096).describe('For one answer of extracted facts'),
  structured_outputs: z
    .boolean()
    .default(true)
    .describe('False for an endpoint that refuses a JSON schema in its requests'),
});

export type ModelSettingsInput = z.input<typeof modelSettings>;
export type ModelSettings = z.output<typeof modelSettings>;

export const parseModelSettings = (value: unknown): ModelSettings =>
  parseAs(modelSettings, value, 'model settings');
