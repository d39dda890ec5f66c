import { expect, it } from 'vitest';
import type { Snapshot } from '#cairn/checkpoints/checkpoints/model.js';
import type { Api } from '#cairn/client/index.js';
import type { Json, JsonObject } from '#cairn/kernel/contract.js';
import {
  message,
  numbered,
  snapshotOf,
  someExecution,
  state,
  take,
  thought,
  toolCall,
} from '../support/nouns/checkpoints.js';
import { eventsOf } from '../support/nouns/scopes.js';
import { onEveryTarget } from '../support/targets.js';

const whole: Snapshot = {
  thought_chain: {
    current_step_id: 'b',
    steps: [
      thought('a', { type: 'planning', children: ['b'], metadata: { model: ['m', { t: 0.7 }] } }),
      thought('b', { type: 'decision', parent_id: 'a', reasoning: 'because', confidence: 1, timestamp: 1.5 }),
    ],
  },
  context: {
    messages: [
      { role: 'system', content: '' },
      { role: 'assistant', content: 'calling', tool_calls: [{ id: 1, args: { q: null } }] },
      { role: 'tool', content: 'ü😀', tool_results: { ok: true } },
    ],
    variables: { n: 0.1, none: null, list: [], nested: { '': [[]], 'a/b~c': -1 } },
    memory: [{ key: '', value: { any: ['thing'] }, importance: -2.5 }],
  },
  tool_state: {
    last_tool_call_id: 'call-1',
    pending: ['call-2', 'call-2'],
    completed: [
      toolCall('shell', { id: 'call-1', arguments: { cmd: 'ls' }, result: ['a', { b: 1 }], duration_ms: 0.25 }),
      toolCall('shell', { success: false, result: 'no', timestamp: 99 }),
    ],
  },
};

/** Takes states one after another and reads all of them back. */
async function followed(cairn: Api, states: readonly Snapshot[]): Promise<void> {
  const execution_id = await someExecution(cairn);
  const kept: { id: string; given: Snapshot }[] = [];
  for (const given of states)
    kept.push({ id: (await take(cairn, execution_id, given)).id, given: structuredClone(given) });
  for (const { id, given } of kept) expect(await snapshotOf(cairn, id)).toEqual(given);
}

const long = (start: string, length = 5000): string => start.padEnd(length, '.');

