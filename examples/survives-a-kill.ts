// Run it twice: `npx tsx examples/survives-a-kill.ts`. The first run is killed, the second still has the note.
// #region survives-a-kill
import { openCairn } from 'cairndb';

const cairn = await openCairn({ database: './agent.db' });
const { notes } = await cairn.notes.list({ title: 'Deploying' });

if (notes.length === 0) {
  const task = await cairn.trajectories.create({ name: 'Deploy the shop' });
  await cairn.notes.create({
    note_type: 'Procedure',
    title: 'Deploying',
    content: 'Migrate first, then restart one server at a time.',
    source_trajectory_ids: [task.trajectory_id],
  });
  process.kill(process.pid, 'SIGKILL'); // a crash
}

console.log('Found again:', notes[0]?.content);
await cairn.close();
// #endregion
