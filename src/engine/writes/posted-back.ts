/** Answers that are posted back: a create with an existing id succeeds if its input equals the entity's answer. */
import type { z } from 'zod';
import type { Json } from '../../kernel/contract.js';
import { canonical } from '../../kernel/node.js';
import { readLeniently } from '../contract/lenient-input.js';

/** Whether the answer of an entity, parsed as the input of a create, equals `input`. */
export function equalsAnswer(schema: z.ZodType, answer: object, input: object): boolean {
  const read = schema.safeParse(readLeniently(schema, answer));
  return read.success && canonical(read.data as Json) === canonical(input as Json);
}
