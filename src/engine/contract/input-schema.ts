/** The JSON Schema of an input as it is accepted, with null wherever null is read as absence. */
import { z } from 'zod';
import { isPatch, nullIsAbsence } from './lenient-input.js';
import { clearsByNull, type Operation } from './operation.js';

/** Marks the nullable members of an object until the whole schema exists. */
const MARK = 'x-nullable-members';

type Part = Record<string, unknown>;

const NULL = { type: 'null' };

/** Keywords that restrict a schema; without any of them, all values match. */
const RESTRICTIONS = ['type', 'enum', 'const', '$ref', 'anyOf', 'oneOf', 'allOf', 'not'];

export const takesNull = (part: Part): boolean =>
  !RESTRICTIONS.some((key) => key in part) ||
  [part.type].flat().includes('null') ||
  (Array.isArray(part.enum) && part.enum.includes(null)) ||
  (Array.isArray(part.anyOf) && part.anyOf.some((one: Part) => takesNull(one)));

function orNull(part: Part): Part {
  if (takesNull(part)) return part;
  const { description, ...rest } = part;
  const alternatives = Object.keys(rest).length === 1 && Array.isArray(rest.anyOf) ? rest.anyOf : [rest];
  return { ...(description === undefined ? {} : { description }), anyOf: [...alternatives, NULL] };
}

function withNulls(part: unknown): unknown {
  if (part === null || typeof part !== 'object' || !(MARK in part)) return part;
  const { [MARK]: names, ...rest } = part as Part;
  const properties = { ...(rest.properties as Record<string, Part>) };
  for (const name of names as string[]) properties[name] = orNull(properties[name]!);
  return { ...rest, properties };
}

/** With `patch`, null clears a member of the outermost object, if that member accepts it. */
export function inputSchema(schema: z.ZodType, patch = false): Part {
  const marked = z.toJSONSchema(schema, {
    io: 'input',
    unrepresentable: 'any',
    override: ({ zodSchema, jsonSchema, path }) => {
      const { def } = zodSchema._zod;
      if (def.type !== 'object' || isPatch(zodSchema) || (patch && path.length === 0)) return;
      const { shape } = def as z.core.$ZodObjectDef;
      const names = Object.keys(shape).filter((name) => nullIsAbsence(shape[name]!));
      if (names.length > 0) (jsonSchema as Part)[MARK] = names;
    },
  });
  return JSON.parse(JSON.stringify(marked), (_, part: unknown) => withNulls(part)) as Part;
}

export const inputSchemaOf = (operation: Operation): Part => inputSchema(operation.input, clearsByNull(operation));
