/** Interrupts of LangGraph as pauses: shown, answered in Cairn or in LangGraph, and settled when the graph moves on. */
import { Annotation, Command, END, interrupt, Send, START, StateGraph } from '@langchain/langgraph';
import { MemorySaver } from '@langchain/langgraph-checkpoint';
import { expect, it } from 'vitest';
import { CairnSaver } from '#cairn/adapters/langgraph/index.js';
import type { Api } from '#cairn/client/index.js';
import { onEveryTarget } from '../support/targets.js';

const list = { reducer: (a: string[], b: string[]) => [...a, ...b], default: (): string[] => [] };
const State = Annotation.Root({ words: Annotation<string[]>(list) });
const thread = (thread_id: string) => ({ configurable: { thread_id } });

/** Asks as many questions as it is given, one after another in one node, and ends with the answers. */
const asking = (cairn: Api, questions: readonly unknown[]) =>
  new StateGraph(State)
    .addNode('think', () => ({ words: ['plan'] }))
    .addNode('ask', () => ({ words: questions.map((question) => JSON.stringify(interrupt(question))) }))
    .addEdge(START, 'think')
    .addEdge('think', 'ask')
    .addEdge('ask', END)
    .compile({ checkpointer: new CairnSaver(cairn) });

/** Asks one question in each of several tasks of one step. */
const asksInParallel = (cairn: Api, questions: readonly string[]) =>
  new StateGraph(State)
    .addNode('ask', (state: { question: string }) => ({ words: [String(interrupt(state.question))] }))
    .addConditionalEdges(START, () => questions.map((question) => new Send('ask', { question })))
    .addEdge('ask', END)
    .compile({ checkpointer: new CairnSaver(cairn) });

const openOf = async (cairn: Api) => (await cairn.pauses.list({ status: 'open' })).pauses;

/** The Api, and the names of the operations that are called through it. */
function noting(cairn: Api): { api: Api; called: string[] } {
  const called: string[] = [];
  const groups = Object.entries(cairn).map(([group, verbs]) => [
    group,
    new Proxy(verbs as object, {
      get: (target, verb) => {
        called.push(`${group}.${String(verb)}`);
        return Reflect.get(target, verb) as unknown;
      },
    }),
  ]);
  return { api: Object.fromEntries(groups) as Api, called };
}

