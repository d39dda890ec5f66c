/** When a run keeps its state, what is in it, and how it is written: in order, of that moment, under its parent. */
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { CairnError } from '#cairn/kernel/index.js';
import { type CheckpointPolicies, Execution } from '#cairn/runtime/index.js';
import { type RecordingStore, recordingStore } from '../support/stand-ins/recording-store.js';

const think = (run: Execution, confidence: number) =>
  run.thoughts.add({ type: 'reasoning', content: 'hm', confidence });
const say = (run: Execution, content: string) => run.context.append({ role: 'user', content });
const reasons = (store: RecordingStore) => store.stored.map(({ metadata }) => metadata.checkpoint_reason);
const messages = (store: RecordingStore) =>
  store.stored.map(({ snapshot }) => snapshot.context.messages.map(({ content }) => content).join());
const parents = (store: RecordingStore) => store.stored.map(({ parent }) => parent?.checkpoint_id ?? null);

async function started(policies?: CheckpointPolicies): Promise<{ store: RecordingStore; run: Execution }> {
  const store = recordingStore();
  return { store, run: await Execution.start(store, { execution_id: 'run-1', agent_id: 'coder', policies }) };
}

/** A gate that stays shut until it is opened. */
function shut(store: RecordingStore): () => void {
  let open = () => {};
  store.gate = new Promise<void>((resolve) => {
    open = resolve;
  });
  return () => open();
}

describe('policies', () => {
  it('RUN-12 keep the state after each step, unless told otherwise', async () => {
    const { store, run } = await started();
    say(run, 'one');
    think(run, 0);
    run.tools.fail(run.tools.start('shell'), 'no');
    run.step({ tokens: 7 });
    await run.settled();
    expect(reasons(store)).toEqual(['step_complete']);
    expect(store.stored[0]).toMatchObject({
      execution_id: 'run-1',
      agent_id: 'coder',
      metadata: { step_number: 1, tokens_used: 7 },
    });
    const other = await started({});
    other.run.step();
    await other.run.settled();
    expect(other.store.stored).toEqual([]);
  });

  it('RUN-12 keep it when a thought is, or becomes, less sure than the threshold', async () => {
    const { store, run } = await started({ confidence_below: 0.5 });
    const sure = think(run, 0.5);
    think(run, 0.49);
    run.thoughts.update(sure.id, { confidence: 0.2 });
    run.thoughts.update(sure.id, { content: 'still' });
    run.thoughts.update(sure.id, { confidence: 0.3 });
    run.thoughts.update(sure.id, { confidence: 0.9 });
    run.step();
    await run.settled();
    expect(reasons(store)).toEqual(['low_confidence', 'low_confidence', 'low_confidence']);
    const confidences = store.stored.map(({ snapshot }) =>
      snapshot.thought_chain.steps.map(({ confidence }) => confidence),
    );
    expect(confidences).toEqual([
      [0.5, 0.49],
      [0.2, 0.49],
      [0.3, 0.49],
    ]);
  });

  it('RUN-12 keep it when a tool call failed', async () => {
    const { store, run } = await started({ on_tool_error: true });
    run.tools.finish(run.tools.start('good'));
    run.tools.finish(run.tools.start('bad'), { success: false });
    run.tools.fail(run.tools.start('worse'), new Error('x'));
    run.tools.cancel(run.tools.start('ended'));
    await run.settled();
    expect(reasons(store)).toEqual(['tool_error', 'tool_error']);
    expect(store.stored.map(({ snapshot }) => snapshot.tool_state.completed.at(-1)?.tool_id)).toEqual(['bad', 'worse']);
  });

  it('RUN-12 go together, each with its reason', async () => {
    const { store, run } = await started({ after_step: true, confidence_below: 1, on_tool_error: true });
    think(run, 0.5);
    run.tools.fail(run.tools.start('x'), 'no');
    run.step();
    const summary = await run.checkpoint({ name: 'by hand', description: 'why', labels: { a: 1 } });
    expect(reasons(store)).toEqual(['low_confidence', 'tool_error', 'step_complete', 'manual']);
    expect(summary).toMatchObject({ name: 'by hand', description: 'why', labels: { a: 1 } });
  });

  it.each([
    [{ every_ms: 0 }, 'policies: every_ms: '],
    [{ confidence_below: 2 }, 'policies: confidence_below: '],
    [{ each_step: true }, 'policies: unknown field "each_step"'],
  ])('are refused before anything is written: %o', async (policies, message) => {
    const store = recordingStore();
    await expect(Execution.start(store, { policies: policies as never })).rejects.toThrow(message);
    expect(store.executionsById.size).toBe(0);
    const { run } = await started();
    run.step();
    await run.settled();
    await expect(Execution.restore(store, 'any', { policies: policies as never })).rejects.toThrow(message);
    expect(() => new Execution({ policies: policies as never })).toThrow(message);
  });
});

