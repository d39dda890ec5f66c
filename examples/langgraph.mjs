// A graph of LangGraph that waits for a person, in Cairn. `node examples/langgraph.mjs` (needs @langchain/langgraph)
// #region langgraph
import { Annotation, Command, END, interrupt, START, StateGraph } from '@langchain/langgraph';
import { openCairn } from 'cairndb';
import { CairnSaver, CairnStore } from 'cairndb/langgraph';

const State = Annotation.Root({ plan: Annotation(), answer: Annotation() });
const workflow = new StateGraph(State)
  .addNode('think', () => ({ plan: 'Migrate, then restart' }))
  .addNode('approve', () => ({ answer: interrupt('May I?') }))
  .addEdge(START, 'think')
  .addEdge('think', 'approve')
  .addEdge('approve', END);
const config = { configurable: { thread_id: 'deploy-7' } };

const first = await openCairn({ database: './agent.db' });
const graph = workflow.compile({ checkpointer: new CairnSaver(first), store: new CairnStore(first) });
const paused = await graph.invoke({}, config);
console.log('paused:', paused.__interrupt__[0].value);
await first.close(); // as if the process ended here

const second = await openCairn({ database: './agent.db' });
const resumed = workflow.compile({ checkpointer: new CairnSaver(second) });
const { plan, answer } = await resumed.invoke(new Command({ resume: 'yes' }), config);
console.log(`${plan}: ${answer}`);

const { checkpoints } = await second.checkpoints.list({ thread_id: 'deploy-7' });
console.log(`${checkpoints.length} checkpoints, the last of step ${checkpoints.at(-1).metadata.step_number}`);
await second.close();
// #endregion
