/** A stand-in for a model endpoint on this machine, in the style of OpenAI, that answers as it is told. */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

export type Behaviour = 'hangs' | 'fails' | 'nonsense' | { readonly says: string };

export interface StandIn {
  readonly base_url: string;
  asked: number;
  behaviour: Behaviour;
  close(): Promise<void>;
}

export async function startStandIn(behaviour: Behaviour): Promise<StandIn> {
  const server = createServer((request, response) => {
    request.resume();
    request.on('end', () => {
      standIn.asked++;
      const now = standIn.behaviour;
      if (now === 'hangs') return;
      if (now === 'fails') {
        response.writeHead(500, { 'content-type': 'application/json' }).end('{"error":{"message":"no"}}');
        return;
      }
      if (now === 'nonsense') {
        response.writeHead(200, { 'content-type': 'application/json' }).end('<p>not what was asked for</p>');
        return;
      }
      const message = { role: 'assistant', content: now.says };
      const choices = [{ index: 0, message, finish_reason: 'stop' }];
      const usage = { prompt_tokens: 10, completion_tokens: 5, total_tokens: 15 };
      const answer = { id: 'x', object: 'chat.completion', created: 1, model: 'stand-in', choices, usage };
      response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(answer));
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const standIn: StandIn = {
    base_url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`,
    asked: 0,
    behaviour,
    close: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
  return standIn;
}
