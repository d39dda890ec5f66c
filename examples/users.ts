// One memory for many people, of whom none sees what is about another: `npx tsx examples/users.ts`
import { openCairn } from 'cairndb';

const cairn = await openCairn({ database: './memory.db' });
// #region users
const anna = cairn.for({ user: 'anna' });
await anna.remember('My office is in Munich.');
await cairn.remember('The office in Munich closes at eight.'); // about nobody: for everybody

const ben = cairn.for({ user: 'ben' });
for (const { text } of (await ben.recall('office in Munich')).passages) console.log(`Ben reads: ${text}`);

const acme = cairn.tenant('acme'); // another tenant of the same open store
console.log(`acme knows ${(await acme.recall('office')).passages.length} passages`);
// #endregion
console.log(`Anna reads ${(await anna.recall('office in Munich')).passages.length} passages`);
await cairn.close();
