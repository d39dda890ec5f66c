/** A stand-in for a model endpoint on the loopback: it answers as OpenAI and as Anthropic do, or as badly as it is told. */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

/** What the endpoint does with a request: a text to answer with, a status, or nothing at all. */
export type Behaviour =
  | { readonly text: string }
  | { readonly status: number; readonly headers?: Record<string, string> }
  | { readonly raw: string }
  | 'hang'
  | 'endless'
  | 'hang up';

/** What the tests look at of a request. */
export interface SeenBody {
  readonly [name: string]: unknown;
  readonly messages: readonly { readonly role: string; readonly content: string }[];
  readonly response_format?: { readonly type: string };
}

export interface SeenRequest {
  readonly path: string;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly body: SeenBody;
}

export interface ModelServer {
  readonly base_url: string;
  readonly requests: SeenRequest[];
  /** One for each request; the last holds for all that follow. */
  behave(...behaviours: Behaviour[]): void;
  close(): Promise<void>;
}

export async function startModelServer(): Promise<ModelServer> {
  const requests: SeenRequest[] = [];
  let behaviours: Behaviour[] = [];
  const server = createServer((request, response) => {
    void bodyOf(request).then((body) => {
      requests.push({ path: request.url!, headers: request.headers, body: body as SeenBody });
      answer(request, response, behaviours.length > 1 ? behaviours.shift()! : behaviours[0]!, body);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    base_url: `http://127.0.0.1:${port}/v1`,
    requests,
    behave(...next) {
      behaviours = next;
      requests.length = 0;
    },
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

async function bodyOf(request: IncomingMessage): Promise<unknown> {
  let text = '';
  for await (const chunk of request) text += chunk;
  return JSON.parse(text);
}

function answer(request: IncomingMessage, response: ServerResponse, behaviour: Behaviour, body: unknown): void {
  if (behaviour === 'hang') return;
  if (behaviour === 'hang up') {
    request.socket.destroy();
    return;
  }
  if (behaviour !== 'endless' && 'status' in behaviour) {
    const told = { error: { type: 'bad', message: `no, ${request.headers.authorization ?? ''}` }, type: 'error' };
    response.writeHead(behaviour.status, { 'content-type': 'application/json', ...behaviour.headers });
    response.end(JSON.stringify(told));
    return;
  }
  response.writeHead(200, { 'content-type': 'application/json' });
  if (behaviour === 'endless') {
    sendOn(response);
    return;
  }
  if ('raw' in behaviour) response.end(behaviour.raw);
  else if (request.url!.endsWith('/messages')) response.end(JSON.stringify(asAnthropic(behaviour.text, body)));
  else response.end(JSON.stringify(asOpenAi(behaviour.text)));
}

/** Until whoever reads it goes away. */
function sendOn(response: ServerResponse): void {
  const chunk = '"'.padEnd(1 << 18, 'x');
  while (!response.destroyed && response.write(chunk));
  if (!response.destroyed) response.once('drain', () => sendOn(response));
}

const asOpenAi = (text: string) => ({
  id: 'chat-1',
  object: 'chat.completion',
  created: 1_700_000_000,
  model: 'stand-in',
  choices: [{ index: 0, message: { role: 'assistant', content: text }, finish_reason: 'stop' }],
  usage: { prompt_tokens: 120, completion_tokens: 30, total_tokens: 150 },
});

/** Where the request has a tool for JSON, the answer is a call of it. */
function asAnthropic(text: string, body: unknown) {
  const { tools = [] } = body as { tools?: { name: string }[] };
  const call = tools.find(({ name }) => name === 'json');
  return {
    id: 'msg-1',
    type: 'message',
    role: 'assistant',
    model: 'stand-in',
    content: [
      call ? { type: 'tool_use', id: 'tool-1', name: 'json', input: JSON.parse(text) } : { type: 'text', text },
    ],
    stop_reason: call ? 'tool_use' : 'end_turn',
    stop_sequence: null,
    usage: { input_tokens: 120, output_tokens: 30 },
  };
}
