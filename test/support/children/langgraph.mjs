// A LangGraph graph in a process of its own: `node langgraph.mjs <database> [answer]`. It goes on from where the
// thread stands, tells every checkpoint that was acknowledged, then how the run paused or ended.
import { HumanMessage } from '@langchain/core/messages';
import { Annotation, Command, END, interrupt, MessagesAnnotation, START, StateGraph } from '@langchain/langgraph';
import { openCairn } from 'cairndb';
import { CairnSaver } from 'cairndb/langgraph';

const [database, answer] = process.argv.slice(2);
const STEPS = 15;
const say = (message) => new Promise((resolve) => process.send(message, resolve));

class TellingSaver extends CairnSaver {
  async put(config, checkpoint, metadata, newVersions) {
    const stored = await super.put(config, checkpoint, metadata, newVersions);
    await say({ acknowledged: checkpoint.channel_values.count ?? 0 });
    return stored;
  }
}

const cairn = await openCairn({ database, sweep_every_ms: 0 });
const State = Annotation.Root({ ...MessagesAnnotation.spec, count: Annotation(), approved: Annotation() });
const graph = new StateGraph(State)
  .addNode('step', ({ count = 0 }) => ({
    count: count + 1,
    messages: [new HumanMessage({ id: `step-${count + 1}`, content: `did step ${count + 1}` })],
  }))
  .addNode('approve', () => ({ approved: interrupt('done, may I publish?') }))
  .addEdge(START, 'step')
  .addConditionalEdges('step', ({ count }) => (count < STEPS ? 'step' : 'approve'))
  .addEdge('approve', END)
  .compile({ checkpointer: new TellingSaver(cairn) });

const config = { configurable: { thread_id: 'job' }, durability: 'sync', recursionLimit: 100 };
const shown = ({ values, next }) => ({
  count: values.count ?? 0,
  messages: (values.messages ?? []).map(({ content }) => content),
  approved: values.approved,
  next,
});
const before = await graph.getState(config);
await say({ found: shown(before) });
const begun = before.next.length > 0;
await graph.invoke(answer ? new Command({ resume: answer }) : begun ? null : { messages: [] }, config);
await say({ reached: shown(await graph.getState(config)) });
// Nothing is closed: it waits for whoever kills it.
setInterval(() => undefined, 1000);
