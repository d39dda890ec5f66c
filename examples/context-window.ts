// A context window that fills up: keep what matters, checkpoint, close, open a new one. `npx tsx examples/context-window.ts`
import { openCairn } from 'cairndb';

const cairn = await openCairn({ database: './memory.db' });
const { trajectory_id } = await cairn.trajectories.create({ name: 'Interview the users' });
let scope = await cairn.scopes.create({ trajectory_id, name: 'Interview 1', token_budget: 100 });

// #region threshold
for (let i = 1; ; i++) {
  const content = `Answer ${i}: I would pay for exports, if they came by themselves every Monday.`;
  const { budget } = await cairn.turns.add({ scope_id: scope.scope_id, role: 'User', content });
  if (!budget.threshold_reached) continue; // default: 80% of the budget
  console.log(`full after ${i} turns: ${budget.tokens_used} of ${budget.token_budget} tokens`);
  break;
}
// #endregion

await cairn.artifacts.create({
  trajectory_id,
  scope_id: scope.scope_id,
  artifact_type: 'Summary',
  name: 'Interview 1',
  content: 'Wants exports every Monday, and would pay for them.',
  abstraction_level: 'L1',
});
await cairn.notes.create({
  note_type: 'Insight',
  title: 'What people pay for',
  content: 'People pay for reports that arrive without asking.',
  abstraction_level: 'L2',
  source_trajectory_ids: [trajectory_id],
});
await cairn.scopes.checkpoint({ scope_id: scope.scope_id }); // can be restored later
await cairn.scopes.close({ scope_id: scope.scope_id });
scope = await cairn.scopes.create({ trajectory_id, name: 'Interview 2', token_budget: 100 });
const { artifacts } = await cairn.artifacts.list({ trajectory_id, abstraction_level: 'L1' });
console.log(`new scope: ${scope.tokens_used} tokens used; kept: ${artifacts[0]?.content}`);
await cairn.close();
