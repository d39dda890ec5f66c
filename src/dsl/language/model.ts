/** Sources on the wire: syntax trees and mistakes. */
import { z } from 'zod';
import { text } from '../../kernel/contract.js';
import { MAX_SOURCE, type MistakeCode, UNITS } from '../syntax/ast.js';

export const source = text(MAX_SOURCE, 1).describe('Definitions in the language of Cairn');

const position = {
  line: z.int().describe('Line, from 1'),
  column: z.int().describe('Column, from 1, in UTF-16 code units'),
};

const CODES = [
  'syntax',
  'unknown_kind',
  'unknown_field',
  'missing_field',
  'duplicate',
  'type_mismatch',
  'invalid_value',
  'invalid_duration',
  'undefined_reference',
  'circular_dependency',
  'limit',
] as const satisfies readonly MistakeCode[];

export const mistake = z
  .object({
    ...position,
    message: z.string().describe('What is wrong and what to write'),
    code: z.enum(CODES).describe('Kind of the mistake'),
    expected: z.array(z.string()).optional().describe('What would fit here'),
    suggestion: z.string().optional().describe('The text to write instead'),
  })
  .meta({ id: 'SourceMistake' });

const value: z.ZodType<ShownValue> = z
  .discriminatedUnion('type', [
    z.object({ type: z.literal('text'), value: z.string(), ...position }),
    z.object({ type: z.literal('number'), value: z.number(), ...position }),
    z.object({ type: z.literal('boolean'), value: z.boolean(), ...position }),
    z.object({ type: z.literal('null'), ...position }),
    z.object({
      type: z.literal('duration'),
      value: z.int(),
      unit: z.enum(Object.keys(UNITS) as [keyof typeof UNITS]).describe('Unit of time'),
      ...position,
    }),
    z.object({ type: z.literal('name'), value: z.string().describe('A bare word'), ...position }),
    z.object({ type: z.literal('list'), items: z.array(z.lazy(() => value)), ...position }),
    z.object({
      type: z.literal('object'),
      fields: z.array(z.lazy(() => field)).describe('In the order of the source'),
      ...position,
    }),
  ])
  .meta({ id: 'SourceValue' });

const field: z.ZodType<ShownField> = z
  .object({ name: z.string(), value: z.lazy(() => value), ...position })
  .meta({ id: 'SourceField' });

interface At {
  line: number;
  column: number;
}

export type ShownValue = At &
  (
    | { type: 'text' | 'name'; value: string }
    | { type: 'number'; value: number }
    | { type: 'boolean'; value: boolean }
    | { type: 'null' }
    | { type: 'duration'; value: number; unit: keyof typeof UNITS }
    | { type: 'list'; items: ShownValue[] }
    | { type: 'object'; fields: ShownField[] }
  );

export interface ShownField extends At {
  name: string;
  value: ShownValue;
}

const ast = z
  .object({
    definitions: z
      .array(
        z.object({
          kind: z.string(),
          name: z.string().nullable().describe('Null for settings'),
          extends: z.string().nullable().describe('The definition whose fields it takes over'),
          fields: z.array(field).describe('In the order of the source'),
          ...position,
        }),
      )
      .describe('In the order of the source'),
    comments: z.array(z.object({ text: z.string(), ...position })).describe('In the order of the source'),
  })
  .meta({ id: 'SourceTree' });

export const parsedSource = z
  .object({
    valid: z.boolean().describe('True if there are no errors'),
    errors: z.array(mistake).describe('By position, at most 100'),
    ast: ast.nullable().describe('Null if the source has syntax errors'),
  })
  .meta({ id: 'ParsedSource' });
export type ParsedSource = z.output<typeof parsedSource>;
