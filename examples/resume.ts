// Run it twice: `npx tsx examples/resume.ts`. The first run is killed in its third step, the second continues from there.
// #region resume
import { Execution, openCairn } from 'cairndb';

const cairn = await openCairn({ database: './agent.db' });
const pages = ['pricing', 'docs', 'blog', 'about'];

// Resumes the run from its latest checkpoint, or starts it.
const run = await Execution.resume(cairn, 'audit-1').catch((error) => {
  if (error.code !== 'EXECUTION_NOT_FOUND') throw error;
  return Execution.start(cairn, { execution_id: 'audit-1', agent_id: 'auditor', name: 'Audit the site' });
});
const isFirst = run.step_number === 0;
console.log(`at step ${run.step_number}, ${run.context.messages.length} messages`);

for (const page of pages.slice(run.step_number)) {
  run.thoughts.add({ type: 'tool_selection', content: `Look at ${page}`, confidence: 0.8 });
  const call = run.tools.start('fetch', { arguments: { page } });
  if (page === 'blog' && isFirst) process.kill(process.pid, 'SIGKILL'); // a crash
  run.tools.finish(call, { result: `${page}: 3 links, 1 broken` });
  run.context.append({ role: 'assistant', content: `${page} has a broken link` });
  run.step({ tokens: 120 }); // takes a checkpoint; it is written in the background
  await run.settled(); // wait until it is committed
  console.log(`step ${run.step_number} of ${pages.length}: ${page}`);
}

await run.close('completed');
const { checkpoints } = await cairn.executions.get({ execution_id: run.execution_id });
console.log(`done after ${run.step_number} steps, ${run.tokens_used} tokens, ${checkpoints} checkpoints`);
await cairn.close();
// #endregion
