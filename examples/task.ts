// A task from start to end: turns are erased with their scope, a digest and artifacts stay. `npx tsx examples/task.ts`
// #region task
import { openCairn } from 'cairndb';

const cairn = await openCairn({ database: './memory.db' });

const { trajectory_id } = await cairn.trajectories.create({ name: 'Fix bug #123' });
const { scope_id } = await cairn.scopes.create({ trajectory_id, name: 'Debugging', token_budget: 8000 });

await cairn.turns.add({ scope_id, role: 'User', content: 'Login fails for names of more than 64 letters.' });
const { budget } = await cairn.turns.add({ scope_id, role: 'Assistant', content: 'The column is too short.' });
console.log(`${budget.tokens_used} of ${budget.token_budget} tokens used`);

await cairn.artifacts.create({
  trajectory_id,
  scope_id,
  artifact_type: 'CodePatch',
  name: 'names.sql',
  content: 'ALTER TABLE users ALTER COLUMN name TYPE text',
  source_turn: 2, // the turn it came from
  confidence: 0.95,
});

const closed = await cairn.scopes.close({ scope_id, wait: true });
console.log(`${closed.erasure?.erased} turns erased`);

const done = await cairn.trajectories.update({
  trajectory_id,
  status: 'Completed',
  outcome: { summary: 'Names may be of any length.' },
});
console.log(`${done.outcome?.status}, with ${done.outcome?.produced_artifacts.length} artifacts`);
await cairn.close();
// #endregion