describe('by time', () => {
  beforeEach(() => void vi.useFakeTimers({ now: 1_000_000 }));
  afterEach(() => void vi.useRealTimers());
  const pass = (ms: number) => vi.advanceTimersByTimeAsync(ms);

  it('RUN-13 takes one when something changed and the time has passed, and rests otherwise', async () => {
    const { store, run } = await started({ every_ms: 1000 });
    await pass(10_000);
    expect([store.stored.length, vi.getTimerCount()]).toEqual([0, 0]);
    say(run, 'late');
    await run.settled();
    expect(messages(store)).toEqual(['late']);
    say(run, 'soon');
    say(run, 'sooner');
    expect(vi.getTimerCount()).toBe(1);
    await pass(999);
    expect(store.stored).toHaveLength(1);
    await pass(1);
    expect(messages(store)).toEqual(['late', 'late,soon,sooner']);
    expect(reasons(store)).toEqual(['auto', 'auto']);
    expect(store.stored.map(({ timestamp }) => timestamp)).toEqual([1_010_000, 1_011_000]);
    expect(store.stored.map(({ metadata }) => metadata.duration_ms)).toEqual([10_000, 11_000]);
    await pass(10_000);
    expect([store.stored.length, vi.getTimerCount()]).toEqual([2, 0]);
  });

  it('RUN-13 counts from the last one, whatever it was taken for', async () => {
    const { store, run } = await started({ every_ms: 1000, after_step: true });
    say(run, 'a');
    await pass(900);
    run.step();
    await pass(900);
    say(run, 'b');
    await pass(99);
    expect(reasons(store)).toEqual(['step_complete']);
    await pass(1);
    expect(reasons(store)).toEqual(['step_complete', 'auto']);
    expect(run.unwritten).toBe(0);
  });

  it('RUN-14 never takes one in the middle of a change', async () => {
    const { store, run } = await started({ every_ms: 1000 });
    await pass(1000);
    run.context.setMany({ a: 1, b: 2, c: 3 });
    await run.settled();
    expect(store.stored.map(({ snapshot }) => snapshot.context.variables)).toEqual([{ a: 1, b: 2, c: 3 }]);
    await run.close();
  });

  it('takes one for a change that is kept anyway, not two', async () => {
    const { store, run } = await started({ every_ms: 1000, after_step: true });
    await pass(5000);
    run.step();
    expect(vi.getTimerCount()).toBe(0);
    await pass(5000);
    expect(reasons(store)).toEqual(['step_complete']);
  });

  it('RUN-13 does not pile them up while writing is slow', async () => {
    const { store, run } = await started({ every_ms: 1000 });
    const open = shut(store);
    for (const word of ['a', 'b', 'c', 'd']) {
      say(run, word);
      await pass(1000);
    }
    expect(run.unwritten).toBe(1);
    open();
    await pass(1000);
    expect(messages(store)).toEqual(['a', 'a,b,c,d']);
    await run.close();
  });

  it('RUN-13 ends with the run, and does not keep a process alive', async () => {
    const { store, run } = await started({ every_ms: 1000 });
    // By hand: a spy on a fake would be put back in its place after the file, behind the real one.
    const { setTimeout } = globalThis;
    const made: NodeJS.Timeout[] = [];
    globalThis.setTimeout = ((...given: Parameters<typeof setTimeout>) => {
      made.push(setTimeout(...given));
      return made.at(-1);
    }) as typeof setTimeout;
    say(run, 'a');
    globalThis.setTimeout = setTimeout;
    expect(made.map((timer) => timer.hasRef())).toEqual([false]);
    await run.close();
    expect(vi.getTimerCount()).toBe(0);
    say(run, 'b');
    run.step();
    await pass(10_000);
    expect([store.stored.length, vi.getTimerCount()]).toEqual([0, 0]);
  });

  it('may be further apart than a timer can wait', async () => {
    const month_ms = 30 * 86_400_000;
    const { store, run } = await started({ every_ms: month_ms });
    say(run, 'a');
    await pass(month_ms - 1);
    expect(store.stored).toHaveLength(0);
    await pass(1);
    expect(reasons(store)).toEqual(['auto']);
  });
});

