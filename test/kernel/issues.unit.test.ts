/** What is wrong with an input, in words that say what to do. */
import { expect, it } from 'vitest';
import { z } from 'zod';
import { describeIssues } from '#cairn/kernel/issues.js';

const kind = z.discriminatedUnion('type', [z.object({ type: z.literal('a') }), z.object({ type: z.literal('b') })]);

it.each<[string, z.ZodType, unknown]>([
  ['must not be empty', z.string().min(1), ''],
  ['must not be empty', z.array(z.string()).min(1), []],
  ['must have at least 2 characters', z.string().min(2), 'a'],
  ['must have at most 1,000 characters', z.string().max(1000), 'a'.repeat(1001)],
  ['must have at most 1 item', z.array(z.string()).max(1), ['a', 'b']],
  ['must be at least 1', z.int().min(1), 0],
  ['must be at most 5', z.int().max(5), 6],
  ['must be more than 0', z.number().gt(0), 0],
  ['must be a number, not text', z.int(), 'abc'],
  ['must be a whole number, not a fraction', z.int(), 1.5],
  ['must be an object, not a list', z.record(z.string(), z.string()), []],
  ['must be true or false, not text', z.boolean(), 'yes'],
  ['must be text, not null', z.string(), null],
  ['must be a or b', z.enum(['a', 'b']), 'c'],
  ['is required', z.string(), undefined],
  ['what the schema says', z.string().min(5, 'what the schema says'), ''],
])('%s', (told, schema, value) => {
  const { error } = z.object({ field: schema }).safeParse({ field: value });
  expect(describeIssues(error!)).toEqual([`field: ${told}`]);
});

it('names where in a union it does not fit', () => {
  const { error } = z.object({ field: kind }).safeParse({ field: { type: 'c' } });
  expect(describeIssues(error!)).toEqual(['field.type: must be a or b']);
});
