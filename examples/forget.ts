// Forgets what is known about a person, with a receipt: `npx tsx examples/forget.ts`
import { openCairn } from 'cairndb';

const cairn = await openCairn({ database: './forget.db' });
// #region forget
const note = await cairn.notes.create({
  note_type: 'Fact',
  title: 'Where Lena lives',
  content: 'Lena lives in Hamburg.',
  subject_ids: ['lena'],
});
await cairn.notes.update({ note_id: note.note_id, content: 'Lena lives in Munich now.' });

const receipt = await cairn.forget({ user: 'lena' });
console.log(`${receipt.status}: ${receipt.erased[0]?.contents} versions of a ${receipt.erased[0]?.entity_type}`);

const { verified } = await cairn.erasures.verify({ erasure_id: receipt.erasure_id!, bytes: true });
console.log(verified ? 'nothing of it is left' : 'something is left');
// #endregion

await cairn.notes.get({ note_id: note.note_id }).catch(({ code, details }) => {
  console.log(`${code}, with the receipt: ${details.erasure_id === receipt.erasure_id}`);
});
await cairn.close();
