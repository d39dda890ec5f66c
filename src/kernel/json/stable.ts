/** JSON for files: two spaces, members in the order of the schema, then others by name. Equal values, equal bytes. */
import { z } from 'zod';

export const stableJson = (schema: z.ZodType, value: unknown): string =>
  `${JSON.stringify(arranged(schema, value), null, 2)}\n`;

function arranged(schema: z.ZodType | undefined, value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value;
  const inner = unwrapped(schema);
  if (Array.isArray(value)) {
    const element = inner instanceof z.ZodArray ? (inner.element as z.ZodType) : undefined;
    return value.map((one) => arranged(element, one));
  }
  const shape: Readonly<Record<string, z.ZodType>> = inner instanceof z.ZodObject ? inner.shape : {};
  const others = inner instanceof z.ZodRecord ? (inner.valueType as z.ZodType) : undefined;
  const known = Object.keys(shape).filter((name) => Object.hasOwn(value, name));
  const free = Object.keys(value).filter((name) => !Object.hasOwn(shape, name));
  const made = {};
  for (const name of [...known, ...free.sort()]) {
    const member = arranged(
      Object.hasOwn(shape, name) ? shape[name] : others,
      (value as Record<string, unknown>)[name],
    );
    // An assignment to __proto__ would set the prototype.
    Object.defineProperty(made, name, { value: member, enumerable: true });
  }
  return made;
}

function unwrapped(schema: z.ZodType | undefined): z.ZodType | undefined {
  let inner = schema;
  while (inner instanceof z.ZodOptional || inner instanceof z.ZodDefault) inner = inner.unwrap() as z.ZodType;
  return inner;
}
