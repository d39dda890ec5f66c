/** Faults inside the writes of executions and checkpoints: nothing is half written, and what comes next is right. */
import { describe, expect, it } from 'vitest';
import { Store, schema } from '#cairn/api/index.js';
import type { Snapshot } from '#cairn/checkpoints/checkpoints/model.js';
import type { Api } from '#cairn/client/index.js';
import { type Driver, openPostgres, openSqlite, type Sql, sql } from '#cairn/driver/index.js';
import { packetJournal } from '#cairn/engine/index.js';
import { illnesses } from '../support/inspect/audit.js';
import { type Fault, FaultyDriver, faultyJournal, noFault } from '../support/stand-ins/faulty-driver.js';
import { freshDatabase, targetNames } from '../support/targets.js';

const kinds = (['sqlite', 'postgres'] as const).filter((kind) => targetNames().includes(kind));
const CALLER = { tenant_id: 'default', agent_id: null, role: 'admin', key_id: null } as const;
const EXECUTION = { execution_id: 'run' };

interface Opened {
  readonly cairn: Api;
  readonly driver: Driver;
  /** Strikes the next write, and only that. */
  readonly inWrite: Fault;
  /** Strikes in the last statements before the commit. */
  readonly inJournal: Fault;
  strikeNext(): void;
  close(): Promise<void>;
}

async function open(kind: 'sqlite' | 'postgres'): Promise<Opened> {
  const { database, drop } = await freshDatabase(kind);
  const [inWrite, inJournal] = [noFault(), noFault()];
  const journal = faultyJournal(
    packetJournal(() => Date.now(), 8192),
    inJournal,
  );
  const driver: Driver = await (kind === 'sqlite' ? openSqlite : openPostgres)(database, { journal, schema });
  let next = false;
  const faulty = new FaultyDriver(driver, () => {
    if (!next) return undefined;
    next = false;
    return inWrite;
  });
  const store = await Store.on(faulty, { sweep_every_ms: 0 });
  return {
    cairn: store.api(CALLER),
    driver,
    inWrite,
    inJournal,
    strikeNext: () => {
      next = true;
    },
    close: async () => {
      await store.close();
      expect(await illnesses(database)).toEqual([]);
      await drop();
    },
  };
}

const TABLES: readonly Sql[] = [
  sql`SELECT * FROM executions WHERE tenant_id = 'default' ORDER BY execution_id`,
  sql`SELECT * FROM execution_lines WHERE tenant_id = 'default' ORDER BY execution_id, line`,
  sql`SELECT * FROM checkpoints WHERE tenant_id = 'default' ORDER BY checkpoint_id`,
  sql`SELECT * FROM checkpoints_gone WHERE tenant_id = 'default' ORDER BY checkpoint_id`,
  sql`SELECT * FROM checkpoint_items WHERE tenant_id = 'default' ORDER BY execution_id, line, added, ordinal`,
  sql`SELECT * FROM thoughts WHERE tenant_id = 'default' ORDER BY execution_id, line, added, ordinal`,
  sql`SELECT * FROM tool_calls WHERE tenant_id = 'default' ORDER BY execution_id, line, added, ordinal`,
  sql`SELECT * FROM checkpoint_writes WHERE tenant_id = 'default' ORDER BY checkpoint_id, task_id, place`,
  sql`SELECT * FROM endings WHERE tenant_id = 'default' ORDER BY holder`,
  sql`SELECT seq, packet_id FROM packet_store WHERE tenant_id = 'default' ORDER BY seq`,
];

async function rowsOf(driver: Driver): Promise<unknown[]> {
  const rows: unknown[] = [];
  for (const table of TABLES) rows.push(await driver.at('default').all(table));
  return rows;
}

/** A state that differs from those before it in all its parts; large enough to be cut. */
function snapshotAt(n: number): Snapshot {
  const many = Array.from({ length: 12 }, (_, i) => ({ i, text: i === n % 12 ? `${n}` : 'y'.repeat(500) }));
  return {
    thought_chain: {
      steps: [
        { id: 'a', type: 'planning', content: `${n}`, confidence: 0.5, children: [], timestamp: 1 },
        { id: 'b', type: 'planning', content: 'same', confidence: 0.5, children: [], timestamp: 1 },
      ],
    },
    context: {
      messages: [
        { role: 'user', content: 'same' },
        { role: 'user', content: `${n}` },
      ],
      variables: { many, [`v${n % 5}`]: n },
      memory: [{ key: 'k', value: n, importance: 1 }],
    },
    tool_state: {
      pending: [`${n}`],
      completed: [
        { tool_id: 'sh', arguments: {}, result: n, success: true, duration_ms: 1, timestamp: 1 },
        { tool_id: 'sh', arguments: {}, result: 'same', success: true, duration_ms: 1, timestamp: 1 },
      ],
    },
  };
}

let count = 0;

