/** Operations on sources that need no tenant: validate, parse and format. */
import { z } from 'zod';
import { operation } from '../../engine/contract.js';
import { parsedSource, source } from './model.js';

const computes = {
  method: 'POST',
  input: z.strictObject({ source }),
  access: 'read',
  touches: 'nothing',
  event: null,
} as const;

const EXAMPLE = { source: 'agent Coder { capabilities: [write_code] }' };

export const language = {
  validate: operation({
    ...computes,
    path: '/api/v1/dsl/validate',
    output: parsedSource,
    summary: 'Check a source: syntax, fields, values, references and cycles.',
    example: EXAMPLE,
  }),
  parse: operation({
    ...computes,
    path: '/api/v1/dsl/parse',
    output: parsedSource,
    summary: 'Parse a source into its syntax tree, without checking what its definitions mean.',
    example: EXAMPLE,
  }),
  format: operation({
    ...computes,
    path: '/api/v1/dsl/format',
    output: z.object({
      source: z.string().describe('The canonical form'),
      changed: z.boolean().describe('False if it was formatted already'),
    }),
    summary: 'Write a source in its canonical form, with its comments.',
    example: EXAMPLE,
  }),
};
