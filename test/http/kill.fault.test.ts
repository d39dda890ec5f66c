/** The real server is killed under load, again and again; and stopped as an operator stops it. */
import { Agent, request } from 'node:http';
import { connect } from 'node:net';
import { expect, it } from 'vitest';
import { connectCairn } from '#cairn/client/index.js';
import { audit, illnesses, survey } from '../support/inspect/audit.js';
import { Follower } from '../support/inspect/follower.js';
import { Ledger, runLoad } from '../support/inspect/load.js';
import { type ServerProcess, sleep, stablePort, startServer, until } from '../support/server.js';
import { freshDatabase } from '../support/targets.js';

const KILLS = 15;
const CLIENTS = 16;

/** Numbers that come again with the same seed. */
function seeded(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

it(`SIGKILL under load ${KILLS} times: what was acknowledged is there, the store is healthy, the stream is whole`, async () => {
  const seed = Number(process.env.CAIRN_TEST_SEED ?? Date.now() % 1_000_000);
  console.log(`seed ${seed} (CAIRN_TEST_SEED)`);
  const random = seeded(seed);
  const { database, drop } = await freshDatabase('sqlite');
  const port = await stablePort();
  const ledger = new Ledger();
  const box_ids = ['a', 'b'];

  let server: ServerProcess = await startServer({ database, port });
  const client = connectCairn({ url: server.url });
  for (const box_id of box_ids) await client.boxes.create({ box_id });
  const follower = new Follower(client);

  for (let kill = 0; kill < KILLS; kill++) {
    const stop = new AbortController();
    const name = `kill-${kill}`;
    const load = runLoad([client], { clients: CLIENTS, name, box_ids, ledger, stop: stop.signal });
    // However slow the machine is, some writes are acknowledged before each kill.
    await until('writes', () => ledger.acknowledged > 2 * kill + 1);
    await sleep(random() * 300);
    const killed = server.end('SIGKILL');
    stop.abort();
    await Promise.all([killed, load]);

    server = await startServer({ database, port });
    expect(audit(await survey(database), ledger), `after kill ${kill}, seed ${seed}`).toEqual([]);
    expect(await illnesses(database), `after kill ${kill}, seed ${seed}`).toEqual([]);
  }

  const { head } = await survey(database);
  expect(await follower.endAt(head)).toEqual([]);
  expect(follower.seqs.length).toBe(head);
  expect(ledger.acknowledged).toBeGreaterThan(KILLS);
  console.log(`${ledger.steps.size} writes asked for, ${ledger.acknowledged} acknowledged, ${head} packets`);
  await client.close();
  expect(await server.end('SIGTERM')).toEqual({ code: 0, signal: null });
  await drop();
});

interface Answer {
  readonly mark: string;
  /** undefined when the connection broke before an answer began. */
  readonly status?: number;
  readonly whole: boolean;
}

/** One request on the wire, of which it is known whether the answer came whole. */
function post(url: string, agent: Agent, mark: string): Promise<Answer> {
  return new Promise((resolve) => {
    const sent = request(
      `${url}/api/v1/memory/packet`,
      { method: 'POST', agent, headers: { 'content-type': 'application/json' } },
      (response) => {
        const status = response.statusCode!;
        let body = '';
        response.setEncoding('utf8').on('data', (chunk) => (body += chunk));
        response.on('error', () => undefined);
        response.on('close', () => resolve({ mark, status, whole: response.complete && isJson(body) }));
      },
    );
    sent.on('error', () => resolve({ mark, whole: true }));
    sent.end(JSON.stringify({ packet_type: 'load', payload: { mark } }));
  });
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

it('SIGTERM under load: ends with 0, and what was answered is answered whole and kept', async () => {
  const { database, drop } = await freshDatabase('sqlite');
  for (let round = 0; round < 3; round++) {
    const server = await startServer({ database });
    const agent = new Agent({ keepAlive: true });
    const follower = connectCairn({ url: server.url });
    const streaming = new Follower(follower);
    // One who sends nothing, and those who send half a request: none of them may keep the server from ending.
    const head = 'POST /api/v1/memory/packet HTTP/1.1\r\nHost: localhost\r\n';
    const body = `${head}Content-Type: application/json\r\nContent-Length: 100\r\n\r\n{`;
    const strangers = round === 0 ? ['', head, body] : ['', head];
    const sockets = strangers.map((text) => {
      const socket = connect(Number(new URL(server.url).port), '127.0.0.1').on('error', () => undefined);
      socket.write(text);
      return socket;
    });

    const answers: Answer[] = [];
    let stopping = false;
    const clients = Array.from({ length: CLIENTS }, async (_, i) => {
      for (let n = 0; ; n++) {
        const answer = await post(server.url, agent, `${round}/${i}/${n}`);
        answers.push(answer);
        if (stopping && answer.status === undefined) return;
      }
    });
    await sleep(250);
    stopping = true;
    expect(await server.end('SIGTERM')).toEqual({ code: 0, signal: null });
    await Promise.all(clients);
    agent.destroy();
    for (const socket of sockets) socket.destroy();
    await follower.close();

    expect(answers.filter(({ whole }) => !whole)).toEqual([]);
    const statuses = new Set(answers.map(({ status }) => status));
    for (const status of statuses) expect([201, 503, undefined]).toContain(status);
    expect(statuses).toContain(201);
    const ledger = new Ledger();
    for (const { mark, status } of answers) ledger.steps.set(mark, { step: 'packet', acknowledged: status === 201 });
    const found = await survey(database);
    expect(audit(found, ledger)).toEqual([]);
    expect(streaming.seqs).toEqual(found.seqs.slice(0, streaming.seqs.length));
  }
  expect(await illnesses(database)).toEqual([]);
  await drop();
});
