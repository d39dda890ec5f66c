// Turns added for so long that the background work of the store is part of it: the time ends when nothing is left to do.
// Beside it, bare statements that write the same rows.
import { groupWriter } from './support/bare-writes.mjs';
import { openBare, openCairn, openWithBackgroundWork } from './support/databases.mjs';
import { byCallers, byGroups, median } from './support/measure.mjs';
import { whenQuiet } from './support/quiet.mjs';
import { uuids } from './support/seeded.mjs';
import { counted, openScopes, sayings } from './support/turns.mjs';
import { turnRows } from './turns.mjs';

const CALLERS = 64;
const SCOPES = 16;

const plan = (quick) => (quick ? { rounds: 3, turns: 10_000 } : { rounds: 5, turns: 50_000 });

export async function sustained({ target, quick, report }) {
  const { rounds, turns } = plan(quick);
  const newId = uuids(21);
  const say = sayings(21);
  const database = await target.fresh();
  const bareFile = await target.fresh();
  const scope_ids = Array.from({ length: SCOPES }, newId);
  const trajectory_id = newId();
  const cairn = await openWithBackgroundWork(database);
  const beside = await openCairn(bareFile);
  for (const store of [cairn, beside]) await openScopes(store, scope_ids, trajectory_id);
  const rows = await turnRows(beside, scope_ids, newId);
  await beside.close();
  const bare = await openBare(target.kind, bareFile);
  const write = groupWriter(target.kind, bare);
  const add = ({ scope_id, text }) => cairn.api.turns.add(counted(scope_id, text));
  const rates = { ours: [], bare: [] };
  // The first round is shorter, and warms up.
  for (let round = 0; round <= rounds; round++) {
    const length = round === 0 ? turns / 5 : turns;
    const work = Array.from({ length }, (_, i) => ({ scope_id: scope_ids[i % SCOPES], text: say() }));
    const started = performance.now();
    await byCallers(CALLERS, work, add);
    const ours = (length / ((await whenQuiet()) - started)) * 1000;
    const theirs = await byGroups(CALLERS, work.map(rows), write);
    if (round === 0) continue;
    rates.ours.push(ours);
    rates.bare.push(theirs);
  }
  report({
    what: `turns.add, ${CALLERS} callers, sustained`,
    ours: median(rates.ours),
    bare: median(rates.bare),
    unit: '/s',
    ratio: median(rates.ours.map((rate, i) => rate / rates.bare[i])),
    at_least: target.kind === 'sqlite' ? 0.3 : 0.4,
  });
  await bare.close();
  await cairn.close();
}
