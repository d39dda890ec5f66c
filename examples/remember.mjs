// Memory in three lines, with no server, key or model. `node examples/remember.mjs`
// #region remember
import { openCairn } from 'cairndb';

const cairn = await openCairn({ database: './memory.db' });
await cairn.remember('Anna prefers green tea to coffee.');
const { passages } = await cairn.recall('What does Anna drink?');
// #endregion

for (const { text, matched, nearby } of passages) {
  console.log(text);
  console.log(`because of ${[...matched, ...nearby].join(', ')}`);
}
await cairn.close();
