/** CairnSaver beyond the conformance suite: real graphs, changes in place, other processes, pruning and deletion. */
import { AIMessage, type BaseMessage, HumanMessage } from '@langchain/core/messages';
import type { RunnableConfig } from '@langchain/core/runnables';
import {
  Annotation,
  Command,
  END,
  interrupt,
  MemorySaver,
  MessagesAnnotation,
  Send,
  START,
  StateGraph,
} from '@langchain/langgraph';
import {
  type BaseCheckpointSaver,
  type CheckpointTuple,
  copyCheckpoint,
  emptyCheckpoint,
  uuid6,
} from '@langchain/langgraph-checkpoint';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { CairnSaver } from '#cairn/adapters/langgraph/index.js';
import type { Api } from '#cairn/client/index.js';
import { onEveryTarget, refusalOf } from '../support/targets.js';

const META = { source: 'loop', step: 0, parents: {} } as const;

async function all(list: AsyncGenerator<CheckpointTuple>): Promise<CheckpointTuple[]> {
  const found: CheckpointTuple[] = [];
  for await (const tuple of list) found.push(tuple);
  return found;
}

let clock = 0;
/** Stores a state on top of another; every channel is new unless said otherwise. */
async function put(
  saver: BaseCheckpointSaver,
  config: { configurable?: Record<string, unknown> },
  channel_values: Record<string, unknown>,
  options: { versions?: Record<string, number>; changed?: readonly string[]; metadata?: object } = {},
) {
  const channel_versions =
    options.versions ?? Object.fromEntries(Object.keys(channel_values).map((name) => [name, ++clock]));
  const changed = options.changed ?? Object.keys(channel_versions);
  return saver.put(
    config,
    { ...emptyCheckpoint(), id: uuid6(++clock), channel_values, channel_versions },
    { ...META, ...options.metadata },
    Object.fromEntries(changed.map((name) => [name, channel_versions[name]!])),
  );
}

const thread = (thread_id: string) => ({ configurable: { thread_id } });

/** Asks, is interrupted for a yes, and fans out to as many workers as it was told. */
function approvalGraph(checkpointer: BaseCheckpointSaver) {
  const State = Annotation.Root({
    ...MessagesAnnotation.spec,
    done: Annotation<string[]>({ reducer: (a, b) => [...a, ...b], default: () => [] }),
    seen: Annotation<Map<string, number>>(),
  });
  return new StateGraph(State)
    .addNode('ask', () => ({ messages: [new AIMessage({ id: 'ask', content: 'May I?' })] }))
    .addNode('wait', () => {
      const answer = interrupt('yes or no') as string;
      return { messages: [new HumanMessage({ id: 'answer', content: answer })], seen: new Map([[answer, 1]]) };
    })
    .addNode('work', (input: { n: number }) => ({ done: [`work ${input.n}`] }))
    .addEdge(START, 'ask')
    .addEdge('ask', 'wait')
    .addConditionalEdges('wait', () => [1, 2, 3].map((n) => new Send('work', { n })))
    .addEdge('work', END)
    .compile({ checkpointer });
}

interface Channels {
  messages?: BaseMessage[];
  vars?: Record<string, unknown>;
  list?: unknown[];
  map?: Map<string, number>;
}

/** Changes a state as nodes and reducers do, in place or not. Gives the channel. */
function change(values: Record<string, unknown>, what: string, n: number): keyof Channels {
  const state = values as Channels;
  const messages = state.messages ?? [];
  switch (what) {
    case 'append':
      state.messages = [...messages, new HumanMessage({ id: `m${++clock}`, content: `text ${n}` })];
      return 'messages';
    case 'edit': {
      const message = messages[n % Math.max(1, messages.length)];
      if (message) message.additional_kwargs.edited = { by: [n] };
      return 'messages';
    }
    case 'cut':
      state.messages = messages.slice(n % 4);
      return 'messages';
    case 'vars':
      (state.vars ??= { fixed: { a: [1, 2, { b: null }] } })[`v${n % 3}`] = n % 2 ? { n, of: [n] } : undefined;
      return 'vars';
    case 'list':
      (state.list ??= []).splice(n % 3, n % 2, n, { n }, 'x\u0000y');
      return 'list';
    case 'map':
      (state.map ??= new Map()).set(`${n}`, n);
      return 'map';
    default:
      delete state.vars;
      return 'vars';
  }
}

