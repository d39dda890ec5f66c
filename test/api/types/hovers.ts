/** Calls whose hover text is tested. */
import { openCairn } from 'cairndb';

const cairn = await openCairn({ database: './memory.db' });
const scope_id = '0190a1b2-c3d4-7e5f-8a9b-0c1d2e3f4a5c';

await cairn.turns.add({ scope_id, role: 'User', content: 'Login fails for long names.' });
await cairn.memory.remember({ text: 'Anna prefers tea to coffee.', ttl: 'LongTerm' });
await cairn.checkpoints.create({
  execution_id: 'run-1',
  snapshot: {
    thought_chain: { steps: [] },
    context: { messages: [], variables: {} },
    tool_state: { pending: [], completed: [] },
  },
});
await cairn.locks.acquire({ resource_type: 'file', resource_id: 'auth.ts', lease_ms: 30_000 });
await cairn.context.assemble({ scope_id, token_budget: 8000 });
await cairn.recall('What does Anna drink?');
