/** A stand-in for an embedding endpoint, on loopback: it knows which words mean the same, and can misbehave. */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

export const DIMENSIONS = 64;

/** Words that mean the same have the same direction. */
const MEANINGS = [
  ['dog', 'puppy', 'canine', 'hound'],
  ['car', 'automobile', 'vehicle'],
  ['happy', 'glad', 'joyful'],
  ['doctor', 'physician'],
  ['boat', 'vessel', 'ship'],
];

const WORDS = /[\p{L}\p{N}]+/gu;
const EMPTY = new Set(['the', 'a', 'an', 'my', 'our', 'is', 'was', 'who', 'what', 'which', 'has', 'about', 'of', 'in']);

function directionOf(word: string): number {
  const meaning = MEANINGS.findIndex((words) => words.includes(word));
  if (meaning >= 0) return meaning;
  let hash = 7;
  for (const character of word) hash = (hash * 31 + character.codePointAt(0)!) >>> 0;
  return MEANINGS.length + (hash % (DIMENSIONS - MEANINGS.length));
}

export function vectorOf(text: string): number[] {
  const vector = Array<number>(DIMENSIONS).fill(0);
  for (const [word] of text.toLowerCase().matchAll(WORDS)) if (!EMPTY.has(word)) vector[directionOf(word)]! += 1;
  return vector;
}

export type Behaviour = 'well' | 'hangs' | 'fails' | 'nonsense' | 'fewer' | 'shorter' | 'refuses';

export interface StandIn {
  readonly url: string;
  behaves: Behaviour;
  /** Texts with this in them are refused, as too long ones are by some. */
  refuses: string | undefined;
  /** How many requests came, and every text that was embedded. */
  requests: number;
  readonly texts: string[];
  readonly keys: Set<string | undefined>;
  close(): Promise<void>;
}

async function bodyOf(request: IncomingMessage): Promise<{ model: string; input: string[] }> {
  const parts: Buffer[] = [];
  for await (const part of request) parts.push(part as Buffer);
  return JSON.parse(Buffer.concat(parts).toString()) as { model: string; input: string[] };
}

export async function startEmbedder(): Promise<StandIn> {
  const server = createServer((request, response) => void answer(request, response));
  const answer = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const { input } = await bodyOf(request);
    standIn.requests++;
    standIn.keys.add(request.headers.authorization);
    const { behaves, refuses } = standIn;
    const say = (status: number, value: unknown) =>
      response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(value));
    if (request.url !== '/v1/embeddings') return void say(404, {});
    if (behaves === 'hangs') return;
    if (behaves === 'fails') return void say(500, { error: 'broken' });
    if (behaves === 'refuses') return void say(400, { error: 'no' });
    if (refuses !== undefined && input.some((text) => text.includes(refuses))) return void say(400, {});
    if (behaves === 'nonsense') return void response.writeHead(200).end('<html>not what you think</html>');
    standIn.texts.push(...input);
    const data = input.map((text, index) => ({ index, embedding: vectorOf(text) }));
    if (behaves === 'fewer') data.pop();
    if (behaves === 'shorter') for (const item of data) item.embedding = item.embedding.slice(1);
    // In another order: what counts is the index.
    say(200, { object: 'list', data: data.reverse() });
  };
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const standIn: StandIn = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`,
    behaves: 'well',
    refuses: undefined,
    requests: 0,
    texts: [],
    keys: new Set(),
    close: () =>
      new Promise((resolve) => {
        server.closeAllConnections();
        server.close(() => resolve());
      }),
  };
  return standIn;
}
