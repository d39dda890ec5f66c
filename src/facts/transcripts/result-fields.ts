/** The fields a result must have: what the cards ask for, how a model is told, and what a deliverable lacks. */
import type { z } from 'zod';
import type { Json } from '../../kernel/contract.js';
import { isObject } from '../../kernel/index.js';
import type { Card } from '../cards/model.js';
import { fieldsSchema } from '../cards/rules.js';

export type ResultField = z.output<typeof fieldsSchema>[number];

/** Of all task.result_fields cards; a name that comes again replaces the field where it stands. */
export function resultFields(cards: readonly Pick<Card, 'content' | 'metadata'>[]): ResultField[] {
  const fields = new Map<string, ResultField>();
  for (const { content, metadata } of cards) {
    if (metadata.type !== 'task.result_fields') continue;
    // Checked when the card was written, unless it came as a message whose metadata says so.
    for (const field of fieldsSchema.safeParse(content).data ?? []) fields.set(field.name, field);
  }
  return [...fields.values()];
}

/** As a part of the system prompt; empty without fields. */
export function describeFields(fields: readonly ResultField[]): string {
  if (fields.length === 0) return '';
  return ['The result has these fields:', ...fields.map(fieldLine)].join('\n');
}

function fieldLine({ name, required, description }: ResultField): string {
  const line = `- ${name} (${required ? 'required' : 'optional'})`;
  // Further lines are indented, so that none of them looks like a field.
  return description ? `${line}: ${description.replaceAll('\n', '\n  ')}` : line;
}

/** The names of required fields that a deliverable lacks. Text has no fields. */
export function checkDeliverable(fields: readonly ResultField[], deliverable: Json): string[] {
  const has = (name: string) => isObject(deliverable) && Object.hasOwn(deliverable, name);
  return fields.filter(({ name, required }) => required && !has(name)).map(({ name }) => name);
}
