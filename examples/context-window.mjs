// A context window that fills up: summarise, checkpoint, close, go on fresh. `node examples/context-window.mjs`
import { openCairn } from 'cairndb';

const cairn = await openCairn({ database: './memory.db' });
const { trajectory_id } = await cairn.trajectories.create({ name: 'Interview the users' });
let scope = await cairn.scopes.create({ trajectory_id, name: 'Interview 1', token_budget: 100 });

for (let i = 1; ; i++) {
  const content = `Answer ${i}: I would pay for exports, if they came by themselves every Monday.`;
  const { budget } = await cairn.turns.add({ scope_id: scope.scope_id, role: 'User', content });
  if (!budget.threshold_reached) continue; // 80% of the budget, unless the scope says otherwise
  console.log(`full after ${i} turns: ${budget.tokens_used} of ${budget.token_budget} tokens`);
  break;
}

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
  content: 'Work that comes by itself is worth money.',
  abstraction_level: 'L2',
  source_trajectory_ids: [trajectory_id],
});
await cairn.scopes.checkpoint({ scope_id: scope.scope_id }); // should it be needed after all
await cairn.scopes.close({ scope_id: scope.scope_id });
scope = await cairn.scopes.create({ trajectory_id, name: 'Interview 2', token_budget: 100 });
const { artifacts } = await cairn.artifacts.list({ trajectory_id, abstraction_level: 'L1' });
console.log(`fresh: ${scope.tokens_used} tokens used, and still known: ${artifacts[0]?.content}`);
await cairn.close();
