/** The entries of the package, used together. Checked against the published declarations. */
import { type Checkpoint, type ExecutionRecord, importExecution, openCairn } from 'cairndb';
import { type CairnClient, connectCairn } from 'cairndb/client';
import { CairnSaver, CairnStore } from 'cairndb/langgraph';
import { Execution, runWorker } from 'cairndb/runtime';

const cairn = await openCairn({ database: './memory.db', agent: 'planner' });
// @ts-expect-error: a database is needed
await openCairn({ agent: 'planner' });
const client: CairnClient = connectCairn({ url: 'http://127.0.0.1:8080' });

const run = await Execution.start(client, { execution_id: 'run-1', name: 'Fix the login' });
run.context.append({ role: 'user', content: 'Fix it' });
// @ts-expect-error: not a role
run.context.append({ role: 'User', content: 'Fix it' });
const checkpoint: Readonly<Checkpoint['metadata']> = run.toCheckpoint().metadata;
const { name }: ExecutionRecord = await importExecution(cairn, './run.json');

new CairnSaver(cairn);
new CairnStore(client);
const worker = runWorker(cairn, {
  profile: 'researcher',
  handle: async (turn) => ({ deliverable: [checkpoint.step_number, name, turn.prompt.system] }),
});
await worker.stop();
