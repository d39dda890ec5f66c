/** `cairn mcp` as clients see it: the official client on a process of its own, or bare lines in and out. */
import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { type CallToolResult, Client } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { ROOT } from './run.js';

const CAIRN = join(ROOT, 'bin/cairn.js');

export interface Connected {
  readonly client: Client;
  readonly pid: number;
  call(name: string, input?: Record<string, unknown>): Promise<CallToolResult>;
}

export interface McpOptions {
  readonly cwd: string;
  readonly args?: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
  /** A revision that the client insists on; the handshake of before 2026 unless given. */
  readonly revision?: string;
}

export async function connectMcp({ cwd, args = [], env = {}, revision }: McpOptions): Promise<Connected> {
  const transport = new StdioClientTransport({
    command: process.execPath,
    args: [CAIRN, 'mcp', ...args],
    env: { PATH: process.env.PATH ?? '', ...env },
    cwd,
    // Its log is for whoever starts it; what it does is told by its answers.
    stderr: 'ignore',
  });
  const client = new Client(
    { name: 'test', version: '1.0.0' },
    revision === undefined ? {} : { versionNegotiation: { mode: { pin: revision } } },
  );
  await client.connect(transport);
  return { client, pid: transport.pid!, call: (name, input = {}) => client.callTool({ name, arguments: input }) };
}

/** Runs work with a client, whose process ends with it. */
export async function withMcp<T>(options: McpOptions, work: (mcp: Connected) => Promise<T>): Promise<T> {
  const connected = await connectMcp(options);
  try {
    return await work(connected);
  } finally {
    await connected.client.close();
  }
}

/** The text of an answer. */
export const textOf = ({ content }: CallToolResult): string =>
  content.map((block) => (block.type === 'text' ? block.text : `(${block.type})`)).join('\n');

export interface BareAnswer {
  readonly id: number;
  readonly result?: CallToolResult & Record<string, unknown>;
  readonly error?: { readonly code: number; readonly message: string };
}

/** A handshake and calls, written in one go; then its input ends, or a signal comes once the first call is answered. */
export async function sayToMcp(
  cwd: string,
  calls: readonly { name: string; arguments: Record<string, unknown> }[],
  signal?: NodeJS.Signals,
): Promise<{ code: number | null; answers: BareAnswer[]; stderr: string }> {
  const child = spawn(process.execPath, [CAIRN, 'mcp'], { cwd, env: { PATH: process.env.PATH ?? '' } });
  const ended = new Promise<number | null>((done, reject) => {
    child.once('error', reject);
    child.once('close', done);
  });
  let stdout = '';
  let stderr = '';
  child.stderr.on('data', (chunk) => {
    stderr += chunk;
  });
  child.stdout.on('data', (chunk) => {
    stdout += chunk;
    if (signal && stdout.split('\n').length > 2) child.kill(signal);
    signal = stdout.split('\n').length > 2 ? undefined : signal;
  });
  const clientInfo = { name: 'bare', version: '1.0.0' };
  const hello = { protocolVersion: '2025-11-25', capabilities: {}, clientInfo };
  const lines = [
    { id: 0, method: 'initialize', params: hello },
    { method: 'notifications/initialized' },
    ...calls.map((params, i) => ({ id: i + 1, method: 'tools/call', params })),
  ];
  child.stdin.write(lines.map((line) => `${JSON.stringify({ jsonrpc: '2.0', ...line })}\n`).join(''));
  if (!signal) child.stdin.end();
  const code = await ended;
  // Whatever is no message of the protocol fails here.
  const answers = stdout.split('\n').filter(Boolean);
  return { code, answers: answers.map((line) => JSON.parse(line) as BareAnswer), stderr };
}
