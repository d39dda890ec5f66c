/** Results of tool calls: an answer as text and data; an error as a result with `isError`. */
import type { Api, ApiByName } from '../api/index.js';
import { CairnError } from '../kernel/index.js';
import { outline } from './outline.js';
import type { CallToolResult } from './sdk.js';
import { type Defaults, type OperationAsTool, withDefaults } from './tools.js';

export interface ToolContext {
  readonly api: Api;
  readonly defaults: Defaults;
  readonly log: (line: string) => void;
}

export async function callTool(
  { api, defaults, log }: ToolContext,
  operation: OperationAsTool,
  given: Readonly<Record<string, unknown>>,
  signal: AbortSignal,
): Promise<CallToolResult> {
  try {
    const method = (api as unknown as ApiByName)[operation.group]![operation.verb]!;
    return success(operation, await method(withDefaults(operation, given, defaults), { signal }));
  } catch (error) {
    return failure(operation, error, log);
  }
}

function success({ mcp }: OperationAsTool, answered: unknown): CallToolResult {
  if (typeof answered !== 'object' || answered === null)
    return { content: [{ type: 'text', text: answered === undefined ? 'Done.' : outline(answered) }] };
  return {
    content: [{ type: 'text', text: mcp.text?.(answered) ?? outline(answered) }],
    structuredContent: answered as Record<string, unknown>,
  };
}

/** The text is for the model; programs use the code in `_meta`. */
function failure({ name }: OperationAsTool, error: unknown, log: ToolContext['log']): CallToolResult {
  const known =
    error instanceof CairnError
      ? error
      : new CairnError('INTERNAL', 'internal error: the log of this server has the details');
  if (known.status >= 500) log(`${name} failed: ${known.status === 500 ? stackOf(error) : known.message}`);
  const { code, message, details } = known;
  const others = ((details?.errors as string[] | undefined) ?? []).slice(1);
  return {
    isError: true,
    content: [{ type: 'text', text: [`${code}: ${message}`, ...others].join('\n') }],
    _meta: { 'cairn/error': { code, message, ...(details ? { details } : {}) } },
  };
}

const stackOf = (error: unknown): string => (error instanceof Error && error.stack) || String(error);
