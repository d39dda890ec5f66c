/** The official MCP SDK. */
import type * as SdkServer from '@modelcontextprotocol/server';
import type * as SdkStdio from '@modelcontextprotocol/server/stdio';

export type {
  CallToolResult,
  JSONRPCMessage,
  Server,
  Tool as ToolDescription,
  Transport,
} from '@modelcontextprotocol/server';

export type Sdk = typeof SdkServer & typeof SdkStdio;

/** Loaded when a server starts: the SDK takes a fifth of a second, which no other command should pay. */
export async function loadSdk(): Promise<Sdk> {
  const [server, stdio] = await Promise.all([
    import('@modelcontextprotocol/server'),
    import('@modelcontextprotocol/server/stdio'),
  ]);
  return { ...server, ...stdio };
}
