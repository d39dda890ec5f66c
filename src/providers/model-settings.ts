/** Settings of a model endpoint, validated. */
import { z } from 'zod';
import { text } from '../kernel/contract.js';
import { parseAs } from '../kernel/index.js';

export const modelSettings = z.strictObject({
  kind: z.enum(['openai-compatible', 'anthropic']).describe('Protocol of the endpoint'),
  base_url: z
    .url({ protocol: /^https?$/, error: 'must be an http or https address' })
    .describe('Base URL with the version, such as https://host/v1'),
  model: text(200, 1).describe('Name of the model'),
  api_key: text(1000, 1).optional().describe('API key, if the endpoint needs one'),
  timeout_ms: z.int().min(1).max(600_000).default(30_000).describe('Timeout of one call, including retries'),
  max_retries: z.int().min(0).max(10).default(2).describe('Retries after a failed attempt'),
  max_input_tokens: z.int().min(500).max(1_000_000).default(24_000).describe('Most input tokens of one call'),
  max_output_tokens: z.int().min(50).max(100_000).default(4096).describe('Most output tokens of one extraction'),
  structured_outputs: z.boolean().default(true).describe('Set to false for an endpoint that refuses a JSON schema'),
});

export type ModelSettingsInput = z.input<typeof modelSettings>;
export type ModelSettings = z.output<typeof modelSettings>;

export const parseModelSettings = (value: unknown): ModelSettings => parseAs(modelSettings, value, 'model settings');
