/** Several processes that write to one SQLite file share it fairly. Runs alone: beside others it would measure those. */
import { expect, it } from 'vitest';
import { openCairn } from '#cairn/cairndb.js';
import { runChildren } from '../support/children/together.js';
import { audit, illnesses, survey } from '../support/inspect/audit.js';
import { Ledger } from '../support/inspect/load.js';
import { freshDatabase, targetNames } from '../support/targets.js';

it.runIf(targetNames().includes('sqlite'))(
  '4 processes of 500 writes on one SQLite file: none lost, none twice, and none starves',
  async () => {
    const { database, drop } = await freshDatabase('sqlite');
    const cairn = await openCairn({ database, sweep_every_ms: 0 });
    await cairn.boxes.create({ box_id: 'shared' });
    await cairn.close();
    const ledger = new Ledger();
    const whenFirst = await runChildren({ mode: 'write', database, processes: 4, writes: 500, ledger });
    console.log(`when the first of 4 processes had written 500: ${whenFirst.join(', ')}`);

    expect(ledger.acknowledged).toBe(2000);
    const found = await survey(database);
    expect(audit(found, ledger)).toEqual([]);
    expect(found.head).toBe(1 + 2000);
    expect(await illnesses(database)).toEqual([]);
    expect(Math.min(...whenFirst)).toBeGreaterThanOrEqual(125);
    await drop();
  },
);
