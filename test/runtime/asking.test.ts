/** Questions of workers and executions, on whatever they reach Cairn by. */
import { afterEach, expect, it } from 'vitest';
import type { Api } from '#cairn/api/index.js';
import { Execution, runWorker, TurnPaused, type WorkerOptions, type WorkerTurn } from '#cairn/runtime/index.js';
import { deliverableOf, endOf, launch } from '../support/nouns/turns.js';
import { sleep, until } from '../support/server.js';
import { onEveryTarget, refusalOf } from '../support/targets.js';

const SURE = { question: 'Are you sure?', choices: ['yes', 'no'] };

onEveryTarget('asking', (test) => {
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

  /** The only open pause, once there is one. */
  const openPause = async (cairn: Api) => {
    await until('a pause', async () => (await cairn.pauses.list({ status: 'open' })).total === 1);
    return (await cairn.pauses.list({ status: 'open' })).pauses[0]!;
  };

  it('WORK-11 a turn waits for its answer without a worker, and any worker goes on with it', async () => {
    const cairn = await test().freshTenant();
    const errors: unknown[] = [];
    const calls: string[] = [];
    const handle = (name: string) => async (turn: WorkerTurn) => {
      calls.push(name);
      if (turn.prompt.messages.at(-1)!.content === 'other') return 'other';
      const { action, choice, answered_by } = await turn.ask({ ...SURE, trigger: 'tool_confirmation' });
      const value = await turn.ask({ question: 'Which name?' });
      return { action, choice, by: answered_by?.agent_id ?? 'a person', name: value.value, who: name };
    };
    const on_error = (error: unknown) => errors.push(error);
    const first = start(cairn, { worker_id: 'a', handle: handle('a'), wait_ms: 100, on_error });
    const id = await launch(cairn, 'writer', 'work');
    const sure = await openPause(cairn);
    expect(sure).toMatchObject({ agent_turn_id: id, trigger: 'tool_confirmation', question: SURE.question });
    expect(await cairn.agent_turns.get({ agent_turn_id: id })).toMatchObject({
      status: 'suspended',
      lease_expires_at: null,
    });
    // Its slot is free meanwhile.
    expect(await deliverableOf(cairn, await launch(cairn, 'writer', 'other'))).toBe('other');
    await first.stop();
    // Its last claim is over on the server as well.
    await sleep(300);
    await cairn.pauses.answer({ pause_id: sure.pause_id, choice: 'yes' });
    start(cairn, { worker_id: 'b', handle: handle('b') });
    const name = await openPause(cairn);
    expect(name.question).toBe('Which name?');
    await cairn.pauses.answer({ pause_id: name.pause_id, action: 'modify', value: 'Anna' });
    expect(await deliverableOf(cairn, id)).toEqual({
      action: 'continue',
      choice: 'yes',
      by: 'a person',
      name: 'Anna',
      who: 'b',
    });
    expect(calls).toEqual(['a', 'a', 'b', 'b']);
    expect(errors).toEqual([]);
    expect(await endOf(cairn, id)).toMatchObject({ turn_epoch: 3, attempts: 1 });
    expect((await cairn.pauses.list({})).total).toBe(2);
  });

  it('WORK-11 the same question twice is two questions, and a key names one', async () => {
    const cairn = await test().freshTenant();
    const handle = async (turn: WorkerTurn) => {
      const answers = [await turn.ask(SURE), await turn.ask(SURE), await turn.ask({ ...SURE, key: 'last' })];
      return answers.map(({ choice }) => choice).join(' ');
    };
    start(cairn, { handle });
    const id = await launch(cairn, 'writer', 'work');
    for (const choice of ['yes', 'no', 'yes'])
      await cairn.pauses.answer({ pause_id: (await openPause(cairn)).pause_id, choice });
    expect(await deliverableOf(cairn, id)).toBe('yes no yes');
    const { pauses } = await cairn.pauses.list({ agent_turn_id: id });
    expect(pauses.map(({ ask_key }) => ask_key)).toEqual([
      expect.stringMatching(/^[0-9a-f]{32}:1$/),
      expect.stringMatching(/^[0-9a-f]{32}:2$/),
      'last',
    ]);
  });

  it('WORK-11 a question that expired fails the turn, unless it is caught', async () => {
    const cairn = await test().freshTenant();
    const handle = async (turn: WorkerTurn) => {
      const asked = turn.ask({ ...SURE, timeout_ms: 1000 });
      if (turn.prompt.messages.at(-1)!.content === 'fail') return (await asked).action;
      return asked.then(
        ({ action }) => action,
        (error: { code?: string }) => {
          if (error instanceof TurnPaused) throw error;
          return error.code!;
        },
      );
    };
    start(cairn, { handle });
    const caught = await launch(cairn, 'writer', 'catch');
    await openPause(cairn);
    test().advance(1001);
    expect(await deliverableOf(cairn, caught)).toBe('PAUSE_EXPIRED');
    const failed = await launch(cairn, 'writer', 'fail');
    await openPause(cairn);
    test().advance(1001);
    expect(await endOf(cairn, failed)).toMatchObject({ status: 'failed', error: { code: 'PAUSE_EXPIRED' } });
  });

  it('WORK-12 a handle that goes on after its question writes nothing', async () => {
    const cairn = await test().freshTenant();
    const told: unknown[] = [];
    const handle = async (turn: WorkerTurn) => {
      const answer = await turn.ask(SURE).catch((error: unknown) => error);
      if (!(answer instanceof TurnPaused)) return 'answered';
      told.push(turn.signal.reason, await turn.append([{ content: 'late' }]).catch((error: unknown) => error));
      return 'late';
    };
    start(cairn, { handle });
    const id = await launch(cairn, 'writer', 'work');
    const { pause_id } = await openPause(cairn);
    await until('the handle', () => told.length === 2);
    expect(told[0]).toBeInstanceOf(TurnPaused);
    expect(told[1]).toBeInstanceOf(Error);
    expect(await cairn.agent_turns.get({ agent_turn_id: id })).toMatchObject({ status: 'suspended' });
    await cairn.pauses.answer({ pause_id, choice: 'no' });
    expect(await deliverableOf(cairn, id)).toBe('answered');
    const { output_box_id } = await endOf(cairn, id);
    expect((await cairn.boxes.cards({ box_id: output_box_id })).cards).toHaveLength(1);
  });

  it('RUN-21 an execution asks in a stored state, and goes on with the answer', async () => {
    const cairn = await test().freshTenant();
    const run = await Execution.start(cairn, { agent_id: 'coder', policies: {} });
    const { execution_id } = run;
    run.context.set('plan', 'deploy');
    const answered = run.ask({ question: 'Deploy?', trigger: 'confidence_low' });
    const pause = await openPause(cairn);
    expect(pause).toMatchObject({ execution_id, agent_id: 'coder', trigger: 'confidence_low' });
    expect((await cairn.executions.get({ execution_id })).status).toBe('paused');
    const { snapshot, metadata } = await cairn.checkpoints.get({ checkpoint_id: pause.checkpoint_id! });
    expect(snapshot.context.variables).toEqual({ plan: 'deploy' });
    expect(metadata.checkpoint_reason).toBe('low_confidence');
    await cairn.pauses.answer({ pause_id: pause.pause_id, action: 'modify', value: { to: 'staging' } });
    expect(await answered).toMatchObject({
      action: 'modify',
      value: { to: 'staging' },
      pause_id: pause.pause_id,
      answered_by: { agent_id: null },
    });
    expect((await cairn.executions.get({ execution_id })).status).toBe('running');
    // Nothing changed since: the next question needs no other checkpoint.
    const again = run.ask({ question: 'Really?', timeout_ms: 1000 }).catch((error: unknown) => error);
    const second = await openPause(cairn);
    expect(second.checkpoint_id).toBe(pause.checkpoint_id);
    test().advance(1001);
    expect(await again).toMatchObject({ code: 'PAUSE_EXPIRED', details: { pause_id: second.pause_id } });
    await run.close();
    expect(await refusalOf(run.ask(SURE))).toMatchObject({ code: 'STATE_CONFLICT' });
    expect(await refusalOf(new Execution().ask(SURE))).toMatchObject({ code: 'STATE_CONFLICT' });
  });

  it('RUN-21 the signal ends the wait, and the end of the execution does', async () => {
    const cairn = await test().freshTenant();
    const run = await Execution.start(cairn);
    const stop = new AbortController();
    const waiting = run.ask(SURE, { signal: stop.signal }).catch((error: unknown) => error);
    await openPause(cairn);
    stop.abort(new Error('enough'));
    expect(await waiting).toBeInstanceOf(Error);
    const other = run.ask({ ...SURE, key: 'q' });
    await until('the second', async () => (await cairn.pauses.list({ status: 'open' })).total === 2);
    await cairn.executions.update({ execution_id: run.execution_id, status: 'cancelled' });
    expect(await refusalOf(other)).toMatchObject({ code: 'STATE_CONFLICT', details: { status: 'cancelled' } });
  });

  it('RUN-22 a resumed run finds its question with the answer', async () => {
    const cairn = await test().freshTenant();
    const { signal, stop } = (() => {
      const controller = new AbortController();
      return { signal: controller.signal, stop: () => controller.abort() };
    })();
    const first = await Execution.start(cairn);
    const { execution_id } = first;
    first.context.append({ role: 'user', content: 'Clean up.' });
    first.step();
    const lost = first.ask(SURE, { signal }).catch(() => undefined);
    const { pause_id } = await openPause(cairn);
    stop();
    await lost;
    await cairn.pauses.answer({ pause_id, choice: 'yes' });

    const second = await Execution.resume(cairn, execution_id);
    expect(second.context.messages).toHaveLength(1);
    expect(await second.ask(SURE)).toMatchObject({ pause_id, choice: 'yes' });
    expect((await cairn.pauses.list({})).total).toBe(1);
    expect((await cairn.executions.get({ execution_id })).checkpoints).toBe(1);
    // Another question, the same at another step, and the same once more are new ones.
    const answers = [
      () => second.ask({ ...SURE, question: 'Quite sure?' }),
      () => second.ask(SURE),
      () => {
        second.step();
        return second.ask(SURE);
      },
    ];
    for (const ask of answers) {
      const asked = ask();
      const pause = await openPause(cairn);
      await cairn.pauses.answer({ pause_id: pause.pause_id, choice: 'no' });
      expect(await asked).toMatchObject({ pause_id: pause.pause_id, choice: 'no' });
    }
    expect((await cairn.pauses.list({})).total).toBe(4);
  });

  it('RUN-22 an open question is waited for by the resumed run', async () => {
    const cairn = await test().freshTenant();
    const first = await Execution.start(cairn);
    const stop = new AbortController();
    void first.ask({ ...SURE, key: 'sure' }, { signal: stop.signal }).catch(() => undefined);
    const { pause_id } = await openPause(cairn);
    stop.abort();
    const second = await Execution.resume(cairn, first.execution_id);
    const asked = second.ask({ ...SURE, key: 'sure' });
    await until(
      'paused',
      async () => (await cairn.executions.get({ execution_id: first.execution_id })).status === 'paused',
    );
    await cairn.pauses.answer({ pause_id, choice: 'yes' });
    expect(await asked).toMatchObject({ choice: 'yes' });
    const other = second.ask({ ...SURE, question: 'Else?', key: 'sure' });
    expect(await refusalOf(other)).toMatchObject({ code: 'ENTITY_ALREADY_EXISTS' });
  });
});
