// Branches of a run, and carrying it all to another store. `node examples/branches.mjs`
// #region branches
import { exportExecution, importExecution, openCairn } from 'cairndb';

const cairn = await openCairn({ database: './memory.db' });
const { execution_id } = await cairn.executions.create({ agent_id: 'coder', name: 'Make the page fast' });

// The state is yours: give all of it each time. Only what changed is stored.
const state = {
  thought_chain: { steps: [] },
  context: { messages: [{ role: 'user', content: 'The page is slow.' }], variables: { cache: false } },
  tool_state: { pending: [], completed: [] },
};
const keep = (step_number) =>
  cairn.checkpoints.create({ execution_id, snapshot: state, metadata: { step_number } });

const start = await keep(1);
state.context.variables.cache = true;
state.context.messages.push({ role: 'assistant', content: 'A cache helps, but shows old prices.' });
const cached = await keep(2);

// Back to the first state, and another way from there.
await cairn.checkpoints.branch({ checkpoint_id: start.id, reason: 'without a cache' });
Object.assign(state, (await cairn.checkpoints.latest({ execution_id })).snapshot);
state.context.variables.index = 'prices_by_day';
const indexed = await keep(2);

const { summary } = await cairn.checkpoints.diff({ checkpoint_id: cached.id, to: indexed.id });
const { branches } = await cairn.executions.stats({ execution_id });
console.log(`${branches} branch: ${summary}`);

// One file has all of it.
await exportExecution(cairn, execution_id, './run.json');
const elsewhere = await openCairn({ database: './elsewhere.db' });
const { checkpoints } = await importExecution(elsewhere, './run.json');
console.log(`${checkpoints} checkpoints elsewhere`);
await Promise.all([cairn.close(), elsewhere.close()]);
// #endregion
