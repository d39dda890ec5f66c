// A planner hands three tasks to workers in processes of their own: `node examples/fork-join.mjs`. Needs no server; with
// CAIRN_URL it uses one. Whoever of them is killed, another goes on with what it did.
import { fork } from 'node:child_process';
import { openCairn, runWorker } from 'cairndb';
import { connectCairn } from 'cairndb/client';

const { CAIRN_URL: url, CAIRN_KEY: key } = process.env;
const cairn = url ? connectCairn({ url, key }) : await openCairn({ database: './team.db' });
const profile = process.argv[2] ?? 'planner';

// #region worker
const dictionary = { Hello: 'Hallo', world: 'Welt', again: 'wieder' };
const isUsers = ({ role }) => role === 'user';
const task = (word) => ({ target_strategy: 'new', target_ref: 'translator', instruction: word });

const handlers = {
  translator: ({ prompt }) => dictionary[prompt.messages.find(isUsers).content],
  planner: async (turn) => {
    const words = turn.prompt.messages.find(isUsers).content.split(' ');
    const { results } = await turn.forkJoin(words.map(task));
    return results.map(({ deliverable }) => deliverable).join(' ');
  },
};
const worker = runWorker(cairn, { profile, handle: handlers[profile], lease_ms: 5000 });
// #endregion

if (profile === 'planner') {
  for (const name of Object.keys(handlers)) await cairn.profiles.save({ name, system_prompt: 'Be brief.' });
  const children = [1, 2, 3].map(() => fork(import.meta.filename, ['translator']));
  const asked = { profile_name: 'planner', instruction: 'Hello world again' };
  const { agent_turn_id } = await cairn.pmo.launch_principal(asked);
  const turn = await cairn.agent_turns.get({ agent_turn_id, wait_ms: 60_000 });
  console.log(`${turn.status}: ${turn.summary}`);
  for (const child of children) child.disconnect();
} else if (process.connected) await new Promise((resolve) => process.once('disconnect', resolve));

await worker.stop();
await cairn.close();
