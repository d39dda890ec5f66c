/** What a tool answers: the Api's answer as text and as data; a refusal as a result that says so, never as a crash. */
import type { Api, ApiByName } from '../api/index.js';
import { CairnError } from '../kernel/index.js';
import { outline } from './outline.js';
import type { CallToolResult } from './sdk.js';
import { type Defaults, type OperationAsTool, withDefaults } from './tools.js';

export interface Calling {
  readonly api: Api;
  readonly defaults: Defaults;
  readonly log: (line: string) => void;
}

export async function answer(
  { api, defaults, log }: Calling,
  operation: OperationAsTool,
  given: Readonly<Record<string, unknown>>,
  signal: AbortSignal,
): Promise<CallToolResult> {
  try {
    const method = (api as unknown as ApiByName)[operation.group]![operation.verb]!;
    return success(operation, await method(withDefaults(operation, given, defaults), { signal }));
  } catch (error) {
    return refusal(operation, error, log);
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

/** A model reads the text and can do better next time; programs decide by the code in `_meta`. */
function refusal({ name }: OperationAsTool, error: unknown, log: Calling['log']): CallToolResult {
  const known =
    error instanceof CairnError
      ? error
      : new CairnError('INTERNAL', 'a defect in Cairn: the log of this server has the details');
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