onEveryTarget('interrupts of LangGraph', (test) => {
  it('are open pauses of the execution of their thread', async () => {
    const cairn = await test().freshTenant();
    const [question] = [{ tool: 'deploy', to: 'production' }];
    const stopped = await asking(cairn, [question]).invoke({ words: [] }, thread('t'));
    const [raised] = (stopped as unknown as { __interrupt__: { id: string }[] }).__interrupt__;
    const [execution] = (await cairn.executions.list({ thread_id: 't' })).executions;
    expect(execution).toMatchObject({ status: 'paused' });
    expect(await openOf(cairn)).toMatchObject([
      {
        trigger: 'human_review',
        question: JSON.stringify(question),
        execution_id: execution!.execution_id,
        checkpoint_id: execution!.latest_checkpoint_id,
        details: { thread_id: 't', interrupt_id: raised!.id, index: 0, value: question },
        outside: true,
      },
    ]);
    // Stopped at the same place once more, it asks nothing else.
    await asking(cairn, [question]).invoke(null, thread('t'));
    expect(await openOf(cairn)).toHaveLength(1);
  });

  it('are answered in Cairn, and the graph is resumed with that', async () => {
    const cairn = await test().freshTenant();
    await asking(cairn, ['May I?', 'Sure?', 'Which?']).invoke({ words: [] }, thread('t'));
    const answers = [{ action: 'approve' }, { action: 'modify', value: { sure: 1 } }, { action: 'reject' }] as const;
    for (const answer of answers) {
      const saver = new CairnSaver(cairn);
      expect(await saver.answers(thread('t'))).toBeUndefined();
      const [pause, ...others] = await openOf(cairn);
      expect(others).toEqual([]);
      await cairn.pauses.answer({ pause_id: pause!.pause_id, ...answer });
      const resume = await saver.answers(thread('t'));
      expect(resume).toEqual({
        [String(pause!.details!.interrupt_id)]: 'value' in answer ? answer.value : answer.action,
      });
      await asking(cairn, ['May I?', 'Sure?', 'Which?']).invoke(new Command({ resume }), thread('t'));
    }
    const { values } = await asking(cairn, []).getState(thread('t'));
    expect(values).toEqual({ words: ['plan', '"approve"', '{"sure":1}', '"reject"'] });
    expect(await new CairnSaver(cairn).answers(thread('t'))).toBeUndefined();
    const { pauses } = await cairn.pauses.list({});
    expect(pauses.map(({ question, answer }) => [question, answer!.action])).toEqual([
      ['May I?', 'approve'],
      ['Sure?', 'modify'],
      ['Which?', 'reject'],
    ]);
    expect((await cairn.executions.list({ thread_id: 't' })).executions[0]!.status).toBe('running');
  });

  it('that are resumed in LangGraph have that as their answer', async () => {
    const cairn = await test().freshTenant();
    const graph = asking(cairn, ['May I?', 'Sure?']);
    await graph.invoke({ words: [] }, thread('t'));
    await graph.invoke(new Command({ resume: 'yes' }), thread('t'));
    expect(await openOf(cairn)).toMatchObject([{ question: 'Sure?', details: { index: 1 } }]);
    // In another process, which has seen nothing of it.
    await asking(cairn, ['May I?', 'Sure?']).invoke(new Command({ resume: { sure: true } }), thread('t'));
    const { pauses } = await cairn.pauses.list({});
    expect(pauses).toMatchObject([
      { status: 'answered', answer: { action: 'continue', value: 'yes' } },
      { status: 'answered', answer: { action: 'continue', value: { sure: true } } },
    ]);
  });

  it('of parallel tasks are answered one by one', async () => {
    const cairn = await test().freshTenant();
    const questions = ['one', 'two', 'three'];
    await asksInParallel(cairn, questions).invoke({ words: [] }, thread('t'));
    const saver = new CairnSaver(cairn);
    const pauses = await openOf(cairn);
    expect(pauses.map(({ question }) => question).sort()).toEqual([...questions].sort());
    const [first, ...rest] = pauses;
    await cairn.pauses.answer({ pause_id: first!.pause_id, action: 'modify', value: 'A' });
    await asksInParallel(cairn, questions).invoke(
      new Command({ resume: await saver.answers(thread('t')) }),
      thread('t'),
    );
    expect(await openOf(cairn)).toHaveLength(2);
    for (const { pause_id } of rest) await cairn.pauses.answer({ pause_id, action: 'modify', value: 'B' });
    const resume = await saver.answers(thread('t'));
    const { words } = await asksInParallel(cairn, questions).invoke(new Command({ resume }), thread('t'));
    expect(words.sort()).toEqual(['A', 'B', 'B']);
    expect(await openOf(cairn)).toEqual([]);
  });

  it('that the graph moves past are cancelled', async () => {
    const cairn = await test().freshTenant();
    const graph = asking(cairn, ['May I?']);
    await graph.invoke({ words: [] }, thread('t'));
    await graph.updateState(thread('t'), { words: ['skipped'] }, 'ask');
    expect((await cairn.pauses.list({})).pauses).toMatchObject([{ status: 'answered', answer: { action: 'cancel' } }]);
  });

  it('of a subgraph are shown once, and those of a deleted thread are gone', async () => {
    const cairn = await test().freshTenant();
    const inner = new StateGraph(State)
      .addNode('ask', () => ({ words: [String(interrupt('Inside?'))] }))
      .addEdge(START, 'ask')
      .addEdge('ask', END)
      .compile();
    const saver = new CairnSaver(cairn);
    const graph = new StateGraph(State)
      .addNode('inner', inner)
      .addEdge(START, 'inner')
      .addEdge('inner', END)
      .compile({ checkpointer: saver });
    await graph.invoke({ words: [] }, thread('t'));
    const [pause, ...others] = await openOf(cairn);
    expect(others).toEqual([]);
    expect(pause).toMatchObject({ question: 'Inside?' });
    await cairn.pauses.answer({ pause_id: pause!.pause_id, action: 'modify', value: 'yes' });
    const { words } = await graph.invoke(new Command({ resume: await saver.answers(thread('t')) }), thread('t'));
    expect(words).toEqual(['yes']);
    await graph.invoke({ words: [] }, thread('t'));
    expect(await openOf(cairn)).toHaveLength(1);
    await saver.deleteThread('t');
    expect((await cairn.pauses.list({})).pauses).toEqual([]);
  });

  it('that a serializer hides are shown without their text', async () => {
    const cairn = await test().freshTenant();
    const { serde: official } = new MemorySaver();
    const hiding = {
      dumpsTyped: async (value: unknown): Promise<[string, Uint8Array]> => {
        const [type, data] = await official.dumpsTyped(value);
        return [`hidden:${type}`, data.map((byte) => byte ^ 0x5a)];
      },
      loadsTyped: (type: string, data: Uint8Array | string) =>
        official.loadsTyped(
          type.slice('hidden:'.length),
          (data as Uint8Array).map((byte) => byte ^ 0x5a),
        ),
    };
    const saver = new CairnSaver(cairn, { serde: hiding });
    const graph = new StateGraph(State)
      .addNode('ask', () => ({ words: [String(interrupt('a secret'))] }))
      .addEdge(START, 'ask')
      .addEdge('ask', END)
      .compile({ checkpointer: saver });
    await graph.invoke({ words: [] }, thread('t'));
    const pauses = await openOf(cairn);
    expect(pauses).toMatchObject([{ question: 'LangGraph was interrupted' }]);
    expect(JSON.stringify(pauses)).not.toContain('secret');
    await graph.invoke(new Command({ resume: 'told' }), thread('t'));
    expect((await cairn.pauses.list({})).pauses).toMatchObject([
      { status: 'answered', answer: { action: 'continue' } },
    ]);
  });

  it('cost nothing where there are none', async () => {
    const cairn = await test().freshTenant();
    const { api, called } = noting(cairn);
    for (let i = 0; i < 3; i++) await asking(api, []).invoke({ words: [] }, thread('t'));
    expect(called.length).toBeGreaterThan(10);
    expect(called.filter((name) => name.startsWith('pauses.'))).toEqual([]);
    await asking(api, ['May I?']).invoke({ words: [] }, thread('t'));
    expect(called.filter((name) => name === 'pauses.create')).toHaveLength(1);
  });
});
