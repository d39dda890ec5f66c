/** JSON for files: two spaces, the members of a schema in its order, free ones by name. The same value, the same bytes. */
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
    // A member may be called __proto__, which an assignment would take for something else.
    Object.defineProperty(made, name, { value: member, enumerable: true });
  }
  return made;
}

function unwrapped(schema: z.ZodType | undefined): z.ZodType | undefined {
  let inner = schema;
  while (inner instanceof z.ZodOptional || inner instanceof z.ZodDefault) inner = inner.unwrap() as z.ZodType;
  return inner;
}