/** Writes of executions and checkpoints; each gives what must be there after it, by id. */
function writesOn(cairn: Api, older: string, file: object, bundle: object) {
  const keep = (more: object) => {
    const checkpoint_id = `kept-${++count}`;
    const snapshot = snapshotAt(count);
    return {
      there: { [checkpoint_id]: snapshot },
      run: () => cairn.checkpoints.create({ ...EXECUTION, checkpoint_id, snapshot, ...more }),
    };
  };
  const renamed = (value: object, from: string, to: string): Record<string, never> =>
    JSON.parse(JSON.stringify(value).replaceAll(from, to));
  return {
    'the next': () => keep({}),
    'one with an older parent': () => keep({ parent_checkpoint_id: older }),
    'a root': () => keep({ root: true }),
    'a branch': () => {
      const branch_checkpoint_id = `branch-${++count}`;
      return {
        there: {},
        run: () => cairn.checkpoints.branch({ checkpoint_id: older, reason: 'r', branch_checkpoint_id }),
      };
    },
    'a restore': () => ({
      there: {},
      run: () => cairn.checkpoints.restore({ checkpoint_id: count++ % 2 ? older : `${older}-2` }),
    }),
    'pending writes': () => ({
      there: {},
      run: () =>
        cairn.checkpoints.write({
          checkpoint_id: older,
          writes: [{ task_id: `t${++count}`, index: 0, channel: 'c', value: count }],
        }),
    }),
    'a file': () => {
      const id = `file-${++count}`;
      return { there: {}, run: () => cairn.checkpoints.import({ checkpoint: renamed(file, 'FILE', id) }) };
    },
    'a bundle': () => {
      const id = `bundle-${++count}`;
      return { there: {}, run: () => cairn.executions.import({ bundle: renamed(bundle, 'BUNDLE', id) }) };
    },
    'a prune': () => ({
      there: {},
      run: () => cairn.executions.prune({ ...EXECUTION, keep_newest: 4, keep_branch_points: false }),
    }),
    'a deletion': () => ({ there: {}, run: () => cairn.executions.delete({ execution_id: 'other', wait: true }) }),
  };
}

describe.each(kinds)('a write of a checkpoint that fails on %s', (kind) => {
  it.each(['before', 'after', 'journal'] as const)(
    'CKPT-27 leaves nothing, and the next is right, whichever statement it was (%s)',
    async (when) => {
      const opened = await open(kind);
      const { cairn, driver, inWrite, inJournal } = opened;
      const setUp = await prepared(cairn);
      let struck = 0;
      for (const [name, write] of Object.entries(setUp.writes)) {
        for (let at = 1; ; at++) {
          const before = await rowsOf(driver);
          const { run, there } = write();
          const fault = when === 'journal' ? inJournal : inWrite;
          const strikes = when === 'journal' ? { at, again: true } : { at, when, again: true };
          Object.assign(fault, noFault(), strikes);
          if (when !== 'journal') opened.strikeNext();
          const failure = await run().then(
            () => undefined,
            (error: Error) => error,
          );
          Object.assign(fault, noFault());
          if (failure) {
            struck++;
            expect(failure.message, name).toBe('injected');
            expect(await rowsOf(driver), `${name}, statement ${at}`).toEqual(before);
          }
          for (const [checkpoint_id, snapshot] of Object.entries(there)) {
            const found = cairn.checkpoints.get({ checkpoint_id });
            if (failure) await expect(found).rejects.toMatchObject({ code: 'CHECKPOINT_NOT_FOUND' });
            else expect((await found).snapshot).toEqual(snapshot);
          }
          if (!failure) break;
        }
        await setUp.check();
      }
      expect(struck).toBeGreaterThan(when === 'journal' ? 10 : 40);
      await opened.close();
    },
  );

  it('CKPT-27 whose answer is lost is there whole, and the next is right', async () => {
    const opened = await open(kind);
    const { cairn, inWrite } = opened;
    const { writes, check } = await prepared(cairn);
    for (const [name, write] of Object.entries(writes)) {
      const { run, there } = write();
      Object.assign(inWrite, noFault(), { when: 'committed' });
      opened.strikeNext();
      await expect(run(), name).rejects.toThrow('injected');
      for (const [checkpoint_id, snapshot] of Object.entries(there))
        expect((await cairn.checkpoints.get({ checkpoint_id })).snapshot).toEqual(snapshot);
      await check();
      // Again, as whoever lost the answer does: it is known, or done.
      if (name !== 'pending writes') await run();
      await check();
    }
    await cairn.lifetime.sweep();
    await opened.close();
  });
});

/** A run with some checkpoints, and what is done to it. */
async function prepared(cairn: Api) {
  for (const execution_id of ['run', 'other', 'BUNDLE'])
    await cairn.executions.create({ execution_id, status: 'running' });
  const add = (execution_id: string, checkpoint_id: string) =>
    cairn.checkpoints.create({ execution_id, checkpoint_id, snapshot: snapshotAt(++count), name: 'kept' });
  for (const id of ['old', 'old-2', 'old-3']) await add('run', id);
  for (const id of ['other-1', 'other-2']) await add('other', id);
  for (const id of ['BUNDLE-1', 'BUNDLE-2']) await add('BUNDLE', id);
  await cairn.checkpoints.branch({ checkpoint_id: 'BUNDLE-1', reason: 'r', branch_checkpoint_id: 'BUNDLE-3' });
  const bundle = await cairn.executions.export({ execution_id: 'BUNDLE' });
  const file = { ...(await cairn.checkpoints.get({ checkpoint_id: 'old-2' })), id: 'FILE' };
  /** The next one, on the state that is retained, and every other one. */
  const check = async () => {
    const checkpoint_id = `next-${++count}`;
    const snapshot = snapshotAt(count);
    await cairn.checkpoints.create({ ...EXECUTION, checkpoint_id, snapshot });
    expect((await cairn.checkpoints.latest(EXECUTION)).snapshot).toEqual(snapshot);
    for (const [n, id] of ['old', 'old-2', 'old-3'].entries()) {
      const { thought_chain } = (await cairn.checkpoints.get({ checkpoint_id: id })).snapshot;
      expect(thought_chain.steps[0]!.content).toBe(first[n]);
    }
  };
  const first: string[] = [];
  for (const checkpoint_id of ['old', 'old-2', 'old-3'])
    first.push((await cairn.checkpoints.get({ checkpoint_id })).snapshot.thought_chain.steps[0]!.content);
  return { writes: writesOn(cairn, 'old', file, bundle), check };
}