/** As the serializer shows it: messages that were loaded have other hidden members than those that were made. */
const plain = (value: unknown): unknown =>
  JSON.parse(JSON.stringify(value, (_key, part) => (part instanceof Map ? { map: [...part] } : part)));

const texts = (messages: readonly BaseMessage[]) => messages.map(({ content }) => content);

onEveryTarget('the checkpointer of LangGraph', (test) => {
  const fresh = async () => {
    const cairn = await test().freshTenant();
    return { cairn, saver: new CairnSaver(cairn) };
  };
  const latest = async (cairn: Api, thread_id: string) =>
    new CairnSaver(cairn).getTuple(thread(thread_id)) as Promise<CheckpointTuple>;

  it('runs a graph to its interrupt, and another process goes on, as with the one in memory', async () => {
    const { cairn, saver } = await fresh();
    const memory = new MemorySaver();
    const states = [];
    for (const [first, second] of [
      [saver, new CairnSaver(cairn)],
      [memory, memory],
    ] as const) {
      const input = { messages: [new HumanMessage({ id: 'q', content: 'Deploy' })] };
      const paused = await approvalGraph(first).invoke(input, thread('t'));
      expect(paused).toMatchObject({ __interrupt__: [{ value: 'yes or no' }] });
      const graph = approvalGraph(second);
      expect((await graph.getState(thread('t'))).next).toEqual(['wait']);
      const ended = await graph.invoke(new Command({ resume: 'yes' }), thread('t'));
      expect(texts(ended.messages)).toEqual(['Deploy', 'May I?', 'yes']);
      expect(ended.seen).toEqual(new Map([['yes', 1]]));
      const history = [];
      for await (const { values, metadata, next } of graph.getStateHistory(thread('t')))
        history.push({ messages: texts(values.messages ?? []), done: values.done, next, step: metadata?.step });
      states.push({ done: ended.done, history });
    }
    expect(states[0]).toEqual(states[1]);
    expect(states[0]!.done).toEqual(['work 1', 'work 2', 'work 3']);
  });

  it('goes back in time and branches, as with the one in memory', async () => {
    const { cairn, saver } = await fresh();
    const outcomes = [];
    for (const checkpointer of [saver, new MemorySaver()]) {
      const graph = approvalGraph(checkpointer);
      await graph.invoke({ messages: [new HumanMessage({ id: 'q', content: 'Deploy' })] }, thread('t'));
      await graph.invoke(new Command({ resume: 'yes' }), thread('t'));
      const states = [];
      for await (const state of graph.getStateHistory(thread('t'))) states.push(state);
      const waiting = states.find(({ next }) => next[0] === 'wait')!;
      const forked = await graph.updateState(waiting.config, {
        messages: [new HumanMessage({ id: 'q', content: 'Deploy later' })],
      });
      await graph.invoke(null, forked);
      const no = await graph.invoke(new Command({ resume: 'no' }), thread('t'));
      const copied = await graph.updateState(waiting.config, null, '__copy__');
      outcomes.push({
        no: texts(no.messages),
        before: texts((await graph.getState(states[0]!.config)).values.messages),
        copied: texts((await graph.getState(copied)).values.messages),
      });
    }
    expect(outcomes[0]).toEqual(outcomes[1]);
    expect(outcomes[0]!.no).toEqual(['Deploy later', 'May I?', 'no']);
    const [execution] = (await cairn.executions.list({ thread_id: 't' })).executions;
    const { nodes } = await cairn.executions.tree({ execution_id: execution!.execution_id });
    expect(nodes.filter(({ is_branch }) => is_branch).length).toBeGreaterThan(0);
  });

  it.each(['sync', 'async', 'exit'] as const)('keeps the state of durability %s', async (durability) => {
    const { cairn, saver } = await fresh();
    const graph = approvalGraph(saver);
    const config = { ...thread('t'), durability };
    await graph.invoke({ messages: [new HumanMessage('Deploy')] }, config);
    await graph.invoke(new Command({ resume: 'yes' }), config);
    const { checkpoint } = await latest(cairn, 't');
    expect(checkpoint.channel_values.done).toEqual(['work 1', 'work 2', 'work 3']);
  });

  it('stores a message that was changed in place', async () => {
    const { cairn, saver } = await fresh();
    const messages = [new HumanMessage({ id: 'a', content: 'first' }), new AIMessage({ id: 'b', content: 'x' })];
    const one = await put(saver, thread('t'), { messages });
    messages[0]!.content = 'changed';
    messages[1]!.additional_kwargs.note = { deep: [1] };
    const two = await put(saver, one, { messages });
    const before = (await new CairnSaver(cairn).getTuple(one))!.checkpoint.channel_values.messages;
    expect(texts(before as BaseMessage[])).toEqual(['first', 'x']);
    const after = (await new CairnSaver(cairn).getTuple(two))!.checkpoint.channel_values.messages;
    expect(after).toMatchObject([{ content: 'changed' }, { additional_kwargs: { note: { deep: [1] } } }]);
  });

  it('gives every caller values of its own', async () => {
    const { saver } = await fresh();
    const config = await put(saver, thread('t'), { plan: { steps: ['a'] } });
    const first = (await saver.getTuple(config))!.checkpoint.channel_values as { plan: { steps: string[] } };
    first.plan.steps.push('b');
    expect((await saver.getTuple(config))!.checkpoint.channel_values).toEqual({ plan: { steps: ['a'] } });
  });

  it('drops a channel that is new and empty, keeps one that is not new, by its version', async () => {
    const { cairn, saver } = await fresh();
    const one = await put(saver, thread('t'), { a: 'a1', b: 'b1' }, { versions: { a: 1, b: 1 } });
    const two = await put(saver, one, { a: 'ignored' }, { versions: { a: 1, b: 2 }, changed: ['b'] });
    expect((await saver.getTuple(two))!.checkpoint.channel_values).toEqual({ a: 'a1' });
    // A process that has seen neither.
    const other = new CairnSaver(cairn);
    const three = await put(other, one, { c: 'c1' }, { versions: { a: 1, b: 1, c: 1 }, changed: ['c'] });
    expect((await other.getTuple(three))!.checkpoint.channel_values).toEqual({ a: 'a1', b: 'b1', c: 'c1' });
    // A parent of another version does not have the value.
    const four = await put(other, two, { b: 'b3' }, { versions: { b: 3 }, changed: [] });
    expect((await other.getTuple(four))!.checkpoint.channel_values).toEqual({ b: 'b3' });
  });

  it('waits for the parent, and brings writes along that came before their checkpoint', async () => {
    const { cairn, saver } = await fresh();
    const [a, b] = [uuid6(++clock), uuid6(++clock)];
    const config = (checkpoint_id: string) => ({ configurable: { thread_id: 't', checkpoint_ns: '', checkpoint_id } });
    const state = (id: string) => ({ ...emptyCheckpoint(), id });
    await saver.putWrites(config(b), [['c', 'early']], 'task');
    await Promise.all([
      saver.put(thread('t'), state(a), META, {}),
      saver.put(config(a), state(b), META, {}),
      saver.putWrites(config(a), [['c', 'at once']], 'task'),
    ]);
    const other = new CairnSaver(cairn);
    expect((await other.getTuple(config(a)))!.pendingWrites).toEqual([['task', 'c', 'at once']]);
    const child = (await other.getTuple(config(b)))!;
    expect(child.pendingWrites).toEqual([['task', 'c', 'early']]);
    expect(child.parentConfig).toEqual(config(a));
    // Of a checkpoint that never comes.
    await saver.putWrites(config(uuid6(++clock)), [['c', 'lost']], 'task');
  });

  it('keeps the first write of a place, and the last of those that LangGraph replaces', async () => {
    const { saver } = await fresh();
    const config = await put(saver, thread('t'), {});
    await saver.putWrites(
      config,
      [
        ['a', 1],
        ['b', undefined],
      ],
      'task',
    );
    await saver.putWrites(
      config,
      [
        ['a', 2],
        ['b', 2],
      ],
      'task',
    );
    await saver.putWrites(config, [['__interrupt__', 'one']], 'task');
    await saver.putWrites(config, [['__interrupt__', 'two']], 'task');
    const { pendingWrites } = (await saver.getTuple(config))!;
    expect(pendingWrites).toHaveLength(3);
    expect(pendingWrites).toEqual(
      expect.arrayContaining([
        ['task', 'a', 1],
        ['task', 'b', undefined],
        ['task', '__interrupt__', 'two'],
      ]),
    );
  });

  it('lists across threads, newest first, and filters by members of the metadata', async () => {
    const { cairn, saver } = await fresh();
    await cairn.executions.create({ execution_id: 'other', thread_id: 't1' });
    await cairn.checkpoints.create({
      execution_id: 'other',
      snapshot: {
        thought_chain: { steps: [] },
        context: { messages: [], variables: {} },
        tool_state: { pending: [], completed: [] },
      },
    });
    const made = [];
    for (let n = 0; n < 12; n++)
      made.push(
        await put(saver, thread(`t${n % 2}`), { n }, { metadata: { step: n, by: n < 3 ? 'ann' : 'bob', of: { n } } }),
      );
    const ids = made.map(({ configurable }) => configurable!.checkpoint_id as string);
    const listed = async (config: object, options?: Parameters<CairnSaver['list']>[1]) =>
      (await all(saver.list(config, options))).map(({ checkpoint }) => ids.indexOf(checkpoint.id));
    expect(await listed({})).toEqual([11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0]);
    expect(await listed(thread('t1'))).toEqual([11, 9, 7, 5, 3, 1]);
    expect(await listed({}, { filter: { by: 'ann' } })).toEqual([2, 1, 0]);
    expect(await listed({}, { filter: { by: 'ann', step: 1 } })).toEqual([1]);
    expect(await listed({}, { filter: { of: { n: 4 } } })).toEqual([4]);
    expect(await listed({}, { filter: { by: undefined } })).toEqual([]);
    expect(await listed({}, { filter: { nobody: undefined }, limit: 1 })).toEqual([11]);
    expect(await listed(thread('t0'), { before: made[6]!, limit: 2 })).toEqual([4, 2]);
    expect(await listed(made[5]!)).toEqual([5]);
    expect(await listed({ configurable: { thread_id: 't0', checkpoint_id: ids[5] } })).toEqual([]);
  });

  it('keeps metadata that is larger than labels may be', async () => {
    const { saver } = await fresh();
    const metadata = { ...META, writes: 'x'.repeat(100_000), by: 'ann' };
    const config = await put(saver, thread('t'), {}, { metadata });
    expect((await saver.getTuple(config))!.metadata).toEqual(metadata);
    expect(await all(saver.list({}, { filter: { by: 'ann' } }))).toHaveLength(1);
    expect(await all(saver.list({}, { filter: { writes: metadata.writes } }))).toHaveLength(1);
    expect(await all(saver.list({}, { filter: { writes: 'other' } }))).toEqual([]);
  });

  it('compares an object of a filter with all that is in it, also where it is too large for a label', async () => {
    const { saver } = await fresh();
    const of = (n: number, bytes: number) => ({ n, inner: { list: [n, 'x'.repeat(bytes)] } });
    for (const bytes of [1, 2000]) {
      const one = await put(saver, thread(`t${bytes}`), {}, { metadata: { of: of(1, bytes) } });
      const listed = async (filter: object) =>
        (await all(saver.list(thread(`t${bytes}`), { filter }))).map(({ config }) => config);
      expect(await listed({ of: of(1, bytes) })).toEqual([one]);
      const { inner } = of(1, bytes);
      for (const differing of [
        of(2, bytes),
        { ...of(1, bytes), n: 2 },
        { n: 1, inner: { list: [...inner.list].reverse() } },
        { n: 1, inner, more: 1 },
        { inner },
        {},
        [of(1, bytes)],
      ])
        expect(await listed({ of: differing }), JSON.stringify(differing).slice(0, 50)).toEqual([]);
    }
  });

  it('leaves nothing but ids, versions, source and step to read with a serializer that hides', async () => {
    const cairn = await test().freshTenant();
    const turn = (data: Uint8Array) => Uint8Array.from(data, (byte) => byte ^ 0x55);
    const serde = {
      dumpsTyped: async (value: unknown): Promise<[string, Uint8Array]> => [
        'hidden',
        turn(new TextEncoder().encode(JSON.stringify(value))),
      ],
      loadsTyped: async (_type: string, data: Uint8Array | string) =>
        JSON.parse(new TextDecoder().decode(turn(data as Uint8Array))),
    };
    const saver = new CairnSaver(cairn, { serde });
    const metadata = { ...META, step: 3, by: 'whisper', of: { by: 'a' } };
    const one = await put(saver, thread('t'), { list: ['whisper', 'b'], of: { a: 'whisper' } }, { metadata });
    const two = await put(saver, one, { list: ['whisper', 'b', 'c'] }, { metadata: { by: 'other' } });
    await saver.putWrites(two, [['c', { d: 'whisper' }]], 'task');
    const other = new CairnSaver(cairn, { serde });
    const tuple = (await other.getTuple(one))!;
    expect(tuple.checkpoint.channel_values).toEqual({ list: ['whisper', 'b'], of: { a: 'whisper' } });
    expect(tuple.metadata).toEqual(metadata);
    expect((await other.getTuple(thread('t')))!.pendingWrites).toEqual([['task', 'c', { d: 'whisper' }]]);
    const ids = async (filter: object) => (await all(other.list({}, { filter }))).map(({ config }) => config);
    expect(await ids({ step: 3 })).toEqual([one]);
    expect(await ids({ by: 'other', source: 'loop' })).toEqual([two]);
    expect(await ids({ of: { by: 'a' } })).toEqual([one]);
    expect(await ids({ of: { by: 'b' } })).toEqual([]);
    const { checkpoints } = await cairn.checkpoints.list({ thread_id: 't' });
    const stored = await Promise.all(checkpoints.map(({ id }) => cairn.checkpoints.get({ checkpoint_id: id })));
    expect(JSON.stringify(stored)).not.toContain('whisper');
  });

  it('prunes a thread: the newest stay, and can be gone on from', async () => {
    const { cairn, saver } = await fresh();
    let config: Awaited<ReturnType<typeof put>> = thread('t');
    const messages: HumanMessage[] = [];
    for (let n = 0; n < 10; n++) {
      messages.push(new HumanMessage({ id: `${n}`, content: `message ${n}` }));
      config = await put(saver, config, { messages });
    }
    expect(await saver.prune('t', { keep_newest: 3 })).toMatchObject([{ removed: 7, kept: 3 }]);
    expect(await all(saver.list(thread('t')))).toHaveLength(3);
    expect((await latest(cairn, 't')).checkpoint.channel_values.messages).toEqual(messages);
    messages.push(new HumanMessage('after'));
    await put(saver, config, { messages });
    expect((await latest(cairn, 't')).checkpoint.channel_values.messages).toEqual(messages);
    expect(await saver.prune('nobody')).toEqual([]);
  });

  it('deletes a thread in all its namespaces, for good, and the thread can begin anew', async () => {
    const { cairn, saver } = await fresh();
    const other = new CairnSaver(cairn);
    await put(saver, thread('keep'), { a: 1 });
    for (const round of [1, 2, 3]) {
      const config = await put(saver, thread('t'), { secret: `round ${round}` });
      await put(saver, { configurable: { thread_id: 't', checkpoint_ns: 'child' } }, { secret: 1 });
      await saver.putWrites(config, [['c', 1]], 'task');
      expect((await other.getTuple(thread('t')))!.checkpoint.channel_values).toEqual({ secret: `round ${round}` });
      await (round === 2 ? other : saver).deleteThread('t');
      for (const one of [saver, other, new CairnSaver(cairn)]) {
        expect(await one.getTuple(thread('t'))).toBeUndefined();
        expect(await one.getTuple(config)).toBeUndefined();
        expect(await all(one.list(thread('t')))).toEqual([]);
      }
    }
    expect(await saver.getTuple(thread('keep'))).toBeDefined();
    expect((await cairn.executions.list({ thread_id: 't' })).executions).toEqual([]);
    // Deleted by another process, with this one in the middle of it.
    const one = await put(saver, thread('t'), { a: 1 });
    await new CairnSaver(cairn).deleteThread('t');
    await put(saver, one, { a: 2 });
    expect((await latest(cairn, 't')).checkpoint.channel_values).toEqual({ a: 2 });
  });

  it('sees what another process has added, pruned and restored, whatever it retains', async () => {
    const { cairn, saver } = await fresh();
    const other = new CairnSaver(cairn);
    const made: RunnableConfig[] = [];
    for (let n = 0; n < 5; n++) made.push(await put(saver, made[n - 1] ?? thread('t'), { n }));
    const seen = async (config: object) => {
      const tuple = await saver.getTuple(config);
      const name = (one: RunnableConfig | undefined) =>
        made.findIndex(({ configurable }) => configurable!.checkpoint_id === one?.configurable?.checkpoint_id);
      return tuple && [tuple.checkpoint.channel_values.n, name(tuple.parentConfig)];
    };
    expect(await seen(thread('t'))).toEqual([4, 3]);
    made.push(await put(other, made[4]!, { n: 5 }));
    expect(await seen(thread('t'))).toEqual([5, 4]);
    await other.putWrites(made[5]!, [['c', 1]], 'task');
    expect((await saver.getTuple(thread('t')))!.pendingWrites).toHaveLength(1);
    for (const config of made.slice(2)) await seen(config);
    await other.prune('t', { keep_newest: 2 });
    for (const gone of made.slice(0, 4)) expect(await seen(gone)).toBeUndefined();
    expect(await seen(made[4]!)).toEqual([4, -1]);
    expect(await seen(made[5]!)).toEqual([5, 4]);
    const { checkpoints } = await cairn.checkpoints.list({ thread_id: 't' });
    await cairn.checkpoints.restore({ checkpoint_id: checkpoints[0]!.id });
    expect(await seen(thread('t'))).toEqual([4, -1]);
  });

  it('goes on from a checkpoint that Cairn restored or branched', async () => {
    const { cairn, saver } = await fresh();
    const one = await put(saver, thread('t'), { a: 1 });
    await put(saver, one, { a: 2 });
    const [execution] = (await cairn.executions.list({ thread_id: 't' })).executions;
    const { checkpoints } = await cairn.checkpoints.list({ execution_id: execution!.execution_id });
    const branch = await cairn.checkpoints.branch({ checkpoint_id: checkpoints[0]!.id, reason: 'try again' });
    const tuple = (await saver.getTuple(thread('t')))!;
    expect(tuple.checkpoint).toMatchObject({ id: branch.id, channel_values: { a: 1 } });
    expect(tuple.parentConfig).toEqual(one);
    const { v, channel_versions } = tuple.checkpoint;
    expect(v).toBe(4);
    const other = new CairnSaver(cairn);
    const next = await put(
      other,
      tuple.config,
      { b: 3 },
      { versions: { ...(channel_versions as Record<string, number>), b: 1 }, changed: ['b'] },
    );
    expect((await saver.getTuple(next))!.checkpoint.channel_values).toEqual({ a: 1, b: 3 });
    await other.putWrites(tuple.config, [['c', 1]], 'task');
    expect((await saver.getTuple(tuple.config))!.pendingWrites).toEqual([['task', 'c', 1]]);
  });

  it('keeps tenants apart', async () => {
    const [one, two] = [await fresh(), await fresh()];
    const config = await put(one.saver, thread('t'), { whose: 'one' });
    expect(await two.saver.getTuple(thread('t'))).toBeUndefined();
    expect(await two.saver.getTuple(config)).toBeUndefined();
    expect(await all(two.saver.list({}))).toEqual([]);
    await two.saver.deleteThread('t');
    await put(two.saver, thread('t'), { whose: 'two' });
    expect((await one.saver.getTuple(config))!.checkpoint.channel_values).toEqual({ whose: 'one' });
  });

  it('shows its checkpoints as those of an execution, with what changed', async () => {
    const cairn = await test().freshTenant();
    const saver = new CairnSaver(cairn, { agent_id: 'planner' });
    const one = await put(saver, thread('t'), { plan: 'a' }, { metadata: { source: 'update', step: 3 } });
    await put(saver, one, { plan: 'b' });
    const { checkpoints } = await cairn.checkpoints.list({ thread_id: 't' });
    expect(checkpoints).toMatchObject([
      { agent_id: 'planner', metadata: { step_number: 3, checkpoint_reason: 'manual' } },
      { labels: { source: 'loop' }, metadata: { checkpoint_reason: 'step_complete' } },
    ]);
    const { changes } = await cairn.checkpoints.diff({ checkpoint_id: checkpoints[0]!.id, to: checkpoints[1]!.id });
    expect(changes['/context/variables/channel_values/plan']).toEqual({ before: 'a', after: 'b' });
  });

  it('gives back every state of random histories, with branches and changes in place', async () => {
    const step = fc.record({
      from: fc.nat(),
      what: fc.array(fc.constantFrom('append', 'edit', 'cut', 'vars', 'list', 'drop', 'map'), {
        minLength: 1,
        maxLength: 3,
      }),
      n: fc.nat(9),
    });
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 12 }), async (steps) => {
        const { cairn, saver } = await fresh();
        const memory = new MemorySaver();
        const made: RunnableConfig[] = [thread('t')];
        for (const { from, what, n } of steps) {
          // Mostly from the last, as runs do.
          const parent = made[from % 3 === 0 ? from % made.length : made.length - 1]!;
          const before = (await saver.getTuple(parent))?.checkpoint ?? emptyCheckpoint();
          const checkpoint = { ...copyCheckpoint(before), id: uuid6(++clock) };
          const changed = new Set(what.map((one) => change(checkpoint.channel_values, one, n)));
          const newVersions = Object.fromEntries([...changed].map((channel) => [channel, ++clock]));
          Object.assign(checkpoint.channel_versions, newVersions);
          // The first is asked for as well, though it may have the id of none.
          const config = { configurable: { ...thread('t').configurable, ...parent.configurable } };
          made.push(await saver.put(config, checkpoint, META, newVersions));
          await memory.put(config, checkpoint, META);
        }
        const other = new CairnSaver(cairn);
        for (const config of made.slice(1)) {
          const expected = plain((await memory.getTuple(config))!.checkpoint);
          expect(plain((await other.getTuple(config))!.checkpoint)).toEqual(expected);
          expect(plain((await saver.getTuple(config))!.checkpoint)).toEqual(expected);
        }
      }),
      { numRuns: test().target === 'sqlite' ? 40 : 8 },
    );
  });

  it('says what is missing in a config', async () => {
    const { saver } = await fresh();
    const state = emptyCheckpoint();
    expect(await saver.getTuple({})).toBeUndefined();
    expect(await refusalOf(saver.put({}, state, META, {}))).toMatchObject({
      code: 'INVALID_INPUT',
      message: expect.stringContaining('thread_id'),
    });
    expect(await refusalOf(saver.putWrites(thread('t'), [['a', 1]], 'task'))).toMatchObject({
      code: 'INVALID_INPUT',
      message: expect.stringContaining('checkpoint_id'),
    });
    expect(await refusalOf(saver.put({ configurable: { thread_id: 7 } }, state, META, {}))).toMatchObject({
      code: 'INVALID_INPUT',
      message: 'config.configurable.thread_id must be a string, not number',
    });
  });
});
