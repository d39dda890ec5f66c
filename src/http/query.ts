/** Query parameters: text, converted by the input schema of the operation. */
import { z } from 'zod';
import type { NamedOperation } from '../api/contract.js';

type Convert = (value: string) => unknown;

const toNumber: Convert = (value) => (/^-?\d+(\.\d+)?$/.test(value) ? Number(value) : value);

const converters: Readonly<Record<string, Convert>> = {
  integer: toNumber,
  number: toNumber,
  boolean: (value) => (value === 'true' ? true : value === 'false' ? false : value),
  object: (value) => {
    try {
      return JSON.parse(value);
    } catch {
      return value;
    }
  },
};

const convertersOf = (operation: NamedOperation): ReadonlyMap<string, Convert | undefined> =>
  new Map(
    Object.entries(operation.input.shape).map(([name, schema]) => {
      const { type } = z.toJSONSchema(schema as z.ZodType, { io: 'input', unrepresentable: 'any' });
      return [name, converters[String(type)]];
    }),
  );

/** A value that cannot be converted stays text, which the operation refuses by name. */
export function queryReader(operation: NamedOperation): (query: Record<string, unknown>) => Record<string, unknown> {
  // Built by the first request with a query: a server starts faster without those of all operations.
  let known: ReadonlyMap<string, Convert | undefined> | undefined;
  return (query) =>
    // Not by assignment: a parameter named __proto__ would vanish instead of being refused.
    Object.fromEntries(
      Object.entries(query).map(([name, value]) => {
        known ??= convertersOf(operation);
        const convert = known.get(name);
        return [name, convert && typeof value === 'string' ? convert(value) : value];
      }),
    );
}
