// What a database takes on disk for turns of 250 bytes, when all background work is done.
import { statSync } from 'node:fs';
import pg from 'pg';
import { openCairn, openWithBackgroundWork } from './support/databases.mjs';
import { byCallers } from './support/measure.mjs';
import { whenQuiet } from './support/quiet.mjs';
import { prose, seeded, uuids } from './support/seeded.mjs';
import { counted, openScopes } from './support/turns.mjs';

const BYTES = 250;
const SCOPES = 16;
const CALLERS = 64;
const MOST = { sqlite: 8, postgres: 10 };

export async function bytes({ target, quick, report }) {
  const turns = quick ? 20_000 : 100_000;
  const newId = uuids(22);
  const next = seeded(22);
  const database = await target.fresh();
  await (await openCairn(database)).close();
  const empty = await sizeOf(target.kind, database);
  const cairn = await openWithBackgroundWork(database);
  const scope_ids = Array.from({ length: SCOPES }, newId);
  await openScopes(cairn, scope_ids, newId());
  let content = 0;
  const say = () => {
    const text = `${prose(next, BYTES - 37).slice(0, BYTES - 37)} ${newId()}`;
    content += text.length;
    return text;
  };
  const work = Array.from({ length: turns }, (_, i) => counted(scope_ids[i % SCOPES], say()));
  await byCallers(CALLERS, work, cairn.api.turns.add);
  await whenQuiet();
  await cairn.close();
  const size = (await sizeOf(target.kind, database)) - empty;
  report({
    what: `database bytes per byte of content, turns of ${BYTES} B`,
    ours: size / content,
    unit: '×',
    mark: 'ours',
    at_most: MOST[target.kind],
    noise: 0.05,
    turns,
  });
}

/** Of a store that is closed. */
async function sizeOf(kind, database) {
  if (kind === 'sqlite') return statSync(database).size;
  const client = new pg.Client({ connectionString: database });
  await client.connect();
  const { rows } = await client.query('SELECT pg_database_size(current_database())::float8 AS size');
  await client.end();
  return rows[0].size;
}
