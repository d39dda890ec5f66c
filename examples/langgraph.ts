// A LangGraph graph that waits for a person, with its state in Cairn: `npx tsx examples/langgraph.ts`
// (needs @langchain/core and @langchain/langgraph)
// #region langgraph
import { Annotation, Command, END, interrupt, START, StateGraph } from '@langchain/langgraph';
import { openCairn } from 'cairndb';
import { CairnSaver, CairnStore } from 'cairndb/langgraph';

const State = Annotation.Root({ plan: Annotation<string>(), answer: Annotation<string>() });
const workflow = new StateGraph(State)
  .addNode('think', () => ({ plan: 'Migrate, then restart' }))
  .addNode('approve', () => ({ answer: interrupt('May I?') }))
  .addEdge(START, 'think')
  .addEdge('think', 'approve')
  .addEdge('approve', END);

const cairn = await openCairn({ database: './agent.db' });
const graph = workflow.compile({ checkpointer: new CairnSaver(cairn), store: new CairnStore(cairn) });
const config = { configurable: { thread_id: 'deploy-7' } };
await graph.invoke({}, config); // stops at the interrupt; its state is stored
// #endregion
const [paused] = (await graph.getState(config)).tasks.flatMap(({ interrupts }) => interrupts);
console.log('paused:', paused?.value);
await cairn.close(); // as if the process ended here

const reopened = await openCairn({ database: './agent.db' });
// #region resume
const resumed = workflow.compile({ checkpointer: new CairnSaver(reopened) });
const { plan, answer } = await resumed.invoke(new Command({ resume: 'yes' }), config);
console.log(`${plan}: ${answer}`);
// #endregion

const { checkpoints } = await reopened.checkpoints.list({ thread_id: 'deploy-7' });
console.log(`${checkpoints.length} checkpoints, the last of step ${checkpoints.at(-1)?.metadata.step_number}`);
await reopened.close();
