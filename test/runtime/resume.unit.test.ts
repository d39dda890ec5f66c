/** How a run begins, is taken up again, and travels as JSON. */
import { describe, expect, it, vi } from 'vitest';
import { checkpoint } from '#cairn/checkpoints/contract.js';
import { Execution } from '#cairn/runtime/index.js';
import { recordingStore } from '../support/stand-ins/recording-store.js';

/** Three steps, each with a message, and a tool that is under way at the end. */
async function aRun(store = recordingStore()) {
  const run = await Execution.start(store, { execution_id: 'run-1', agent_id: 'coder' });
  for (const word of ['one', 'two', 'three']) {
    run.thoughts.add({ type: 'planning', content: word, confidence: 0.5, metadata: { word } });
    run.context.append({ role: 'user', content: word });
    run.context.set('last', word);
    run.context.remember('word', word);
    if (word === 'three') run.tools.start('shell', { id: 'call-1' });
    run.step({ tokens: 10 });
  }
  await run.settled();
  return { store, run };
}

describe('starting', () => {
  it('RUN-18 makes the execution, with what was given', async () => {
    const store = recordingStore();
    const create = vi.spyOn(store.executions, 'create');
    const run = await Execution.start(store, { agent_id: 'coder', name: 'Fix the login', thread_id: 't' });
    expect(create).toHaveBeenCalledWith({ agent_id: 'coder', name: 'Fix the login', thread_id: 't' });
    expect(run.agent_id).toBe('coder');
    expect([...store.executionsById.keys()]).toEqual([run.execution_id]);
    expect(run.latest_checkpoint_id).toBeUndefined();
  });

  it('RUN-18 does not begin again what has states', async () => {
    const { store } = await aRun();
    await expect(Execution.start(store, { execution_id: 'run-1' })).rejects.toThrow(
      'execution "run-1" has checkpoints: resume it with Execution.resume, or start another',
    );
  });

  it('RUN-18 does not begin again what has ended without a state', async () => {
    const store = recordingStore();
    const run = await Execution.start(store, { execution_id: 'run-1', policies: {} });
    expect((await Execution.start(store, { execution_id: 'run-1' })).execution_id).toBe('run-1');
    await run.close('failed');
    await expect(Execution.start(store, { execution_id: 'run-1' })).rejects.toMatchObject({
      code: 'STATE_CONFLICT',
      message: 'execution "run-1" is failed: resume it with Execution.resume, or start another',
    });
    await Execution.resume(store, 'run-1');
    expect((await Execution.start(store, { execution_id: 'run-1' })).execution_id).toBe('run-1');
  });
});

describe('resuming', () => {
  it('RUN-19 goes on from where the run stands', async () => {
    const { store, run } = await aRun();
    const again = await Execution.resume(store, 'run-1');
    expect(again.snapshot()).toEqual(run.snapshot());
    expect(again).toMatchObject({ agent_id: 'coder', step_number: 3, tokens_used: 30 });
    expect(again.latest_checkpoint_id).toBe(run.latest_checkpoint_id);
    again.tools.finish('call-1', { tool_id: 'shell' });
    again.step();
    await again.settled();
    expect(store.stored.at(-1)).toMatchObject({
      metadata: { step_number: 4 },
      parent: { checkpoint_id: run.latest_checkpoint_id, is_branch: false },
    });
  });

  it('RUN-19 begins at the beginning where there was no checkpoint yet', async () => {
    const store = recordingStore();
    await Execution.start(store, { execution_id: 'run-1', agent_id: 'coder' });
    const run = await Execution.resume(store, 'run-1', { policies: {} });
    expect(run).toMatchObject({ execution_id: 'run-1', agent_id: 'coder', step_number: 0 });
    run.step();
    await run.settled();
    expect(store.stored).toEqual([]);
    await expect(Execution.resume(store, 'run-2')).rejects.toMatchObject({ code: 'EXECUTION_NOT_FOUND' });
  });

  it('RUN-19 sets what had ended running again', async () => {
    const { store, run } = await aRun();
    await run.close('completed');
    expect(store.executionsById.get('run-1')?.status).toBe('completed');
    await Execution.resume(store, 'run-1');
    expect(store.executionsById.get('run-1')?.status).toBe('running');
  });

  it('RUN-19 counts the time that it ran before', async () => {
    vi.useFakeTimers();
    try {
      const { store, run } = await aRun();
      vi.advanceTimersByTime(500);
      await run.checkpoint();
      vi.advanceTimersByTime(60_000);
      const again = await Execution.resume(store, 'run-1');
      vi.advanceTimersByTime(250);
      expect(again.duration_ms).toBe(750);
    } finally {
      vi.useRealTimers();
    }
  });

  it('RUN-16 in two processes gives two branches, each with its own states', async () => {
    const { store, run } = await aRun();
    const both = [await Execution.resume(store, 'run-1'), await Execution.resume(store, 'run-1')];
    for (let i = 0; i < 3; i++)
      for (const [who, one] of both.entries()) {
        one.context.append({ role: 'assistant', content: `${who}` });
        one.step();
      }
    await Promise.all(both.map((one) => one.settled()));
    for (const [who, one] of both.entries()) {
      let at = store.stored.find(({ id }) => id === one.latest_checkpoint_id);
      for (let left = 3; left > 0; left--) {
        const words = at!.snapshot.context.messages.map(({ content }) => content);
        expect(words).toEqual(['one', 'two', 'three', ...Array(left).fill(`${who}`)]);
        at = store.stored.find(({ id }) => id === at!.parent?.checkpoint_id);
      }
      expect(at?.id).toBe(run.latest_checkpoint_id);
    }
    expect(store.stored.filter(({ parent }) => parent?.is_branch)).toHaveLength(1);
  });
});

