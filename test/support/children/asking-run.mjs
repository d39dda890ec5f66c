// An execution in a process of its own that plans, asks and acts. Arguments: URL of the server, execution_id, its own name.
import { connectCairn } from 'cairndb/client';
import { Execution } from 'cairndb/runtime';

process.once('disconnect', () => process.exit());
const [, , url, execution_id, name] = process.argv;
const cairn = connectCairn({ url });
const { latest_checkpoint_id } = await cairn.executions.create({ execution_id });
const run = latest_checkpoint_id
  ? await Execution.resume(cairn, execution_id)
  : await Execution.start(cairn, { execution_id });
if (!run.context.has('planned_by')) {
  run.context.append({ role: 'user', content: 'Deploy version 7.' });
  run.context.set('planned_by', name);
  run.step({ tokens: 7 });
}
process.send('ready');
const { action, comment } = await run.ask({
  question: 'May I?',
  trigger: 'tool_confirmation',
  details: { tool: 'deploy', arguments: { version: 7 } },
});
run.context.set('deployed_by', name);
run.context.append({ role: 'assistant', content: `${action}: ${comment}` });
run.step({ tokens: 5 });
await run.close('completed');
process.send('completed');
