// A worker asks before it deploys, and stops; a person answers, and another worker goes on: `npx tsx examples/approval.ts`.
// #region ask
import { openCairn, runWorker, type WorkerTurn } from 'cairndb';

const cairn = await openCairn({ database: './team.db' });
const deploy = async (turn: WorkerTurn) => {
  const { action, choice, comment } = await turn.ask({
    question: 'Deploy version 7?',
    choices: ['staging', 'production'],
    details: { version: 7 },
    timeout_ms: 24 * 3_600_000,
    default: { action: 'reject', comment: 'Nobody answered.' },
  });
  return action === 'reject' ? `not deployed: ${comment}` : `deployed to ${choice}`;
};
const worker = runWorker(cairn, { profile: 'deployer', handle: deploy });
// #endregion

await cairn.profiles.save({ name: 'deployer', system_prompt: 'You deploy.' });
const told = await cairn.pmo.launch_principal({ profile_name: 'deployer', instruction: 'Deploy version 7.' });
const agent_turn_id = told.status === 'accepted' ? told.agent_turn_id : '';

// #region answer
const waiting = async () => (await cairn.pauses.list({ status: 'open' })).pauses[0];
let pause = await waiting();
for (; !pause; pause = await waiting()) await new Promise((resolve) => setTimeout(resolve, 50));
await worker.stop(); // nobody works on it while it waits
console.log(`${pause.question} ${pause.choices.map(({ value }) => value).join(' or ')}?`);
await cairn.pauses.answer({ pause_id: pause.pause_id, choice: 'staging', comment: 'Look at it there first.' });

const other = runWorker(cairn, { profile: 'deployer', handle: deploy });
const { status, summary } = await cairn.agent_turns.get({ agent_turn_id, wait_ms: 30_000 });
console.log(`${status}: ${summary}`);
// #endregion
await other.stop();
await cairn.close();
