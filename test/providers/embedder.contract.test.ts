/** The embedder over HTTP, against a stand-in on loopback; and how the command is told of one. */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { describe, expect, it } from 'vitest';
import { httpEmbedder } from '#cairn/providers/embedder.js';
import { cairn, inFolder } from '../support/run.js';
import { DIMENSIONS, type StandIn, startEmbedder, vectorOf } from '../support/stand-ins/embedder.js';

const KEY = 'sk-very-secret';
const ask = { signal: new AbortController().signal, kind: 'document' } as const;

async function withStandIn(work: (standIn: StandIn) => Promise<void>): Promise<void> {
  const standIn = await startEmbedder();
  await work(standIn).finally(() => standIn.close());
}

/** A server that answers as it is told, and what it was asked. */
async function answering(
  answers: readonly ((response: ServerResponse) => void)[],
  work: (url: string, requests: IncomingMessage[]) => Promise<void>,
): Promise<void> {
  const requests: IncomingMessage[] = [];
  const server = createServer((request, response) => {
    request.resume();
    answers[Math.min(requests.push(request), answers.length) - 1]!(response);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  try {
    await work(`http://127.0.0.1:${(server.address() as AddressInfo).port}`, requests);
  } finally {
    server.closeAllConnections();
    server.close();
  }
}

const json = (value: unknown) => (response: ServerResponse) => void response.end(JSON.stringify(value));
const status =
  (code: number, headers: Record<string, string> = {}) =>
  (response: ServerResponse) =>
    void response.writeHead(code, headers).end(`what you sent was ${KEY}`);
const vector = { data: [{ index: 0, embedding: [1, 2] }] };

const failureOf = async (work: Promise<unknown>) =>
  work.then(
    () => expect.unreachable('it did not fail'),
    (error: Error & { refused: boolean }) => error,
  );

describe('the embedder over HTTP', () => {
  it('EMB-2 asks in batches, and gives the vectors in the order of the texts', () =>
    withStandIn(async (standIn) => {
      const embedder = httpEmbedder({ url: `${standIn.url}/`, model: 'm', key: KEY, batch_size: 2 });
      const texts = ['a hound', 'a ship', 'a car', 'glad', 'a physician'];
      const vectors = await embedder.embed(texts, ask);
      expect(vectors.map((one) => [...one])).toEqual(texts.map(vectorOf));
      expect(vectors[0]).toHaveLength(DIMENSIONS);
      expect(standIn.requests).toBe(3);
      expect([...standIn.keys]).toEqual([`Bearer ${KEY}`]);
    }));

  it('EMB-3 tries again what is busy or broken, a few times, and waits as long as it is told', () =>
    answering([status(503), status(429, { 'retry-after': '0' }), json(vector)], async (url, requests) => {
      expect(await httpEmbedder({ url, model: 'm' }).embed(['x'], ask)).toEqual([Float32Array.of(1, 2)]);
      expect(requests).toHaveLength(3);
    }));

  it.each([
    ['is broken', status(500), 2, 'answered 500', false],
    ['wants no more for long', status(429, { 'retry-after': '3600' }), 1, 'answered 429', false],
    ['knows no such key', status(401), 1, 'answered 401', false],
    ['refuses the text', status(413), 1, 'answered 413', true],
    ['sends on to another', status(307, { location: 'http://127.0.0.1:1/' }), 2, 'cannot be reached', false],
    ['gives no JSON', (response: ServerResponse) => void response.end('<html>'), 1, 'not JSON', false],
    ['gives null', json(null), 1, 'did not answer with 1 vectors', false],
    ['gives too few', json({ data: [] }), 1, 'did not answer with 1 vectors', false],
    ['gives no numbers', json({ data: [{ embedding: ['1', '2'] }] }), 1, 'no vector', false],
    ['gives an empty vector', json({ data: [{ embedding: [] }] }), 1, 'no vector', false],
    ['numbers wrongly', json({ data: [{ index: 3, embedding: [1, 2] }] }), 1, 'wrongly', false],
    ['gives other dimensions', json({ data: [{ embedding: [1, 2, 3] }] }), 1, 'other than 2 dimensions', false],
  ])('EMB-3, EMB-10 says in its own words that one %s', async (_, answer, asked, words, refused) => {
    await answering([answer], async (url, requests) => {
      const embedder = httpEmbedder({ url, model: 'm', key: KEY, dimensions: 2, attempts: 2 });
      const failure = await failureOf(embedder.embed(['x'], ask));
      expect(failure.message).toContain(words);
      expect(failure.refused).toBe(refused);
      expect(`${failure.stack} ${JSON.stringify(failure)} ${String(failure.cause)}`).not.toContain(KEY);
      expect(requests).toHaveLength(asked);
    });
  });

  it('EMB-3 gives up at its time, and when it is told to', () =>
    answering([() => undefined], async (url) => {
      const slow = httpEmbedder({ url, model: 'm', timeout_ms: 50, attempts: 1 });
      expect((await failureOf(slow.embed(['x'], ask))).message).toContain('in time');
      const signal = AbortSignal.timeout(50);
      const patient = httpEmbedder({ url, model: 'm' });
      expect((await failureOf(patient.embed(['x'], { ...ask, signal }))).message).toContain('in time');
    }));

  it('EMB-10 refuses a URL that is none', () => {
    for (const url of ['', 'api.example', 'file:///etc/passwd'])
      expect(() => httpEmbedder({ url, model: 'm' })).toThrow(/must begin with http/);
  });
});

describe('the environment', () => {
  it('EMB-10 gives one to the command: `embed` makes the vectors, a search finds by them', () =>
    withStandIn((standIn) =>
      inFolder(async (cwd) => {
        const env = { CAIRN_EMBEDDER_URL: standIn.url, CAIRN_EMBEDDER_MODEL: 'm', CAIRN_EMBEDDER_KEY: KEY };
        await cairn(['cards', 'add', '--content', '"a hound"'], { cwd });
        const made = await cairn(['embed'], { cwd, env });
        expect(made).toEqual({ code: 0, stdout: 'embedded 1 documents with m\n', stderr: '' });
        const found = await cairn(['search', 'query', '--query', 'canine'], { cwd, env });
        expect(found.stdout).toContain('a hound');
        const none = await cairn(['embed'], { cwd });
        expect(none).toMatchObject({ code: 1, stdout: '' });
        expect(none.stderr).toContain('set CAIRN_EMBEDDER_URL');
        expect([...standIn.keys]).toEqual([`Bearer ${KEY}`]);
      }),
    ));
});