onEveryTarget('states of checkpoints', (test) => {
  it('CKPT-1 a checkpoint is read back with every field as it was sent, by id, as the latest and in lists', async () => {
    const cairn = await test().freshTenant();
    const execution_id = await someExecution(cairn, { agent_id: 'ann' });
    const sent = {
      checkpoint_id: 'cp-1',
      execution_id,
      metadata: {
        step_number: 3,
        total_steps_estimate: 7.5,
        tokens_used: 1200,
        duration_ms: 12.75,
        checkpoint_reason: 'tool_error' as const,
      },
      name: 'before the fix',
      description: 'why\nit was taken',
      labels: { stage: { of: ['a', 1.5] }, done: false },
      timestamp: 1_700_000_000_000.25,
    };
    const made = await cairn.checkpoints.create({ ...sent, snapshot: whole });
    const { checkpoint_id, ...fields } = sent;
    expect(made).toEqual({ version: '1.0.0', id: checkpoint_id, agent_id: 'ann', ...fields });
    expect(await cairn.checkpoints.get({ checkpoint_id })).toEqual({ ...made, snapshot: whole });
    expect(await cairn.checkpoints.latest({ execution_id })).toEqual({ ...made, snapshot: whole });
    expect(await cairn.checkpoints.list({ execution_id })).toEqual({
      checkpoints: [made],
      next_cursor: null,
      total: 1,
    });
    expect(await cairn.executions.get({ execution_id })).toMatchObject({
      checkpoints: 1,
      latest_checkpoint_id: 'cp-1',
    });
  });

  it('CKPT-1 only an execution and a snapshot are needed', async () => {
    const cairn = await test().freshTenant();
    const before = test().store.driver.now();
    const made = await take(cairn, await someExecution(cairn), state());
    expect(made).toEqual({
      version: '1.0.0',
      id: expect.stringMatching(/^[\da-f]{8}-[\da-f]{4}-7/),
      timestamp: expect.any(Number),
      execution_id: made.execution_id,
      agent_id: 'agent',
      metadata: { step_number: 0, tokens_used: 0, duration_ms: 0, checkpoint_reason: 'manual' },
    });
    expect(made.timestamp).toBeGreaterThanOrEqual(before);
    expect(await snapshotOf(cairn, made.id)).toEqual(state());
  });

  it('CKPT-1 a checkpoint is told by ids and numbers, never by content', async () => {
    const cairn = await test().freshTenant();
    const execution_id = await someExecution(cairn);
    const first = await take(cairn, execution_id, state({ variables: { secret: 'hidden-word' } }), {
      name: 'hidden-word',
      labels: { hidden: 'hidden-word' },
    });
    const second = await take(cairn, execution_id, numbered(1), { metadata: { step_number: 4 } });
    const facts = { execution_id, checkpoint_reason: 'manual', bytes: expect.any(Number) };
    expect(await eventsOf(cairn, 'cairn.checkpoint.created', first.id)).toMatchObject([{ ...facts, step_number: 0 }]);
    expect(await eventsOf(cairn, 'cairn.checkpoint.created', second.id)).toMatchObject([
      { ...facts, step_number: 4, parent: first.id },
    ]);
    const { packets } = await cairn.packets.list({ limit: 500 });
    expect(JSON.stringify(packets)).not.toContain('hidden');
  });

  it('CKPT-3 optional members come and go', async () => {
    const cairn = await test().freshTenant();
    await followed(cairn, [
      state(),
      whole,
      { ...whole, thought_chain: { steps: whole.thought_chain.steps } },
      state({ memory: [] }),
      state(),
      { ...state(), thought_chain: { current_step_id: 'x', steps: [] } },
      whole,
    ]);
  });

  it('CKPT-3 messages are appended, edited, taken out, put between, and a window slides', async () => {
    const cairn = await test().freshTenant();
    const texts = Array.from({ length: 40 }, (_, i) => `${i}`.padEnd(i % 7 === 0 ? 1500 : 30, '.'));
    const of = (list: readonly string[]) => state({ messages: list.map(message) });
    const steps: string[][] = [texts.slice(0, 3), texts.slice(0, 20), texts.slice(0, 21)];
    steps.push(texts.slice(0, 21).with(4, 'edited'));
    steps.push(texts.slice(0, 21).toSpliced(7, 3));
    steps.push(texts.slice(0, 21).toSpliced(9, 0, 'between', long('and another')));
    for (let i = 0; i < 4; i++) steps.push(texts.slice(i * 3, 12 + i * 3));
    steps.push(texts.slice(0, 12).toReversed(), [], texts);
    await followed(cairn, steps.map(of));
  });

  it('CKPT-3 variables are added, changed, taken out and change their kind', async () => {
    const cairn = await test().freshTenant();
    const values: Json[] = [1, 'text', null, [1, [2]], { a: { b: 1 } }, {}, [], false, long('x'), 0, -1e-7];
    await followed(
      cairn,
      values.map((x, i) => state({ variables: { x, same: [long('s')], ...(i % 2 === 0 ? { even: i } : {}) } })),
    );
  });

  it('CKPT-3 what is large is cut and changes in its depths', async () => {
    const cairn = await test().freshTenant();
    const plan = (n: number, title: string): JsonObject => ({
      title,
      steps: Array.from({ length: n }, (_, i) => ({ step: i, text: long(`${i}`, 400), tags: ['a', `${i}`] })),
      deep: { one: { two: { three: [long('leaf'), { four: long('four', 4200) }] } } },
    });
    const with20 = plan(20, 't') as { steps: { step: number }[]; deep: { one: JsonObject } };
    const edited = structuredClone(with20);
    edited.steps[7]!.step = -1;
    const inserted = structuredClone(edited);
    inserted.steps.splice(3, 0, { step: 100 });
    const deeper = structuredClone(inserted);
    deeper.deep.one = { two: { three: [long('leaf'), { four: long('other', 4200) }] } };
    const turned = structuredClone(deeper);
    turned.steps.reverse();
    const shrunk = { ...turned, steps: 'no list any more', deep: { one: {} } };
    const states: Json[] = [plan(3, 't'), with20, edited, inserted, deeper, turned, shrunk, with20, [with20, with20]];
    await followed(
      cairn,
      states.map((value) => state({ variables: { plan: value, other: 1 } })),
    );
  });

  it('CKPT-3 thoughts are added, edited, moved and taken out; tools finish', async () => {
    const cairn = await test().freshTenant();
    const [a, b, c] = [thought('a'), thought('b'), thought('c')];
    const steps = [a, b, c];
    await followed(cairn, [
      state({ steps: [a], pending: ['t1', 't2'] }),
      state({ steps, pending: ['t2'], completed: [toolCall('x', { id: 't1' })] }),
      state({ steps: [a, { ...b, confidence: 0.9, content: long('edited') }, c], completed: [] }),
      state({ steps: [c, a], completed: [toolCall('x', { id: 't1' }), toolCall('x'), toolCall('x')] }),
      state({ steps: [b, c, a], completed: [toolCall('x'), toolCall('x', { id: 't1', success: false })] }),
      state({ steps: [], completed: [toolCall('x', { result: { text: long('r', 9000) } })] }),
      state({ steps }),
    ]);
  });

  it('CKPT-3 memory is kept in its order, with equal keys', async () => {
    const cairn = await test().freshTenant();
    const entry = (key: string, value: Json) => ({ key, value, importance: 1 });
    await followed(cairn, [
      state({ memory: [entry('k', 1), entry('k', 1), entry('', long('v'))] }),
      state({ memory: [entry('', long('v')), entry('k', 1)] }),
      state({ memory: [entry('k', { a: [long('v')] })] }),
    ]);
  });

  it('CKPT-3 names of any kind are names: __proto__, empty, unicode, those of paths', async () => {
    const cairn = await test().freshTenant();
    const names = ['__proto__', '', 'constructor', 'toString', '😀é', 'a/b', '~0', '0', '10', '9', ' ', '"\\', '\n'];
    const every = (value: Json): JsonObject => {
      const made: JsonObject = {};
      for (const name of names)
        Object.defineProperty(made, name, { value, enumerable: true, writable: true, configurable: true });
      return made;
    };
    const states = [every(1), every({ long: long('x') }), every(every([long('y', 1000)])), {}, every(null)];
    const execution_id = await someExecution(cairn);
    const made: [string, JsonObject][] = [];
    for (const variables of states) made.push([(await take(cairn, execution_id, state({ variables }))).id, variables]);
    for (const [id, variables] of made) {
      const read = (await snapshotOf(cairn, id)).context.variables;
      expect(Object.keys(read).sort()).toEqual(Object.keys(variables).sort());
      expect(JSON.stringify(sorted(read))).toBe(JSON.stringify(sorted(variables)));
      expect(Object.getPrototypeOf(read)).toBe(Object.prototype);
    }
  });

  it('CKPT-4 a state that did not change, and one more message on a long one, store little', async () => {
    const cairn = await test().freshTenant();
    const execution_id = await someExecution(cairn);
    const messages = Array.from({ length: 200 }, (_, i) => message(long(`${i}`, 500)));
    const parts = { messages, variables: { plan: { text: long('p'), list: messages.map(({ content }) => content) } } };
    const bytes = async (given: Snapshot): Promise<number> => {
      const { id } = await take(cairn, execution_id, given);
      const [told] = await eventsOf(cairn, 'cairn.checkpoint.created', id);
      return told!.bytes as number;
    };
    expect(await bytes(state(parts))).toBeGreaterThan(200_000);
    expect(await bytes(state(parts))).toBe(0);
    expect(await bytes(state({ ...parts, messages: [...messages, message('new')] }))).toBeLessThan(100);
    const { stored_bytes } = await cairn.executions.stats({ execution_id });
    expect(stored_bytes).toBeLessThan(300_000);
  });

  it('CKPT-4 a list of pending tools that grows stores what it grows by', async () => {
    const cairn = await test().freshTenant();
    const execution_id = await someExecution(cairn);
    const pending: string[] = [];
    let last = '';
    for (let i = 0; i < 300; i++) {
      pending.push(`tool number ${i}`);
      last = (await take(cairn, execution_id, state({ pending: [...pending] }))).id;
    }
    const [told] = await eventsOf(cairn, 'cairn.checkpoint.created', last);
    expect(told!.bytes).toBeLessThan(1000);
    expect(told!.bytes).toBeGreaterThan(0);
    const { stored_bytes } = await cairn.executions.stats({ execution_id });
    expect(stored_bytes).toBeLessThan(20_000);
    expect((await snapshotOf(cairn, last)).tool_state.pending).toEqual(pending);
  });

  it('CKPT-5 what a caller does to a snapshot after or between calls changes nothing that is stored', async () => {
    const cairn = await test().freshTenant();
    const execution_id = await someExecution(cairn);
    const live = structuredClone(whole);
    live.context.variables = { plan: { steps: [{ text: long('one') }, { text: 'two' }] }, n: 0 };
    const kept: [string, Snapshot][] = [];
    const keep = async () => {
      const given = structuredClone(live);
      kept.push([(await take(cairn, execution_id, live)).id, given]);
    };
    await keep();
    live.context.messages[0]!.content = 'edited in place';
    live.context.variables.n = 1;
    await keep();
    (live.context.variables.plan as { steps: JsonObject[] }).steps[1]!.text = 'edited deep below';
    live.thought_chain.steps[0]!.metadata!.model = 'another';
    live.thought_chain.steps[1]!.children.push('x');
    await keep();
    live.tool_state.completed[1]!.success = true;
    live.tool_state.pending.length = 0;
    live.context.messages.length = 1;
    live.context.memory!.push({ key: 'late', value: [], importance: 0 });
    await keep();
    live.context.variables = {};
    live.thought_chain.steps.reverse();
    for (const [id, given] of kept) expect(await snapshotOf(cairn, id)).toEqual(given);
    // What was read is the reader's own as well.
    const read = await snapshotOf(cairn, kept[0]![0]);
    const again = structuredClone(read);
    expect(() => {
      read.context.messages.pop();
      read.context.variables.n = 99;
    }).not.toThrow();
    await keep();
    expect(await snapshotOf(cairn, kept[0]![0])).toEqual(again);
    expect(await snapshotOf(cairn, kept.at(-1)![0])).toEqual(kept.at(-1)![1]);
  });

  it.each([
    ['the tenant', undefined],
    ['an agent', 'ann'],
  ])('CKPT-5 a snapshot is taken at the call, also when %s does not wait for it', async (_, agent) => {
    const tenant = `at-once-${agent}`;
    const cairn = await test().as(agent === undefined ? { tenant } : { tenant, agent });
    const execution_id = await someExecution(cairn);
    const live = state({ messages: [], variables: { plan: { text: long('x'), done: [] } } });
    const labels = { n: -1 };
    const given: Snapshot[] = [];
    const asked = Array.from({ length: 6 }, (_, n) => {
      live.context.messages.push(message(`${n}`));
      (live.context.variables.plan as { done: Json[] }).done.push(n);
      labels.n = n;
      given.push(structuredClone(live));
      // Some say what they follow, and all are under way at once.
      return take(cairn, execution_id, live, { labels, ...(n % 2 === 0 ? {} : { root: true }) });
    });
    live.context.messages.length = 0;
    live.context.variables = {};
    for (const [n, { id }] of (await Promise.all(asked)).entries())
      expect(await cairn.checkpoints.get({ checkpoint_id: id })).toMatchObject({ snapshot: given[n], labels: { n } });
  });

  it('CKPT-5 frozen values are taken by what they are, also where one stands twice', async () => {
    const cairn = await test().freshTenant();
    const call = deepFrozen(toolCall('shell'));
    const same = deepFrozen({ text: long('same'), list: [1, { a: 1 }] });
    await followed(cairn, [
      state({ completed: [call, call], messages: [deepFrozen(message('m'))] }),
      state({ completed: [call, call, call], variables: { a: same, b: same, c: [same, same] } }),
      state({ completed: [toolCall('other'), call], variables: { b: same, c: [same] } }),
      state({ completed: [call, toolCall('other'), call], variables: { b: [same] } }),
    ]);
  });
});

function sorted(value: Json): Json {
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.map(sorted);
  return Object.entries(value)
    .map(([name, member]): Json => [name, sorted(member)])
    .sort((x, y) => ((x as string[])[0]! < (y as string[])[0]! ? -1 : 1));
}

function deepFrozen<T extends object>(value: T): T {
  for (const member of Object.values(value)) if (typeof member === 'object' && member !== null) deepFrozen(member);
  return Object.freeze(value);
}