describe('restoring', () => {
  it('RUN-19 goes on from any checkpoint', async () => {
    const { store } = await aRun();
    const second = store.stored[1]!;
    const run = await Execution.restore(store, second.id);
    expect(run.snapshot()).toEqual(second.snapshot);
    run.step();
    await run.settled();
    expect(store.stored.at(-1)).toMatchObject({
      metadata: { step_number: 3 },
      parent: { checkpoint_id: second.id, is_branch: true },
    });
  });

  it('RUN-19 moves nothing where the thoughts are no tree', async () => {
    const { store, run } = await aRun();
    await run.close('completed');
    const [step] = store.stored[0]!.snapshot.thought_chain.steps;
    const { id } = await store.checkpoints.create({
      checkpoint_id: 'broken',
      execution_id: 'run-1',
      root: true,
      snapshot: { ...store.stored[0]!.snapshot, thought_chain: { steps: [{ ...step!, parent_id: 'nobody' }] } },
      metadata: store.stored[0]!.metadata,
      timestamp: 0,
    });
    await store.checkpoints.restore({ checkpoint_id: run.latest_checkpoint_id! });
    await store.executions.update({ execution_id: 'run-1', status: 'completed' });
    const before = store.executionsById.get('run-1');
    await expect(Execution.restore(store, id)).rejects.toMatchObject({ code: 'INVALID_INPUT' });
    expect(store.executionsById.get('run-1')).toEqual(before);
  });
});

describe('without a store', () => {
  it('RUN-20 gives the portable form, and is made from it', async () => {
    const { run } = await aRun();
    const file = run.toCheckpoint('step_complete', { name: 'done' });
    expect(checkpoint.parse(JSON.parse(JSON.stringify(file)))).toEqual(file);
    expect(file).toMatchObject({
      version: '1.0.0',
      execution_id: 'run-1',
      name: 'done',
      metadata: { checkpoint_reason: 'step_complete', step_number: 3 },
      parent: { checkpoint_id: run.latest_checkpoint_id, is_branch: false },
    });
    const again = Execution.fromCheckpoint(JSON.parse(JSON.stringify(file)));
    expect(again.snapshot()).toEqual(run.snapshot());
    expect(again.latest_checkpoint_id).toBe(file.id);
    again.step();
    await again.settled();
    expect(again.step_number).toBe(4);
    expect(new Execution().toCheckpoint()).not.toHaveProperty('parent');
  });

  it('RUN-20 is refused by name where it does not fit', () => {
    const good = JSON.parse(JSON.stringify(new Execution({ execution_id: 'run-1' }).toCheckpoint()));
    const load = (patch: object) => () => Execution.fromCheckpoint({ ...good, ...patch });
    expect(load({ version: '0.1.0' })).toThrow(expect.objectContaining({ code: 'UNSUPPORTED_VERSION' }));
    expect(load({ version: '0.1.0' })).toThrow('not "0.1.0"');
    // What a document has besides is no part of a run.
    for (const more of [{ extra: 1 }, { snapshot: { ...good.snapshot, more: {} } }])
      expect(load(more)().snapshot()).toEqual(good.snapshot);
    expect(load({ snapshot: { ...good.snapshot, context: undefined } })).toThrow(/^checkpoint: snapshot\.context/);
    expect(load({ metadata: { ...good.metadata, step_number: -1 } })).toThrow(/^checkpoint: metadata\.step_number/);
    const orphan = { ...good.snapshot, thought_chain: { steps: [], current_step_id: 'x' } };
    expect(load({ snapshot: orphan })).toThrow('thought_chain: current_step_id names the step "x"');
  });

  it('RUN-20 comes back from JSON as it was', async () => {
    vi.useFakeTimers();
    try {
      const { run } = await aRun();
      run.total_steps_estimate = 12;
      const json = run.toJSON();
      const again = Execution.fromJSON(JSON.parse(JSON.stringify(json)));
      expect(again.toJSON()).toEqual(json);
      expect(again.toCheckpoint().metadata.total_steps_estimate).toBe(12);
      expect(Execution.fromJSON(new Execution().toJSON()).toJSON()).toMatchObject({ step_number: 0 });
      expect(() => Execution.fromJSON({ ...json, tokens_used: 0.5 })).toThrow(/^Execution: tokens_used: /);
      expect(() => new Execution({ agent: 'x' } as never)).toThrow('Execution: unknown field "agent"');
    } finally {
      vi.useRealTimers();
    }
  });
});
