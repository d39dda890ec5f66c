// A note outlives its task and has versions: `npx tsx examples/knowledge.ts`
import { openCairn } from 'cairndb';

const cairn = await openCairn({ database: './memory.db' });
const { trajectory_id } = await cairn.trajectories.create({ name: 'Connect the payment API' });
const log = await cairn.artifacts.create({
  trajectory_id,
  artifact_type: 'ErrorLog',
  name: 'first call',
  content: 'HTTP 500: signature missing',
});
const note = await cairn.notes.create({
  note_type: 'Gotcha',
  title: 'Status of auth failures',
  content: 'The API answers 500 for auth failures, not 401.',
  source_trajectory_ids: [trajectory_id],
  source_artifact_ids: [log.artifact_id],
});
const before = new Date().toISOString();
await new Promise((resolve) => setTimeout(resolve, 5));

// #region versions
// An update makes a new version. `as_of` still reads the old one.
await cairn.notes.update({ note_id: note.note_id, content: 'Since May it answers 403.' });
const then = await cairn.notes.get({ note_id: note.note_id, as_of: before });
const now = await cairn.notes.get({ note_id: note.note_id });
console.log(`then: ${then.content}`);
console.log(`now, version ${now.version}: ${now.content}`);
// #endregion

// Deleting the task keeps the note; only the link to the task goes.
await cairn.trajectories.delete({ trajectory_id });
const { notes } = await cairn.notes.list({ note_type: 'Gotcha' });
console.log(`${notes.length} note, from ${notes[0]?.source_trajectory_ids.length} tasks`);
await cairn.close();
