// A part of a task goes to a specialist, which works in a trajectory of its own and gives back what it made.
// `node examples/delegation.mjs`
// #region delegation
import { openCairn } from 'cairndb';

const cairn = await openCairn({ database: './memory.db' });
const register = (agent_id, agent_type) =>
  cairn.agents.register({ agent_id, agent_type, capabilities: [agent_type], can_delegate_to: ['reviewer'] });
await register('ann', 'coder');
await register('rob', 'reviewer');

const { trajectory_id } = await cairn.trajectories.create({ name: 'Fix bug #123', agent_id: 'ann' });
const { delegation_id } = await cairn.delegations.create({
  from_agent_id: 'ann',
  to_agent_id: 'rob',
  trajectory_id,
  task_description: 'Review names.sql: is the migration safe?',
});
// #endregion

// Rob hears of it, accepts, and works on the context that was packed for him.
const [offer] = (await cairn.messages.receive({ agent_id: 'rob' })).messages;
const task = await cairn.delegations.accept({ delegation_id });
await cairn.messages.acknowledge({ message_id: offer.message_id, agent_id: 'rob' });
console.log(`${offer.message_type}: ${task.task_description}`);
const { artifact_id } = await cairn.artifacts.create({
  trajectory_id: task.child_trajectory_id,
  artifact_type: 'Document',
  name: 'review.md',
  content: 'Safe: the column only gets wider.',
});
const result = { status: 'Success', output: 'It is safe.', artifacts: [artifact_id] };
await cairn.delegations.complete({ delegation_id, result });

// Ann goes on with what came back.
const done = await cairn.delegations.get({ delegation_id, wait_ms: 1000 });
const review = await cairn.artifacts.get({ artifact_id: done.result.artifacts[0] });
console.log(`${done.status}: ${done.result.output} ${review.name} says: ${review.content}`);
await cairn.close();
