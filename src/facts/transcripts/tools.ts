/** Converts tools of any known shape to the format of the model's API. */
import type { Json, JsonObject } from '../../kernel/contract.js';
import { isObject } from '../../kernel/index.js';
import type { PromptFormat } from './model.js';

interface Tool {
  readonly name: string;
  readonly description: Json | undefined;
  readonly schema: Json | undefined;
}

/** A repeated name replaces the earlier tool in place. */
export function toolsFor(format: PromptFormat, lists: readonly (readonly Json[])[]): Json[] {
  const places = new Map<string, number>();
  const tools: Json[] = [];
  for (const tool of lists.flat()) {
    const name = nameOf(tool);
    const place = name === undefined ? undefined : places.get(name);
    if (name !== undefined && place === undefined) places.set(name, tools.length);
    tools[place ?? tools.length] = rendered(format, tool);
  }
  return tools;
}

/** Provider-defined tools have a name too, in a shape of their own. */
function nameOf(tool: Json): string | undefined {
  if (!isObject(tool)) return undefined;
  const name = isObject(tool.function) ? tool.function.name : tool.name;
  return typeof name === 'string' ? name : undefined;
}

function rendered(format: PromptFormat, given: Json): Json {
  if (!isObject(given)) return given;
  const isOpenai = given.type === 'function' && isObject(given.function);
  const isAnthropic = isObject(given.input_schema);
  // Already in this format: may have members that a conversion would lose.
  if (format === 'openai' ? isOpenai : isAnthropic) return given as JsonObject;
  const tool = read(given as JsonObject);
  if (!tool) return given as JsonObject;
  const about: JsonObject = tool.description === undefined ? {} : { description: tool.description };
  const schema = schemaOf(tool);
  return format === 'openai'
    ? { type: 'function', function: { name: tool.name, ...about, parameters: schema } }
    : { name: tool.name, ...about, input_schema: schema };
}

/** Undefined for an unknown shape, such as a tool that the provider runs. */
function read(tool: JsonObject): Tool | undefined {
  if (![undefined, 'function', 'custom'].includes(tool.type as string | undefined)) return undefined;
  const inner = isObject(tool.function) ? (tool.function as JsonObject) : tool;
  if (typeof inner.name !== 'string') return undefined;
  return { name: inner.name, description: inner.description, schema: inner.parameters ?? inner.input_schema };
}

/** Anthropic refuses a schema without `type: object`. */
function schemaOf({ schema }: Tool): JsonObject {
  if (!isObject(schema)) return { type: 'object', properties: {} };
  return { type: 'object', ...(schema as JsonObject) };
}
