// A process that forgets a user until it is killed: `node forgetting.mjs <database> <user>`. It says when it begins.
import { Store } from '#cairn/api/index.js';

const [database, user] = process.argv.slice(2);
const store = await Store.open({ database, sweep_every_ms: 0 });
const cairn = store.api({ tenant_id: 'default', agent_id: null, role: 'admin', key_id: null });
await new Promise((resolve) => process.send({ begun: true }, resolve));
const { erasure_id } = await cairn.memory.forget({ user });
await new Promise((resolve) => process.send({ erasure_id }, resolve));
await store.close();
process.disconnect();
