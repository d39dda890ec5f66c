/** Query parameters are text: they become what the operation's input says they are. */
import { z } from 'zod';
import type { NamedOperation } from '../api/contract.js';

type Convert = (value: string) => unknown;

const toNumber: Convert = (value) => (/^-?\d+(\.\d+)?$/.test(value) ? Number(value) : value);
const toBoolean: Convert = (value) => (value === 'true' ? true : value === 'false' ? false : value);

const toObject: Convert = (value) => {
  try {
    return JSON.parse(value);
  } catch {
    return value;
  }
};

function convertersOf(operation: NamedOperation): ReadonlyMap<string, Convert> {
  const converters = new Map<string, Convert>();
  for (const [name, schema] of Object.entries(operation.input.shape)) {
    const { type } = z.toJSONSchema(schema as z.ZodType, { io: 'input', unrepresentable: 'any' });
    if (type === 'integer' || type === 'number') converters.set(name, toNumber);
    if (type === 'boolean') converters.set(name, toBoolean);
    if (type === 'object') converters.set(name, toObject);
  }
  return converters;
}

/** What fits no conversion is left as text, which the operation then refuses by name. */
export function queryReader(operation: NamedOperation): (query: Record<string, unknown>) => Record<string, unknown> {
  // Made by the first request that has a query, so that a server starts without those of all operations.
  let converters: ReadonlyMap<string, Convert> | undefined;
  return (query) => {
    // Not by assignment, in which a parameter named __proto__ would vanish instead of being refused.
    return Object.fromEntries(
      Object.entries(query).map(([name, value]) => {
        converters ??= convertersOf(operation);
        const convert = converters.get(name);
        return [name, convert && typeof value === 'string' ? convert(value) : value];
      }),
    );
  };
}
