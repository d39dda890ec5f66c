// Memory in three lines, with no server, key or model: `npx tsx examples/remember.ts`
// #region remember
import { openCairn } from 'cairndb';

const cairn = await openCairn({ database: './memory.db' });
await cairn.remember('Anna prefers green tea to coffee.');
const { passages } = await cairn.recall('What does Anna drink?');
console.log(passages[0]?.text);
// #endregion

// Why it was found: the text has "anna" itself, and a word of the same kind as "drink".
console.log(`matched ${passages[0]?.matched.join(', ')}; related ${passages[0]?.nearby.join(', ')}`);
await cairn.close();
