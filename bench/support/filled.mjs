// Stores filled before they are measured, in the state in which a server leaves them when it had a quiet moment.
import { indexState } from '../../dist/index/sql.js';
import { openWithBackgroundWork, settle, TENANT } from './databases.mjs';
import { whenQuiet } from './quiet.mjs';

/** Documents that background work leaves in the tail of the index: fewer than it folds. */
const TAIL = 2048;
/** It pauses for five seconds after an error. */
const TRIES = 20;

/** Fills a database with background work beside it, until that has folded and merged the index; gives what `fill` gives. */
export async function filled(kind, database, fill) {
  const cairn = await openWithBackgroundWork(database);
  const result = await fill(cairn);
  await whenFolded(cairn);
  await cairn.close();
  await settle(kind, database);
  return result;
}

/** Waits until the background work of a store is over, and nothing that it would fold is left. */
export async function whenFolded({ driver }) {
  for (let i = 0; i < TRIES; i++) {
    await whenQuiet();
    const { last, folded } = await indexState(driver.at(TENANT));
    if (last - folded < TAIL) return;
  }
  throw new Error('background work does not fold the index');
}
