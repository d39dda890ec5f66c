// Memory in three lines, with no server, key or model. `node examples/remember.mjs`
// #region remember
import { openCairn } from 'cairndb';

const cairn = await openCairn({ database: './memory.db' });
await cairn.remember('Anna prefers green tea to coffee.');
const { passages } = await cairn.recall('What does Anna drink?');
console.log(passages[0].text);
// #endregion

// It has the one word itself, and of the other something of its kind.
const [{ matched, nearby }] = passages;
console.log(`it has ${matched.join(', ')}, and is about ${nearby.join(', ')}`);
await cairn.close();
