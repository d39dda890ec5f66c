// Locks: acquiring and releasing one that is free, against two bare transactions that write the same rows; and 64 who
// wait for one.
import { sql } from '../dist/driver/sql.js';
import { eventRows, groupWriter } from './support/bare-writes.mjs';
import { openBare, openCairn, TENANT } from './support/databases.mjs';
import { byCallers, byGroups, interleave } from './support/measure.mjs';
import { uuids } from './support/seeded.mjs';
import { lastPacket } from './writes.mjs';

const CALLERS = 64;
const HOLD_MS = 5;
const AGENT = 'planner-1';

const plan = (quick) => (quick ? { many: 10, one: 60, rounds: 5 } : { many: 50, one: 300, rounds: 9 });

export async function locks({ target, quick, report }) {
  await uncontended({ target, quick, report });
  await contended({ target, quick, report });
}

/** Each caller has a resource of its own, which is there already. */
async function uncontended({ target, quick, report }) {
  const { many, one, rounds } = plan(quick);
  const newId = uuids(19);
  const cairn = await openCairn(await target.fresh());
  const bareFile = await target.fresh();
  const beside = await openCairn(bareFile);
  const resources = Array.from({ length: CALLERS }, (_, i) => `src/file-${String(i).padStart(2, '0')}.ts`);
  for (const store of [cairn, beside]) for (const id of resources) await acquireAndRelease(store, id);
  const rows = await lockRows(beside, resources[0], newId);
  await beside.close();
  const bare = await openBare(target.kind, bareFile);
  const write = groupWriter(target.kind, bare);

  const items = (count) => Array.from({ length: count }, (_, i) => resources[i % CALLERS]);
  const ours = (callers, count) => () => byCallers(callers, items(count), (id) => acquireAndRelease(cairn, id));
  const theirs = (callers, count) => () => {
    const pairs = items(count).map(rows);
    const groups = [];
    for (let i = 0; i < count; i += callers) {
      const group = pairs.slice(i, i + callers);
      groups.push(...group.map(({ acquired }) => acquired), ...group.map(({ released }) => released));
    }
    return byGroups(callers, groups, write).then((rate) => rate / 2);
  };
  const { rate, ratio, noise } = await interleave(
    {
      ours_many: ours(CALLERS, CALLERS * many),
      bare_many: theirs(CALLERS, CALLERS * many),
      ours_one: ours(1, one),
      bare_one: theirs(1, one),
    },
    rounds,
  );
  for (const [side, callers] of [
    ['many', `${CALLERS} callers`],
    ['one', 'one caller'],
  ])
    report({
      what: `acquire and release, ${callers}`,
      ours: rate(`ours_${side}`),
      bare: rate(`bare_${side}`),
      unit: '/s',
      ratio: ratio(`ours_${side}`, `bare_${side}`),
      noise: noise(`ours_${side}`, `bare_${side}`),
      ...(side === 'one' ? { at_least: 0.4 } : {}),
    });
  await bare.close();
  await cairn.close();
}

async function acquireAndRelease({ api }, resource_id) {
  const { lock_id } = await api.locks.acquire({ resource_type: 'file', resource_id, holder_agent_id: AGENT });
  await api.locks.release({ lock_id });
}

/** Makes the rows of an acquire and of a release as Cairn writes them, from those that Cairn made. */
async function lockRows(store, resource_id, newId) {
  await acquireAndRelease(store, resource_id);
  const [acquired, released] = [
    await lastPacket(store, 'cairn.lock.acquired'),
    await lastPacket(store, 'cairn.lock.released'),
  ];
  const lock_id = acquired.entity_id;
  const lock = await store.driver
    .at(TENANT)
    .get(sql`SELECT * FROM locks WHERE tenant_id = ${TENANT} AND lock_id = ${lock_id}`);
  const [acquiredRow, releasedRow] = [eventRows(acquired), eventRows(released)];
  let token = lock.token;
  return (resource) => {
    const id = newId();
    const now = Date.now();
    const ids = [
      [lock_id, id],
      [resource_id, resource],
    ];
    token++;
    return {
      acquired: {
        resource: [token, token, TENANT, 'file', resource],
        lock: [TENANT, id, 'file', resource, AGENT, 'Exclusive', 'held', token, token, 30_000, now, now],
        lease: [TENANT, 'lock', id, AGENT, token, now + 30_000],
        event: acquiredRow([[acquired.packet_id, newId()], ...ids]),
      },
      released: {
        unlock: ['released', token, token, now, now, TENANT, id],
        unlease: [TENANT, 'lock', id],
        event: releasedRow([[released.packet_id, newId()], ...ids]),
      },
    };
  };
}

/** All ask at once. How long the last has to wait should be how long the others hold it, and little more. */
async function contended({ target, quick, report }) {
  const cairn = await openCairn(await target.fresh());
  const asked = { resource_type: 'file', resource_id: 'src/main.ts', timeout_ms: 120_000 };
  const round = async () => {
    const waits = [];
    const holds = [];
    await Promise.all(
      Array.from({ length: CALLERS }, async (_, i) => {
        const start = performance.now();
        const { lock_id } = await cairn.api.locks.acquire({ ...asked, holder_agent_id: `agent-${i}` });
        const granted = performance.now();
        waits.push(granted - start);
        await new Promise((resolve) => setTimeout(resolve, HOLD_MS));
        holds.push(performance.now() - granted);
        await cairn.api.locks.release({ lock_id });
      }),
    );
    return { longest: Math.max(...waits), together: holds.reduce((sum, hold) => sum + hold, 0) };
  };
  await round();
  const rounds = [];
  for (let i = 0; i < (quick ? 3 : 9); i++) rounds.push(await round());
  const worst = rounds.reduce((a, b) => (a.longest / a.together > b.longest / b.together ? a : b));
  report({
    what: `${CALLERS} waiters, the longest wait and all holds`,
    ours: worst.longest,
    bare: worst.together,
    unit: ' ms',
    ratio: worst.longest / worst.together,
    at_most: 3,
  });
  await cairn.close();
}
