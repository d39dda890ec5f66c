// A process of its own that asks for a lock: `node lock.mjs <database> <agent> <lease_ms> <hold_ms>`. It says when it
// is ready, asks when it is told to, says when it has the lock, holds it, releases it, and says so; unless it is killed.
import { openCairn } from 'cairndb';

const [database, agent, lease_ms, hold_ms] = process.argv.slice(2);
const cairn = await openCairn({ database, sweep_every_ms: 0 });
process.send({ ready: agent });
await new Promise((resolve) => process.once('message', resolve));
const { lock_id, fencing_token } = await cairn.locks.acquire({
  resource_type: 'file',
  resource_id: 'shared',
  holder_agent_id: agent,
  timeout_ms: 60_000,
  lease_ms: Number(lease_ms),
});
process.send({ has: agent, lock_id, fencing_token });
await new Promise((resolve) => setTimeout(resolve, Number(hold_ms)));
await cairn.locks.release({ lock_id });
process.send({ released: agent });
await cairn.close();
process.disconnect();
