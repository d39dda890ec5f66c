// Branches of a run, and carrying it to another store: `npx tsx examples/branches.ts`
// #region branches
import { exportExecution, importExecution, openCairn, type Snapshot } from 'cairndb';

const cairn = await openCairn({ database: './memory.db' });
const { execution_id } = await cairn.executions.create({ agent_id: 'coder', name: 'Make the page fast' });

// The state is yours: pass all of it each time. Cairn stores only what changed.
let state: Snapshot = {
  thought_chain: { steps: [] },
  context: { messages: [{ role: 'user', content: 'The page is slow.' }], variables: { cache: false } },
  tool_state: { pending: [], completed: [] },
};
const save = (step_number: number) =>
  cairn.checkpoints.create({ execution_id, snapshot: state, metadata: { step_number } });

const start = await save(1);
state.context.variables.cache = true;
state.context.messages.push({ role: 'assistant', content: 'A cache helps, but shows old prices.' });
const cached = await save(2);

// Go back to the first state, and try something else from there.
await cairn.checkpoints.branch({ checkpoint_id: start.id, reason: 'without a cache' });
state = (await cairn.checkpoints.latest({ execution_id })).snapshot;
state.context.variables.index = 'prices_by_day';
const indexed = await save(2);

const { summary } = await cairn.checkpoints.diff({ checkpoint_id: cached.id, to: indexed.id });
const { branches } = await cairn.executions.stats({ execution_id });
console.log(`${branches} branch: ${summary}`);

// One file holds the whole run.
await exportExecution(cairn, execution_id, './run.json');
const elsewhere = await openCairn({ database: './elsewhere.db' });
const { checkpoints } = await importExecution(elsewhere, './run.json');
console.log(`${checkpoints} checkpoints elsewhere`);
await Promise.all([cairn.close(), elsewhere.close()]);
// #endregion
