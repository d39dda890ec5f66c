/** Workers, on whatever they reach Cairn by. */
import { afterEach, expect, it } from 'vitest';
import type { Api } from '#cairn/api/index.js';
import { runWorker, type WorkerOptions, type WorkerTurn } from '#cairn/runtime/index.js';
import { tenantOf } from '../support/nouns/hierarchy.js';
import { deliverableOf, endOf, launch, saveProfile } from '../support/nouns/turns.js';
import { until } from '../support/server.js';
import { onEveryTarget, refusalOf } from '../support/targets.js';

onEveryTarget('workers', (test) => {
  const workers: { stop(): Promise<void> }[] = [];
  const start = (cairn: Api, options: Partial<WorkerOptions> & Pick<WorkerOptions, 'handle'>) => {
    const retry = { first_ms: 10, longest_ms: 100 };
    const worker = runWorker(cairn, { profile: 'writer', grace_ms: 50, retry, ...options });
    workers.push(worker);
    return worker;
  };
  afterEach(async () => {
    await Promise.all(workers.splice(0).map((worker) => worker.stop()));
  });

  it('WORK-1 a worker gives each agent_turn to its handle with the prompt, and ends it with what that gives', async () => {
    const cairn = await test().freshTenant();
    const seen: string[] = [];
    const handle = async (turn: WorkerTurn) => {
      const { prompt, agent_turn } = turn;
      expect(prompt.system).toContain('You are the writer.');
      const asked = prompt.messages.at(-1)!.content as string;
      seen.push(asked);
      expect(agent_turn).toMatchObject({ status: 'running', worker_id: 'w-1', turn_epoch: 1 });
      if (asked === 'text') {
        await turn.append([{ content: 'Thinking.', metadata: { type: 'agent.thought', role: 'assistant' } }]);
        const again = await turn.hydrate();
        expect(again.step).toBe(2);
        return String(again.messages.at(-1)!.content);
      }
      if (asked === 'object') return { found: 42 };
      return { deliverable: 'half', status: 'partial' as const, summary: 'Half of it.' };
    };
    const worker = start(cairn, { worker_id: 'w-1', handle });
    expect(worker.worker_id).toBe('w-1');
    const ids: string[] = [];
    for (const asked of ['text', 'object', 'details']) ids.push(await launch(cairn, 'writer', asked));
    await launch(cairn, 'somebody-else', 'not for this one');
    expect(await deliverableOf(cairn, ids[0]!)).toBe('Thinking.');
    expect(await deliverableOf(cairn, ids[1]!)).toEqual({ found: 42 });
    expect(await endOf(cairn, ids[2]!)).toMatchObject({
      status: 'completed',
      result_status: 'partial',
      summary: 'Half of it.',
    });
    expect(seen).toEqual(['text', 'object', 'details']);
  });

  it('WORK-2 a handle that throws, or gives what is refused, fails its turn', async () => {
    const cairn = await test().freshTenant();
    const errors: unknown[] = [];
    const handle = ({ prompt }: WorkerTurn) => {
      const asked = prompt.messages.at(-1)!.content as string;
      if (asked === 'throw') throw new Error('no\u0000luck');
      if (asked === 'code') throw Object.assign(new Error('gone'), { code: 'E_GONE' });
      if (asked === 'nothing') return undefined as never;
      return { deliverable: 'ok', artifact_ids: ['0190a1b2-c3d4-7e5f-8a9b-0c1d2e3f4a5b'] };
    };
    start(cairn, { handle, on_error: (error) => errors.push(error) });
    const expected = {
      throw: { code: 'HANDLE_FAILED', message: 'no luck' },
      code: { code: 'E_GONE', message: 'gone' },
      nothing: { code: 'INVALID_INPUT', message: 'the handle of a worker must return a string or an object' },
      artifact: { code: 'UNKNOWN_ENTITY' },
    };
    for (const [asked, error] of Object.entries(expected)) {
      const ended = await endOf(cairn, await launch(cairn, 'writer', asked));
      expect(ended).toMatchObject({ status: 'failed', error });
    }
    expect(errors).toHaveLength(4);
  });

  it('WORK-3 the lease is renewed while the handle works', async () => {
    const cairn = await test().freshTenant();
    const handle = async ({ signal }: WorkerTurn) => {
      await new Promise((resolve) => setTimeout(resolve, 1200));
      return signal.aborted ? 'aborted' : 'done';
    };
    start(cairn, { lease_ms: 400, handle });
    start(cairn, { lease_ms: 400, handle });
    const id = await launch(cairn, 'writer', 'slowly');
    expect(await deliverableOf(cairn, id)).toBe('done');
    expect(await endOf(cairn, id)).toMatchObject({ attempts: 1, turn_epoch: 1 });
  });

  it('WORK-4 a worker that lost its lease is told, and its result counts no more', async () => {
    const cairn = await test().freshTenant();
    const told: unknown[] = [];
    const late = start(cairn, {
      worker_id: 'late',
      lease_ms: 600,
      handle: async (turn) => {
        if (told.length > 0) return new Promise<string>(() => {});
        // Another has it by now: its lease is over by the clock of the store.
        test().advance(600);
        await new Promise((resolve) => turn.signal.addEventListener('abort', resolve));
        told.push(turn.signal.reason, await refusalOf(turn.append([{ content: 'late' }])));
        void late.stop();
        return 'late';
      },
    });
    const id = await launch(cairn, 'writer', 'work');
    await until('the late worker', () => told.length === 2);
    expect(told).toMatchObject([{ code: 'STALE_TURN' }, { code: 'STALE_TURN' }]);
    await late.stop();
    start(cairn, { worker_id: 'next', handle: ({ agent_turn }) => `epoch ${agent_turn.turn_epoch}` });
    expect(await deliverableOf(cairn, id)).toBe('epoch 2');
    const { output_box_id } = await endOf(cairn, id);
    expect((await cairn.boxes.cards({ box_id: output_box_id })).cards).toHaveLength(1);
  });

  it('WORK-4 a worker whose turn was stopped is told, and says nothing', async () => {
    const cairn = await test().freshTenant();
    const errors: { code?: string }[] = [];
    start(cairn, {
      lease_ms: 300,
      on_error: (error) => errors.push(error as { code?: string }),
      handle: async ({ signal, agent_turn: { agent_turn_id } }) => {
        await cairn.agent_turns.stop({ agent_turn_id, reason: 'enough' });
        await new Promise((resolve) => signal.addEventListener('abort', resolve));
        throw new Error('ended by the signal');
      },
    });
    const id = await launch(cairn, 'writer', 'work');
    await until('the handle to end', () => errors.length === 2);
    expect(errors).toMatchObject([{ code: 'STALE_TURN' }, { message: 'ended by the signal' }]);
    expect(await endOf(cairn, id)).toMatchObject({ status: 'stopped', error: { message: 'enough' } });
  });

  it('WORK-5 what is called on turn.api is done by the agent of the turn', async () => {
    const cairn = await test().freshTenant();
    const handle = async ({ api }: WorkerTurn) => (await api.cards.add({ content: 'mine' })).card_id;
    start(cairn, { handle });
    const id = await launch(cairn, 'writer', 'work');
    const card_id = (await deliverableOf(cairn, id)) as string;
    const { agent_id } = await endOf(cairn, id);
    expect(await cairn.cards.get({ card_id })).toMatchObject({ author_id: agent_id });
    const { packets } = await cairn.packets.list({ packet_type: 'cairn.agent_turn.completed' });
    expect(packets.map(({ metadata }) => metadata?.agent)).toEqual([agent_id]);
  });

  it('WORK-6 a planner forks and joins, and who takes it over finds the same batch', async () => {
    const cairn = await test().freshTenant();
    await saveProfile(cairn, 'helper');
    const task = (instruction: string) => ({ target_strategy: 'new', target_ref: 'helper', instruction }) as const;
    const batches: string[] = [];
    const plan = async (turn: WorkerTurn) => {
      const joined = turn.forkJoin([task('one'), task('two')]);
      if (turn.agent_turn.turn_epoch === 1) {
        await until('the dispatch', async () => {
          const parent_agent_turn_id = turn.agent_turn.agent_turn_id;
          return (await cairn.agent_turns.list({ parent_agent_turn_id })).agent_turns.length === 2;
        });
        test().advance(60_000);
      }
      const { status, results, batch_id } = await joined;
      batches.push(batch_id);
      await turn.delegate(task('three'));
      return { status, results: results.map(({ deliverable }) => deliverable!) };
    };
    const options = { profile: 'planner', lease_ms: 2000, handle: plan };
    start(cairn, options);
    const id = await launch(cairn, 'planner', 'plan');
    await until('the take-over', async () => (await cairn.agent_turns.get({ agent_turn_id: id })).attempts === 2);
    const handle = ({ prompt }: WorkerTurn) => `did ${String(prompt.messages.at(-1)!.content)}`;
    start(cairn, { profile: 'helper', concurrency: 2, handle });
    expect(await deliverableOf(cairn, id)).toEqual({ status: 'success', results: ['did one', 'did two'] });
    const { agent_turns } = await cairn.agent_turns.list({ parent_agent_turn_id: id });
    expect(agent_turns).toHaveLength(3);
    expect(batches).toEqual([agent_turns[0]!.batch_id]);
  });

  it('WORK-7 a worker that stops lets its handle end, and claims nothing more', async () => {
    const cairn = await test().freshTenant();
    const stopping = new AbortController();
    const worker = start(cairn, {
      grace_ms: 10_000,
      signal: stopping.signal,
      handle: async () => {
        stopping.abort();
        await new Promise((resolve) => setTimeout(resolve, 50));
        return 'done';
      },
    });
    const [first, second] = [await launch(cairn, 'writer', '1'), await launch(cairn, 'writer', '2')];
    await worker.done;
    expect(await endOf(cairn, first)).toMatchObject({ status: 'completed' });
    expect(await cairn.agent_turns.get({ agent_turn_id: second })).toMatchObject({ status: 'dispatched' });
  });

  it('WORK-7 what is not done in time is left to the next worker at once', async () => {
    const cairn = await test().freshTenant();
    const begun: AbortSignal[] = [];
    const first = start(cairn, {
      handle: ({ signal }) => {
        begun.push(signal);
        return new Promise<string>(() => {});
      },
    });
    const id = await launch(cairn, 'writer', 'work');
    await until('the first', () => begun.length === 1);
    await first.stop();
    expect(begun[0]!.reason).toMatchObject({ code: 'SHUTTING_DOWN' });
    start(cairn, { handle: () => 'by the second' });
    // The lease was of 30 s.
    expect(await deliverableOf(cairn, id)).toBe('by the second');
  });

  it('WORK-8 several workers do each agent_turn once, each with as many as it may', async () => {
    const cairn = await test().freshTenant();
    const under_way = { a: 0, b: 0 };
    const most = { a: 0, b: 0 };
    const done: string[] = [];
    const handle = (name: 'a' | 'b') => async (turn: WorkerTurn) => {
      most[name] = Math.max(most[name], ++under_way[name]);
      await new Promise((resolve) => setTimeout(resolve, 50));
      under_way[name]--;
      const asked = String(turn.prompt.messages.at(-1)!.content);
      done.push(asked);
      return asked;
    };
    const names = Array.from({ length: 10 }, (_, i) => `task ${i}`);
    const ids: string[] = [];
    for (const name of names) ids.push(await launch(cairn, 'writer', name));
    start(cairn, { concurrency: 3, handle: handle('a') });
    start(cairn, { concurrency: 1, handle: handle('b') });
    for (const [i, id] of ids.entries()) expect(await deliverableOf(cairn, id)).toBe(names[i]);
    expect(done.sort()).toEqual(names);
    expect(most.a).toBeLessThanOrEqual(3);
    expect(most.b).toBe(1);
  });

  it('WORK-10 a worker that may not claim ends, and so does one without anything to work for', async () => {
    const cairn = await test().freshTenant();
    const reader = await test().as({ tenant: await tenantOf(cairn), role: 'read' });
    const handle = () => 'never';
    await expect(start(reader, { handle }).done).rejects.toMatchObject({ code: 'FORBIDDEN' });
    expect(() => runWorker(cairn, { handle })).toThrow('a `profile` or an `agent_id`');
  });
});
