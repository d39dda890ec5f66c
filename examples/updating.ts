// A new value replaces the known one, and recall says so: `npx tsx examples/updating.ts`
import { openCairn } from 'cairndb';

const cairn = await openCairn({ database: './memory.db' });
// #region updating
await cairn.remember('Lena lives in Hamburg.', { occurred_at: '2024-05-01' });
const told = await cairn.remember('Lena lives in Munich now.', { occurred_at: '2026-03-01' });
console.log(told.outcome, told.superseded?.[0]?.value); // superseded Hamburg
const home = await cairn.recall('Where does Lena live?');
console.log(home.passages[0]?.text); // Lena lives in Munich now. (since 2026-03-01; before: Hamburg)
// #endregion
await cairn.close();
