/** Answers that are posted back: a create with an id that is there is the same if it says all that is answered of it. */
import type { z } from 'zod';
import type { Json } from '../../kernel/contract.js';
import { canonical } from '../../kernel/node.js';
import { readLeniently } from '../contract/lenient-input.js';

/** Whether a create was given the answer of what has its id: read as an input, the answer says the same. */
export function isAnswerOf(schema: z.ZodType, answer: object, input: object): boolean {
  const read = schema.safeParse(readLeniently(schema, answer));
  return read.success && canonical(read.data as Json) === canonical(input as Json);
}
