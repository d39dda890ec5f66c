/** The entries of the table with `mcp`, as tools for a model. */
import { z } from 'zod';
import { allOperations, type NamedOperation } from '../api/contract.js';
import type { Tool } from '../engine/contract.js';
import { inputSchemaOf } from '../engine/contract.js';
import type { ToolDescription } from './sdk.js';

export type OperationAsTool = NamedOperation & { readonly mcp: Tool };

/** Defaults for members of inputs, such as the trajectory of an editor. */
export type Defaults = Readonly<Record<string, string>>;

export const toolsIn = (table: readonly NamedOperation[] = allOperations): readonly OperationAsTool[] =>
  table.filter((operation): operation is OperationAsTool => operation.mcp !== undefined);

type ObjectSchema = ToolDescription['inputSchema'];

type Part = { type?: unknown; anyOf?: unknown; additionalProperties?: unknown };

/** Rewrites part of a schema for clients that accept only one `type` at a time. */
function portable(part: Part | null, io: 'input' | 'output'): unknown {
  if (part === null || typeof part !== 'object') return part;
  const { type, additionalProperties, ...rest } = part;
  return {
    ...(Array.isArray(type) ? { anyOf: type.map((one) => ({ type: one })) } : type !== undefined && { type }),
    ...rest,
    // A newer server may answer with more members.
    ...(additionalProperties !== undefined &&
      !(io === 'output' && additionalProperties === false) && { additionalProperties }),
  };
}

/** A schema as JSON. A named schema is a reference to a definition: it is replaced by the definition. */
function toJson(schema: object, io: 'input' | 'output'): Partial<ObjectSchema> {
  const text = JSON.stringify(schema);
  // Without `$schema`, JSON Schema 2020-12 applies, as it should.
  const { $schema, $ref, $defs, ...rest } = JSON.parse(text, (_, part) =>
    Array.isArray(part) ? part : portable(part, io),
  ) as { $schema?: string; $ref?: string; $defs?: Record<string, object> };
  if ($ref === undefined || !$defs) return { ...rest, ...($defs && { $defs }) };
  const { [$ref.slice('#/$defs/'.length)]: root, ...others } = $defs;
  const kept = JSON.stringify($defs).includes(`"${$ref}"`) ? $defs : others;
  return { ...rest, ...root, ...(Object.keys(kept).length > 0 && { $defs: kept }) };
}

function toolInput(operation: OperationAsTool, defaults: Defaults): ObjectSchema {
  const { required = [], ...schema } = toJson(inputSchemaOf(operation), 'input');
  const filled = operation.mcp.place?.filter((name) => name in defaults) ?? [];
  return { ...schema, type: 'object', required: required.filter((name) => !filled.includes(name)) };
}

/** Only object schemas: clients from before 2026 accept no others. */
function outputSchemaOf({ output }: OperationAsTool): { outputSchema?: ObjectSchema } {
  const schema = toJson(z.toJSONSchema(output, { io: 'output', unrepresentable: 'any' }), 'output');
  return schema.type === 'object' ? { outputSchema: { ...schema, type: 'object' } } : {};
}

export function describeTool(operation: OperationAsTool, defaults: Defaults): ToolDescription {
  const { mcp, summary, access, event, method } = operation;
  const isReadOnly = access === 'read' && event === null;
  return {
    name: mcp.tool,
    title: `${mcp.tool[0]!.toUpperCase()}${mcp.tool.slice(1).replaceAll('_', ' ')}`,
    description: `${summary} ${mcp.use}`,
    inputSchema: toolInput(operation, defaults),
    ...outputSchemaOf(operation),
    annotations: {
      readOnlyHint: isReadOnly,
      // A change keeps earlier versions; only deleting and forgetting destroy.
      destructiveHint: method === 'DELETE' || mcp.destroys === true,
      idempotentHint: isReadOnly || method === 'DELETE' || method === 'PUT',
      openWorldHint: false,
    },
  };
}

/** The input of a model with defaults filled in. A scope already determines its trajectory. */
export function withDefaults(
  { mcp }: OperationAsTool,
  given: Readonly<Record<string, unknown>>,
  defaults: Defaults,
): Record<string, unknown> {
  const input: Record<string, unknown> = { ...mcp.unless_given, ...given };
  if (given.scope_id !== undefined) return input;
  for (const name of mcp.place ?? []) if (name in defaults) input[name] ??= defaults[name];
  return input;
}
