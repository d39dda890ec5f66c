/** Workers whose server goes away, and whose answers are lost on the way. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openCairn, runWorker, type WorkerTurn } from '#cairn/cairndb.js';
import { connectCairn } from '#cairn/client/index.js';
import { deliverableOf, endOf, launch } from '../support/nouns/turns.js';
import { sleep, stablePort, startServer, until } from '../support/server.js';
import { freshDatabase, openTarget, type TestStore } from '../support/targets.js';

const retry = { first_ms: 10, longest_ms: 100 };

describe('a worker whose answers are lost', () => {
  let test: TestStore;
  beforeAll(async () => {
    test = await openTarget('http');
  });
  afterAll(() => test.close());

  /** Lets each of these paths be done, and loses its first answer. */
  async function losing(...ends: string[]) {
    const left = new Set(ends);
    const lost: string[] = [];
    const fetchAndLose: typeof fetch = async (input, init) => {
      const answer = await fetch(input, init);
      const end = new URL(String(input)).pathname.split('/').at(-1)!;
      const claimedNothing = end === 'claim' && (await answer.clone().text()).includes('"agent_turn":null');
      if (claimedNothing || !left.delete(end)) return answer;
      lost.push(end);
      throw new TypeError('terminated');
    };
    const { key } = await test.cairn.keys.create({ role: 'write' });
    return { client: connectCairn({ url: test.url!, key, fetch: fetchAndLose }), lost };
  }

  it('WORK-9 asks again under the same key: nothing is done twice, and nothing is left lying', async () => {
    const steps = ['claim', 'hydrate', 'append', 'cards', 'fork_join', 'renew', 'complete'];
    const { client, lost } = await losing(...steps);
    const { cairn } = test;
    let calls = 0;
    const handle = async (turn: WorkerTurn) => {
      calls++;
      await turn.append([{ content: 'once' }]);
      await turn.api.cards.add({ content: 'a card' });
      const task = { target_strategy: 'new', target_ref: 'helper', instruction: 'help' } as const;
      const { results } = await turn.forkJoin([task]);
      while (!lost.includes('renew')) await sleep(20);
      return String(results[0]!.deliverable);
    };
    const worker = runWorker(client, { profile: 'writer', lease_ms: 1500, retry, handle });
    const helper = runWorker(cairn, { profile: 'helper', retry, handle: () => 'helped' });
    await launch(cairn, 'helper', 'first');
    const id = await launch(cairn, 'writer', 'work');
    expect(await deliverableOf(cairn, id)).toBe('helped');
    await Promise.all([worker.stop(), helper.stop()]);
    expect(lost.sort()).toEqual([...steps].sort());
    expect(calls).toBe(1);
    const ended = await endOf(cairn, id);
    expect(ended).toMatchObject({ attempts: 1, turn_epoch: 1 });
    const { cards } = await cairn.boxes.cards({ box_id: ended.output_box_id });
    expect(cards.map(({ content }) => content)).toEqual(['once', 'helped']);
    expect((await cairn.agent_turns.list({ parent_agent_turn_id: id })).agent_turns).toHaveLength(1);
    const all = (await cairn.cards.list()).cards.filter(({ content }) => content === 'a card');
    expect(all).toHaveLength(1);
    await client.close();
  });

  it('WORK-9 fails a turn once, also when that answer is lost', async () => {
    const { client, lost } = await losing('fail');
    const errors: unknown[] = [];
    const on_error = (error: unknown) => errors.push(error);
    const handle = () => {
      throw new Error('no');
    };
    const worker = runWorker(client, { profile: 'failing', retry, on_error, handle });
    const id = await launch(test.cairn, 'failing', 'work');
    expect(await endOf(test.cairn, id)).toMatchObject({ status: 'failed', error: { message: 'no' } });
    await worker.stop();
    expect(lost).toEqual(['fail']);
    expect(errors).toMatchObject([{ message: 'no' }, { code: 'SERVER_UNREACHABLE' }]);
    await client.close();
  });
  it('WORK-9 is told by its own clock when the lease is over, with nobody to ask', async () => {
    const { cairn, url } = test;
    const { key } = await cairn.keys.create({ role: 'write' });
    let gone = false;
    const fetchUntil: typeof fetch = (input, init) =>
      gone ? Promise.reject(new TypeError('fetch failed')) : fetch(input, init);
    const client = connectCairn({ url: url!, key, fetch: fetchUntil });
    const reasons: unknown[] = [];
    const handle = async ({ signal }: WorkerTurn) => {
      gone = true;
      await new Promise((resolve) => signal.addEventListener('abort', resolve));
      reasons.push(signal.reason);
      return 'too late';
    };
    const worker = runWorker(client, { profile: 'cut-off', lease_ms: 300, retry, handle });
    const id = await launch(cairn, 'cut-off', 'work');
    await until('the end of the lease', () => reasons.length > 0);
    expect(reasons).toMatchObject([{ code: 'STALE_TURN' }]);
    const next = runWorker(cairn, { profile: 'cut-off', retry, handle: () => 'by the next' });
    expect(await deliverableOf(cairn, id)).toBe('by the next');
    await Promise.all([worker.stop(), next.stop()]);
    await client.close();
  });
});

describe('a worker whose server is killed', () => {
  it('WORK-9 goes on when it comes back, without losing its turn', async () => {
    const { database, drop } = await freshDatabase('sqlite');
    const port = await stablePort();
    const first = await startServer({ database, port });
    const client = connectCairn({ url: first.url });
    const errors: { code?: string }[] = [];
    let second: Awaited<ReturnType<typeof startServer>> | undefined;
    const handle = async (turn: WorkerTurn) => {
      await turn.append([{ content: 'before' }]);
      if (second === undefined) {
        await first.end('SIGKILL');
        const appended = turn.append([{ content: 'meanwhile' }]);
        second = await startServer({ database, port });
        await appended;
      }
      return turn.signal.aborted ? 'lost' : 'done';
    };
    const on_error = (error: unknown) => errors.push(error as { code?: string });
    const worker = runWorker(client, { profile: 'writer', retry, on_error, handle });
    const id = await launch(client, 'writer', 'work');
    let ended: unknown;
    while (ended === undefined) ended = await deliverableOf(client, id).catch(() => sleep(50));
    expect(ended).toBe('done');
    expect(errors).toContainEqual(expect.objectContaining({ code: 'SERVER_UNREACHABLE' }));
    expect(await endOf(client, id)).toMatchObject({ attempts: 1, turn_epoch: 1 });
    await worker.stop();
    await client.close();
    await second!.end('SIGTERM');
    await drop();
  });
});

describe('a worker whose store is closed', () => {
  it('WORK-10 ends', async () => {
    const { database, drop } = await freshDatabase('sqlite');
    const cairn = await openCairn({ database });
    const worker = runWorker(cairn, { profile: 'writer', handle: () => 'never' });
    const ended = expect(worker.done).rejects.toMatchObject({ code: 'SHUTTING_DOWN' });
    await sleep(20);
    await cairn.close();
    await ended;
    await drop();
  });
});
