/** The official SDK, from where the build puts it: dist/vendor (ADR 18). */
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

/** Loaded when a server starts: it takes a fifth of a second, which no other command should pay. */
export async function loadSdk(): Promise<Sdk> {
  // Not literals: the folder is there only beside the build, and the compiler must not look for it.
  const at = (file: string): string => new URL(`../vendor/modelcontextprotocol/server/${file}`, import.meta.url).href;
  const [server, stdio] = await Promise.all([
    import(at('index.mjs')) as Promise<typeof SdkServer>,
    import(at('stdio.mjs')) as Promise<typeof SdkStdio>,
  ]);
  return { ...server, ...stdio };
}