describe('a checkpoint', () => {
  it('RUN-14 has the state of the moment it was taken, whatever changes before it is written', async () => {
    const { store, run } = await started({});
    const open = shut(store);
    const thought = think(run, 0.5);
    run.context.set('plan', { steps: ['look'] });
    const id = run.tools.start('shell');
    say(run, 'one');
    const labels = { tags: ['first'] };
    const taken = run.checkpoint({ labels });
    labels.tags.push('changed');
    const expected = JSON.parse(JSON.stringify(run.snapshot()));
    run.thoughts.update(thought.id, { confidence: 1, content: 'changed' });
    think(run, 1);
    run.context.set('plan', { steps: ['changed'] });
    run.context.updateAt(0, { content: 'changed' });
    run.context.truncate(0);
    run.tools.finish(id);
    run.step({ tokens: 99 });
    open();
    expect(await taken).toMatchObject({ labels: { tags: ['first'] } });
    expect(store.stored[0]).toMatchObject({
      snapshot: expected,
      metadata: { step_number: 0, tokens_used: 0, checkpoint_reason: 'manual' },
    });
  });

  it('RUN-14 has the state before its listeners answer to the change', async () => {
    const { store, run } = await started({ confidence_below: 0.5 });
    run.on('thought.added', () => say(run, 'in answer'));
    think(run, 0.1);
    await run.settled();
    expect(messages(store)).toEqual(['']);
  });

  it('RUN-15 shares what did not change with the one before, frozen to the last member', async () => {
    const { store, run } = await started();
    say(run, 'one');
    run.context.set('plan', { deep: [{ x: 1 }] });
    run.step();
    say(run, 'two');
    run.step();
    await run.settled();
    const [first, second] = store.sent.map(({ snapshot }) => snapshot as ReturnType<Execution['snapshot']>);
    expect(second!.context.messages[0]).toBe(first!.context.messages[0]);
    expect(second!.context.variables).toBe(first!.context.variables);
    expect(second!.thought_chain).toBe(first!.thought_chain);
    expect(second!.tool_state).toBe(first!.tool_state);
    const isFrozen = (value: unknown): boolean =>
      typeof value !== 'object' || value === null || (Object.isFrozen(value) && Object.values(value).every(isFrozen));
    expect([isFrozen(first), isFrozen(second)]).toEqual([true, true]);
  });

  it('RUN-16 is written in its turn, one at a time, each under the one before', async () => {
    const { store, run } = await started();
    const open = shut(store);
    for (let i = 1; i <= 20; i++) {
      say(run, `${i}`);
      run.step();
    }
    expect(run.unwritten).toBe(20);
    open();
    await run.settled();
    expect([run.unwritten, store.atOnce]).toEqual([0, 1]);
    expect(store.stored.map(({ metadata }) => metadata.step_number)).toEqual(
      Array.from({ length: 20 }, (_, i) => i + 1),
    );
    expect(parents(store)).toEqual([null, ...store.stored.slice(0, -1).map(({ id }) => id)]);
    expect(store.sent[0]).toMatchObject({ root: true });
    expect(run.latest_checkpoint_id).toBe(store.stored.at(-1)!.id);
  });

  it('is told of when it is stored', async () => {
    const { store, run } = await started();
    const told = vi.fn();
    run.on('checkpoint', told);
    const open = shut(store);
    run.step();
    await new Promise((resolve) => setImmediate(resolve));
    expect(told).not.toHaveBeenCalled();
    open();
    await run.settled();
    const { snapshot: _, ...summary } = store.stored[0]!;
    expect(told.mock.calls).toEqual([[summary]]);
  });
});

