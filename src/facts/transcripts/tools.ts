/** Converts tools of any known shape to the format of the model's API. */
import type { Json, JsonObject } from '../../kernel/contract.js';
import { isObject } from '../../kernel/index.js';
import type { PromptFormat } from './model.js';

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

function rendered(format: PromptFormat, tool: Json): Json {
  if (!isObject(tool)) return tool;
  const isOpenai = tool.type === 'function' && isObject(tool.function);
  const isAnthropic = isObject(tool.input_schema);
  const known = definitionIn(tool as JsonObject);
  // A tool in this format may have members that a conversion would lose.
  if ((format === 'openai' ? isOpenai : isAnthropic) || !known) return tool as JsonObject;
  const { name, description, parameters } = known;
  const about: JsonObject = description === undefined ? { name: name! } : { name: name!, description };
  const schema = schemaOf(parameters ?? known.input_schema);
  return format === 'openai'
    ? { type: 'function', function: { ...about, parameters: schema } }
    : { ...about, input_schema: schema };
}

/** The object with the name; undefined for an unknown shape, such as a tool that the provider runs. */
function definitionIn(tool: JsonObject): JsonObject | undefined {
  if (![undefined, 'function', 'custom'].includes(tool.type as string | undefined)) return undefined;
  const inner = isObject(tool.function) ? (tool.function as JsonObject) : tool;
  return typeof inner.name === 'string' ? inner : undefined;
}

/** Anthropic refuses a schema without `type: object`. */
const schemaOf = (schema: Json | undefined): JsonObject =>
  isObject(schema) ? { type: 'object', ...(schema as JsonObject) } : { type: 'object', properties: {} };
