// Offer a part of a task to a specialist, who returns what it made: `npx tsx examples/delegation.ts`
// #region offer
import { openCairn } from 'cairndb';

const cairn = await openCairn({ database: './memory.db' });
const ann = { agent_id: 'ann', agent_type: 'coder', capabilities: ['code'], can_delegate_to: ['reviewer'] };
await cairn.agents.register(ann);
await cairn.agents.register({ agent_id: 'rob', agent_type: 'reviewer', capabilities: ['review'] });

const { trajectory_id } = await cairn.trajectories.create({ name: 'Fix bug #123', agent_id: 'ann' });
const { delegation_id } = await cairn.delegations.create({
  from_agent_id: 'ann',
  to_agent_id: 'rob',
  trajectory_id,
  task_description: 'Review names.sql: is the migration safe?',
});
// #endregion

// #region accept
// Rob receives the offer, accepts it, and works in the child trajectory.
const [offer] = (await cairn.messages.receive({ agent_id: 'rob' })).messages;
const task = await cairn.delegations.accept({ delegation_id });
console.log(`${offer?.message_type}: ${task.task_description}`);
const { artifact_id } = await cairn.artifacts.create({
  trajectory_id: task.child_trajectory_id!,
  artifact_type: 'Document',
  name: 'review.md',
  content: 'Safe: the column only gets wider.',
});
const result = { status: 'Success' as const, output: 'It is safe.', artifacts: [artifact_id] };
await cairn.delegations.complete({ delegation_id, result });

// Ann waits for the result and reads it.
const done = await cairn.delegations.get({ delegation_id, wait_ms: 1000 });
const review = await cairn.artifacts.get({ artifact_id: done.result!.artifacts![0]! });
console.log(`${done.status}: ${done.result!.output} ${review.name} says: ${review.content}`);
// #endregion
await cairn.close();
