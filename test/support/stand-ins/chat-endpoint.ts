/** A stand-in for an OpenAI-compatible endpoint: calls the first tool it is offered, then says what it was shown. */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

interface Shown {
  readonly messages: readonly {
    readonly role: string;
    readonly content: string | null;
    readonly tool_calls?: readonly { readonly id: string }[];
    readonly tool_call_id?: string;
  }[];
  readonly tools: readonly { readonly function: { readonly name: string } }[];
}

/** As strict as the real ones: a result follows its call, or it is 400. */
function replyTo({ messages, tools }: Shown): { status: number; body: object } {
  const last = messages.at(-1)!;
  if (last.role !== 'tool') {
    const call = { id: 'call_1', type: 'function', function: { name: tools[0]!.function.name, arguments: '{}' } };
    return { status: 200, body: { role: 'assistant', content: null, tool_calls: [call] } };
  }
  const asked = messages.at(-2)?.tool_calls?.some(({ id }) => id === last.tool_call_id);
  if (!asked) return { status: 400, body: { error: 'a tool message must follow its call' } };
  const system = messages.find(({ role }) => role === 'system')?.content ?? '';
  const known = system.split('\n').at(-1);
  return { status: 200, body: { role: 'assistant', content: `Free: ${last.content}. Known: ${known}` } };
}

export async function chatEndpoint(): Promise<{ url: string; close(): Promise<void> }> {
  const server = createServer(async (request, response) => {
    let text = '';
    for await (const chunk of request) text += chunk;
    const { status, body } = replyTo(JSON.parse(text) as Shown);
    response.writeHead(status, { 'content-type': 'application/json' });
    response.end(JSON.stringify(status === 200 ? { choices: [{ message: body }] } : body));
  });
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
  const { port } = server.address() as AddressInfo;
  return { url: `http://127.0.0.1:${port}/v1`, close: () => new Promise((closed) => server.close(() => closed())) };
}
