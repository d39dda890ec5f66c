/** The fields of a result: collects them from cards, describes them in the prompt, checks a deliverable. */
import type { z } from 'zod';
import type { Json } from '../../kernel/contract.js';
import { isObject } from '../../kernel/index.js';
import type { Card } from '../cards/model.js';
import { fieldsSchema } from '../cards/rules.js';

type ResultField = z.output<typeof fieldsSchema>[number];

/** The fields of all task.result_fields cards; a repeated name replaces the earlier field in place. */
export function resultFields(cards: readonly Pick<Card, 'content' | 'metadata'>[]): ResultField[] {
  const fields = new Map<string, ResultField>();
  for (const { content, metadata } of cards) {
    if (metadata.type !== 'task.result_fields') continue;
    // Parsed again: a message whose metadata names this type was not checked when it was written.
    for (const field of fieldsSchema.safeParse(content).data ?? []) fields.set(field.name, field);
  }
  return [...fields.values()];
}

/** A part of the system prompt; empty without fields. */
export function describeFields(fields: readonly ResultField[]): string {
  if (fields.length === 0) return '';
  return ['The result has these fields:', ...fields.map(fieldLine)].join('\n');
}

function fieldLine({ name, required, description }: ResultField): string {
  const line = `- ${name} (${required ? 'required' : 'optional'})`;
  // Continuation lines are indented, so that none looks like a field.
  return description ? `${line}: ${description.replaceAll('\n', '\n  ')}` : line;
}

/** The required fields that a deliverable lacks. A text has no fields. */
export function checkDeliverable(fields: readonly ResultField[], deliverable: Json): string[] {
  const has = (name: string) => isObject(deliverable) && Object.hasOwn(deliverable, name);
  return fields.filter(({ name, required }) => required && !has(name)).map(({ name }) => name);
}
