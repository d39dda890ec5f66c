// A planner gives three tasks to workers in processes of their own: `npx tsx examples/fork-join.ts`. Needs no server;
// with CAIRN_URL it uses one. When a process is killed, another worker takes over its agent_turn.
import { fork } from 'node:child_process';
import { openCairn, runWorker, type WorkerOptions, type WorkerTurn } from 'cairndb';
import { connectCairn } from 'cairndb/client';

const { CAIRN_URL: url, CAIRN_KEY: key } = process.env;
const cairn = url ? connectCairn({ url, key }) : await openCairn({ database: './team.db' });
const profile = process.argv[2] ?? 'planner';

// #region worker
const german: Record<string, string> = { Hello: 'Hallo', world: 'Welt', again: 'wieder' };
const asked = ({ prompt }: WorkerTurn) => String(prompt.messages.find(({ role }) => role === 'user')?.content);

const handlers: Record<string, WorkerOptions['handle']> = {
  translator: (turn) => german[asked(turn)] ?? '?',
  planner: async (turn) => {
    const task = { target_strategy: 'new', target_ref: 'translator' } as const;
    const words = asked(turn).split(' ');
    const { results } = await turn.forkJoin(words.map((instruction) => ({ ...task, instruction })));
    return results.map(({ deliverable }) => deliverable).join(' ');
  },
};
const worker = runWorker(cairn, { profile, handle: handlers[profile]!, lease_ms: 5000 });
// #endregion

if (profile === 'planner') {
  for (const name of Object.keys(handlers)) await cairn.profiles.save({ name, system_prompt: 'Be brief.' });
  const children = [1, 2, 3].map(() => fork(import.meta.filename, ['translator']));
  const told = await cairn.pmo.launch_principal({ profile_name: profile, instruction: 'Hello world again' });
  const agent_turn_id = told.status === 'accepted' ? told.agent_turn_id : '';
  const turn = await cairn.agent_turns.get({ agent_turn_id, wait_ms: 60_000 });
  console.log(`${turn.status}: ${turn.summary}`);
  for (const child of children) child.disconnect();
} else if (process.connected) await new Promise((resolve) => process.once('disconnect', resolve));
await worker.stop();
await cairn.close();
