// A process that adds cards and keeps the index in shape, until it is killed: `node folding.mjs <database> <name> <tail>`.
// It reports each word that was acknowledged.
import { Store } from '#cairn/api/index.js';
import { mergeSegments, purgeHidden } from '#cairn/index/index.js';
import { makeFold, storeFold } from '#cairn/index/sql.js';
import { measureDocs } from '#cairn/recall/folding/contents.js';

const [database, name, tail] = process.argv.slice(2);
const TENANT = 'default';
const store = await Store.open({ database, sweep_every_ms: 0, count_every_ms: 0, search_tail: Number(tail) });
const { driver } = store;
const cairn = store.api({ tenant_id: TENANT, agent_id: null, role: 'admin', key_id: null });
/** None of these words has the stem of another one. */
const letters = (n) => [...String(n)].map((digit) => String.fromCharCode(97 + Number(digit))).join('');

async function write(caller) {
  for (let n = 0; ; n++) {
    const word = `word${name}${letters(caller)}x${letters(n)}q`;
    const { card_id } = await cairn.cards.add({ content: `${word} was said` });
    if (n % 5 === 4) {
      await cairn.cards.delete({ card_id });
      process.send({ deleted: word });
    } else process.send({ wrote: word });
  }
}

async function keep() {
  for (;;) {
    const limit = 1 + Math.trunc(Math.random() * 12);
    const fold = await driver.snapshot(TENANT, (query) => makeFold(query, measureDocs, limit));
    if (fold) await driver.write(TENANT, (tx) => storeFold(tx, fold));
    await mergeSegments(driver, TENANT);
    if (Math.random() < 0.2) await purgeHidden(driver, TENANT);
  }
}

process.send({ ready: true });
await Promise.all([...[0, 1, 2, 3, 4, 5].map(write), keep()]);
