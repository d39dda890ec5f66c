/** The tools that a model is offered: those entries of the table that say so. */
import { z } from 'zod';
import { allOperations, type NamedOperation } from '../api/contract.js';
import type { Tool } from '../engine/contract.js';
import { inputSchemaOf } from '../engine/index.js';
import type { ToolDescription } from './sdk.js';

export type OperationAsTool = NamedOperation & { readonly mcp: Tool };

/** Where the caller works, by members of inputs: the trajectory of an editor, say. */
export type Defaults = Readonly<Record<string, string>>;

export const toolsIn = (table: readonly NamedOperation[] = allOperations): readonly OperationAsTool[] =>
  table.filter((operation): operation is OperationAsTool => operation.mcp !== undefined);

type ObjectSchema = ToolDescription['inputSchema'];

type Part = { type?: unknown; anyOf?: unknown; additionalProperties?: unknown };

/** Makes one part of a schema fit for clients that map it onto others, which often know one type at a time. */
function portable(part: Part | null, io: 'input' | 'output'): unknown {
  if (part === null || typeof part !== 'object') return part;
  const { type, additionalProperties, ...rest } = part;
  return {
    ...(Array.isArray(type) ? { anyOf: type.map((one) => ({ type: one })) } : type !== undefined && { type }),
    ...rest,
    // A server that is newer than this one may answer with more.
    ...(additionalProperties !== undefined &&
      !(io === 'output' && additionalProperties === false) && { additionalProperties }),
  };
}

/** A schema as JSON. One that has a name of its own stands among the definitions: here it is the whole. */
function toJson(schema: object, io: 'input' | 'output'): Partial<ObjectSchema> {
  const text = JSON.stringify(schema);
  // Without a dialect that of 2020-12 is meant, which it is.
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

/** Only an object can be promised: clients of before 2026 take no other. */
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
      // A change supersedes and leaves what was; only deletion takes something away.
      destructiveHint: method === 'DELETE',
      idempotentHint: isReadOnly || method === 'DELETE' || method === 'PUT',
      openWorldHint: false,
    },
  };
}

/** What a model sent, and where it works unless it said so. A scope says by itself in which trajectory it is. */
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