describe('a write that fails', () => {
  const full = new CairnError('STORAGE_FULL', 'the disk is full');

  it('RUN-17 is told by settled, once, and by an event; the next goes on from what was written', async () => {
    const { store, run } = await started();
    const errors = vi.fn();
    run.on('error', errors);
    store.faults.push(undefined, full, new Error('and again'));
    for (let i = 0; i < 4; i++) run.step();
    const [first, second] = [run.settled(), run.settled()];
    await expect(first).rejects.toBe(full);
    await expect(second).rejects.toBe(full);
    await run.settled();
    expect(store.stored.map(({ metadata }) => metadata.step_number)).toEqual([1, 4]);
    expect(parents(store)).toEqual([null, store.stored[0]!.id]);
    expect(errors.mock.calls.map(([failure]) => failure.error.message)).toEqual(['the disk is full', 'and again']);
    expect(errors.mock.calls[0]![0]).toMatchObject({ source: 'checkpoint', reason: 'step_complete' });
  });

  it('RUN-17 is never an unhandled rejection', async () => {
    const unhandled = vi.fn();
    process.on('unhandledRejection', unhandled);
    try {
      const { store, run } = await started();
      store.faults.push(full, full);
      run.step();
      void run.checkpoint();
      while (run.unwritten > 0) await new Promise((resolve) => setImmediate(resolve));
      await new Promise((resolve) => setImmediate(resolve));
      expect(unhandled).not.toHaveBeenCalled();
      await expect(run.close('completed')).rejects.toBe(full);
      expect(store.executionsById.get('run-1')?.status).toBe('running');
      await run.close('completed');
      expect(store.executionsById.get('run-1')?.status).toBe('completed');
    } finally {
      process.off('unhandledRejection', unhandled);
    }
  });

  it('rejects the promise of one that was taken by hand', async () => {
    const { store, run } = await started();
    store.faults.push(full);
    await expect(run.checkpoint()).rejects.toBe(full);
    await expect(run.settled()).rejects.toBe(full);
    expect((await run.checkpoint()).metadata.checkpoint_reason).toBe('manual');
    await run.settled();
  });

  it('may be one that throws at once', async () => {
    const run = new Execution({
      store: {
        checkpoints: {
          create: () => {
            throw full;
          },
        },
      },
    });
    run.step();
    await expect(run.settled()).rejects.toBe(full);
  });
});

describe('by hand', () => {
  it('is refused at once where it cannot be', async () => {
    expect(() => new Execution().checkpoint()).toThrow('this run has no store for checkpoints: use toCheckpoint');
    const { store, run } = await started();
    expect(() => run.checkpoint({ name: '' })).toThrow(/^checkpoint: name: /);
    expect(() => run.checkpoint({ title: 'x' } as never)).toThrow('checkpoint: unknown field "title"');
    await run.close();
    expect(() => run.checkpoint()).toThrow('this run is closed: resume the execution to continue');
    expect(store.stored).toEqual([]);
    await expect(new Execution().close('failed')).rejects.toThrow('the status "failed" cannot be set');
  });
});
