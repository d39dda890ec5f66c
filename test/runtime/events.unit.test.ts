/** What a run tells of its changes, to whom, in which order, and what becomes of a listener that throws. */
import { afterEach, describe, expect, it, vi } from 'vitest';
import { Execution, type RunEvents } from '#cairn/runtime/index.js';
import { recordingStore } from '../support/stand-ins/recording-store.js';

afterEach(() => vi.restoreAllMocks());

/** Every event of a run, in order. */
function heard(run: Execution): [keyof RunEvents, unknown][] {
  const all: [keyof RunEvents, unknown][] = [];
  const events = [
    'thought.added',
    'thought.changed',
    'thought.removed',
    'thought.current',
    'message.appended',
    'message.changed',
    'message.removed',
    'variable.changed',
    'memory.changed',
    'tool.started',
    'tool.finished',
    'tool.cancelled',
    'step',
    'tokens.used',
    'checkpoint',
    'error',
  ] as const satisfies readonly (keyof RunEvents)[];
  for (const event of events) run.on(event, (data) => all.push([event, data]));
  return all;
}
const planning = { type: 'planning', content: 'x', confidence: 0.5 } as const;

describe('events', () => {
  it('RUN-9 tell of thoughts', () => {
    const run = new Execution();
    const all = heard(run);
    const a = run.thoughts.add(planning);
    const before = run.thoughts.add(planning);
    const after = run.thoughts.update(before.id, { confidence: 1 });
    run.thoughts.moveTo(a.id);
    run.thoughts.moveTo(a.id);
    const attached = run.thoughts.attach(after.id, null);
    run.thoughts.attach(after.id, null);
    const gone = run.thoughts.remove(a.id);
    expect(all).toEqual([
      ['thought.added', { thought: a }],
      ['thought.added', { thought: before }],
      ['thought.changed', { before, after }],
      ['thought.current', { before: before.id, after: a.id }],
      ['thought.changed', { before: after, after: attached }],
      ['thought.removed', { thought: gone }],
    ]);
  });

  it('RUN-9 tell of messages, variables and memory, with what was before', () => {
    const run = new Execution();
    const all = heard(run);
    const { context } = run;
    const message = context.append({ role: 'user', content: 'hi' });
    const changed = context.updateAt(0, { content: 'ho' });
    context.truncate(0);
    context.truncate(0);
    context.set('plan', [1]);
    context.set('plan', [1]);
    context.setMany({ plan: null, other: 1 });
    context.delete('plan');
    context.delete('plan');
    const first = context.remember('k', 1);
    const second = context.remember('k', 2);
    context.forget('k');
    expect(all).toEqual([
      ['message.appended', { index: 0, message }],
      ['message.changed', { index: 0, before: message, after: changed }],
      ['message.removed', { index: 0, messages: [changed] }],
      ['variable.changed', { name: 'plan', after: [1] }],
      ['variable.changed', { name: 'plan', before: [1], after: null }],
      ['variable.changed', { name: 'other', after: 1 }],
      ['variable.changed', { name: 'plan', before: null }],
      ['memory.changed', { key: 'k', after: first }],
      ['memory.changed', { key: 'k', before: first, after: second }],
      ['memory.changed', { key: 'k', before: second }],
    ]);
  });

  it('RUN-9 tell of tools, steps and tokens', () => {
    const run = new Execution();
    const all = heard(run);
    const id = run.tools.start('shell', { arguments: { a: 1 } });
    const call = run.tools.fail(id, 'no');
    const other = run.tools.start('shell');
    run.tools.cancel(other);
    run.useTokens(5);
    run.step({ tokens: 10 });
    run.step();
    expect(all).toEqual([
      ['tool.started', { id, tool_id: 'shell', arguments: { a: 1 } }],
      ['tool.finished', { call }],
      ['tool.started', { id: other, tool_id: 'shell', arguments: {} }],
      ['tool.cancelled', { id: other }],
      ['tokens.used', { tokens: 5, tokens_used: 5 }],
      ['step', { step_number: 1, tokens_used: 15 }],
      ['step', { step_number: 2, tokens_used: 15 }],
    ]);
  });

  it('are not told of what was refused', () => {
    const run = new Execution();
    const all = heard(run);
    expect(() => run.useTokens(-1)).toThrow('useTokens: `tokens` must be an integer ≥ 0, not -1');
    expect(() => run.step({ tokens: 0.5 })).toThrow('step: `tokens` must be an integer ≥ 0, not 0.5');
    expect(() => run.context.set('x', Number.NaN)).toThrow();
    expect(() => run.thoughts.remove('x')).toThrow();
    expect([run.tokens_used, run.step_number, all]).toEqual([0, 0, []]);
  });
});

describe('a listener', () => {
  it('is told no more after off, each registration by itself', () => {
    const run = new Execution();
    const listener = vi.fn();
    const off = run.on('step', listener);
    run.on('step', listener);
    run.step();
    off();
    off();
    run.step();
    expect(listener).toHaveBeenCalledTimes(3);
  });

  it('may end another, or add one, while it is told', () => {
    const run = new Execution();
    const late = vi.fn();
    const ended = vi.fn();
    run.on('step', () => {
      off();
      run.on('step', late);
    });
    const off = run.on('step', ended);
    run.step();
    expect([ended.mock.calls.length, late.mock.calls.length]).toEqual([0, 0]);
    run.step();
    expect(late).toHaveBeenCalledTimes(1);
  });

  it('RUN-9 that changes the state lets the others hear of things in order', () => {
    const run = new Execution();
    run.on('step', ({ step_number }) => run.context.set('at', step_number));
    const all = heard(run);
    run.step();
    run.step();
    expect(all.map(([event]) => event)).toEqual(['step', 'variable.changed', 'step', 'variable.changed']);
  });

  it('RUN-10 that throws breaks neither the run nor the others, and is told of as an error', async () => {
    const run = new Execution();
    const wrong = new Error('listener');
    const later = new Error('later');
    run.on('step', () => {
      throw wrong;
    });
    run.on('step', async () => {
      throw later;
    });
    const all = heard(run);
    expect(run.step()).toBe(1);
    await Promise.resolve();
    await Promise.resolve();
    expect(all).toEqual([
      ['step', { step_number: 1, tokens_used: 0 }],
      ['error', { source: 'listener', error: wrong, event: 'step' }],
      ['error', { source: 'listener', error: later, event: 'step' }],
    ]);
    await run.settled();
  });

  it('RUN-10 that throws is shown on the console when nobody listens for errors, or its own listener throws', () => {
    const shown = vi.spyOn(console, 'error').mockImplementation(() => {});
    const run = new Execution({ execution_id: 'run-1' });
    const wrong = new Error('listener');
    run.on('step', () => {
      throw wrong;
    });
    run.step();
    expect(shown).toHaveBeenLastCalledWith('A listener for "step" of execution "run-1" failed:', wrong);
    const worse = new Error('of the error listener');
    run.on('error', () => {
      throw worse;
    });
    run.step();
    expect(shown).toHaveBeenCalledTimes(2);
    expect(shown).toHaveBeenLastCalledWith('A listener for "error" of execution "run-1" failed:', worse);
  });

  it('RUN-10 that throws does not fail the checkpoint it is told of', async () => {
    const shown = vi.spyOn(console, 'error').mockImplementation(() => {});
    const store = recordingStore();
    const run = await Execution.start(store);
    run.on('checkpoint', () => {
      throw new Error('listener');
    });
    run.step();
    run.step();
    await run.settled();
    expect(store.stored).toHaveLength(2);
    expect(shown).toHaveBeenCalledTimes(2);
  });
});
