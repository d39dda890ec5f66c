// A worker in a process of its own that asks before it goes on. Arguments: URL of the server, worker_id.
import { runWorker } from 'cairndb';
import { connectCairn } from 'cairndb/client';

process.once('disconnect', () => process.exit());
const [, , url, worker_id] = process.argv;
const cairn = connectCairn({ url });
const handle = async (turn) => {
  process.send({ called: turn.agent_turn.turn_epoch });
  const { action, comment } = await turn.ask({ question: 'May I?', trigger: 'human_review', details: { by: 'asker' } });
  return { action, comment, worker_id };
};
runWorker(cairn, { profile: 'asker', handle, worker_id, retry: { first_ms: 20, longest_ms: 200 } });
process.send('ready');
