/** Checkpoints under faults: processes that are killed, that write at once, and statements that fail. */
import { type ChildProcess, fork } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { Store } from '#cairn/api/index.js';
import type { Snapshot } from '#cairn/checkpoints/checkpoints/model.js';
import type { Api } from '#cairn/client/index.js';
import { type Sql, sql } from '#cairn/driver/index.js';
import type { Json, JsonObject } from '#cairn/kernel/contract.js';
import { canonical, sha256 } from '#cairn/kernel/node.js';
import { illnesses } from '../support/inspect/audit.js';
import { contentUnseen } from '../support/inspect/state-rows.js';
import { exitOf, sleep, until, within } from '../support/server.js';
import { freshDatabase, targetNames } from '../support/targets.js';

const CALLER = { tenant_id: 'default', agent_id: null, role: 'admin', key_id: null } as const;
const EXECUTION = { execution_id: 'run' };
const KILLS = 15;
/** A kill that comes too late shows nothing: then there are more of them. */
const MOST_ROUNDS = 12;
const EACH = 30;
const kinds = (['sqlite', 'postgres'] as const).filter((kind) => targetNames().includes(kind));

/** What a process told of a checkpoint: what it sent, and whether it was acknowledged. */
interface Told {
  readonly hash: string;
  readonly acknowledged: boolean;
  readonly parent: string | null | undefined;
}

interface Report {
  readonly ready?: true;
  readonly failed?: string;
  readonly trying?: string;
  readonly kept?: string;
  readonly hash?: string;
  readonly parent?: string | null;
}

/** A process that keeps, prunes or deletes; it begins at the word of the parent. */
class Keeper {
  readonly told = new Map<string, Told>();
  readonly ready: Promise<void>;
  readonly #child: ChildProcess;
  readonly #ended: Promise<void>;
  #failed: string | undefined;
  #first: () => void = () => undefined;
  /** When the first was acknowledged. */
  readonly first = new Promise<void>((resolve) => {
    this.#first = resolve;
  });

  constructor(mode: string, database: string, name = '', count = 0) {
    const child = fork(join(import.meta.dirname, '../support/children/checkpoints.mjs'), [
      mode,
      database,
      name,
      String(count),
    ]);
    this.#child = child;
    // What it told before it died may be read after that is known.
    const hungUp = new Promise<void>((resolve) => child.once('disconnect', () => resolve()));
    this.#ended = Promise.all([exitOf(child), hungUp]).then(() => undefined);
    this.ready = new Promise((resolve, reject) => {
      child.on('message', (report: Report) => {
        const { failed, trying, kept, hash, parent } = report;
        if (report.ready) resolve();
        if (failed !== undefined) {
          this.#failed = failed;
          reject(new Error(failed));
        }
        if (trying !== undefined) this.told.set(trying, { hash: hash!, acknowledged: false, parent });
        if (kept !== undefined) {
          this.told.set(kept, { hash: hash!, acknowledged: true, parent });
          this.#first();
        }
      });
    });
  }

  async begin(): Promise<void> {
    await within(30_000, this.ready, 'the process to start');
    this.#child.send('go');
  }

  kill(): void {
    this.#child.kill('SIGKILL');
  }

  async ended(): Promise<void> {
    await within(60_000, this.#ended, 'the process to end');
    if (this.#failed !== undefined) throw new Error(this.#failed);
  }
}

const hashOf = async (api: Api, checkpoint_id: string): Promise<string | undefined> => {
  try {
    return sha256(canonical((await api.checkpoints.get({ checkpoint_id })).snapshot as unknown as Json));
  } catch (error) {
    if ((error as { code?: string }).code === 'CHECKPOINT_NOT_FOUND') return undefined;
    throw error;
  }
};

async function withStore<T>(database: string, work: (api: Api, store: Store) => Promise<T>): Promise<T> {
  const store = await Store.open({ database, sweep_every_ms: 0 });
  try {
    return await work(store.api(CALLER), store);
  } finally {
    await store.close();
  }
}

/** Every parent is there and came before, but for roots. */
async function treeOf(api: Api) {
  const { nodes, roots } = await api.executions.tree(EXECUTION);
  const seen = new Set<string>();
  for (const { checkpoint_id, parent_checkpoint_id } of nodes) {
    if (parent_checkpoint_id !== null) expect(seen).toContain(parent_checkpoint_id);
    seen.add(checkpoint_id);
  }
  expect(nodes).toHaveLength((await api.executions.get(EXECUTION)).checkpoints);
  return { nodes, roots };
}

describe.runIf(kinds.includes('sqlite'))('a process that is killed', () => {
  it(`CKPT-22 while it keeps checkpoints, ${KILLS} times: what it was told of is there whole, the last whole or not at all`, async () => {
    const { database, drop } = await freshDatabase('sqlite');
    await withStore(database, (api) => api.executions.create(EXECUTION));
    const all = new Map<string, string>();
    let [unacknowledged, landed] = [0, 0];
    let next = new Keeper('loop', database, 'round-00');
    for (let kill = 0; kill < KILLS; kill++) {
      const keeper = next;
      await keeper.begin();
      // Starts up while this one is at it, and waits for its turn.
      if (kill + 1 < KILLS) next = new Keeper('loop', database, `round-${String(kill + 1).padStart(2, '0')}`);
      await keeper.first;
      await sleep(Math.random() * 60);
      keeper.kill();
      await keeper.ended();
      await withStore(database, async (api) => {
        for (const [id, { hash, acknowledged }] of keeper.told) {
          const found = await hashOf(api, id);
          if (acknowledged || found !== undefined) {
            expect(found, `${id} after kill ${kill}`).toBe(hash);
            all.set(id, hash);
          }
          if (!acknowledged) unacknowledged++;
          if (!acknowledged && found !== undefined) landed++;
        }
        expect((await treeOf(api)).nodes).toHaveLength(all.size);
      });
      expect(await illnesses(database), `after kill ${kill}`).toEqual([]);
    }
    expect(await illnesses(database)).toEqual([]);
    await withStore(database, async (api) => {
      for (const [id, hash] of all) expect(await hashOf(api, id), id).toBe(hash);
    });
    expect(unacknowledged).toBeGreaterThan(0);
    console.log(`${all.size} checkpoints; ${landed} of ${unacknowledged} landed without being acknowledged`);
    await drop();
  });

  /** Each of these words is in one checkpoint alone. */
  const wordOf = (i: number): string => `only-${String(i).padStart(5, '0')}-here`;
  const found = (database: string, words: readonly string[]): string[] => {
    const files = [database, `${database}-wal`].filter((file) => existsSync(file));
    const bytes = files.map((file) => readFileSync(file));
    return words.filter((word) => bytes.some((one) => one.includes(word)));
  };

  /** What follows where the run stands, as another system would write it. */
  async function documentOf(api: Api, snapshot: unknown, word: string): Promise<JsonObject> {
    const { agent_id, latest_checkpoint_id } = await api.executions.get(EXECUTION);
    return {
      version: '1.0.0',
      id: `document-${Number(word.slice(5, 10))}`,
      timestamp: 1,
      ...EXECUTION,
      agent_id,
      metadata: { step_number: 1, tokens_used: 0, duration_ms: 0, checkpoint_reason: 'manual', note: word },
      parent: { checkpoint_id: latest_checkpoint_id!, is_branch: false, note: word },
      diff: { from_checkpoint_id: latest_checkpoint_id!, changes: { [word]: { after: word } }, summary: word },
      note: word,
      snapshot: snapshot as JsonObject,
    };
  }

  /** A run with many checkpoints; some named, some on branches. */
  async function fill(api: Api, count: number): Promise<Map<string, { hash: string; word: string }>> {
    await api.executions.create(EXECUTION);
    const made = new Map<string, { hash: string; word: string }>();
    const shared = Array.from({ length: 20 }, (_, i) => ({ role: 'user' as const, content: `shared ${i}` }));
    for (let i = 0; i < count; i++) {
      const word = wordOf(i);
      const snapshot = {
        thought_chain: {
          steps: [{ id: 't', type: 'planning' as const, content: word, confidence: 1, children: [], timestamp: i }],
        },
        context: {
          messages: [...shared, { role: 'user' as const, content: `${word} ${'.'.repeat((i % 9) * 600)}` }],
          variables: { kept: 'in all', now: { [word]: word }, large: { same: 'x'.repeat(5000), word } },
          memory: [{ key: word, value: word, importance: 1 }],
        },
        tool_state: {
          pending: [word],
          completed: [
            { tool_id: 'sh', arguments: { word }, result: word, success: true, duration_ms: 1, timestamp: i },
          ],
        },
      };
      const [older] = made.keys();
      // Some come as documents, with members that only these have.
      const { id } =
        i % 11 === 10
          ? await api.checkpoints.import({ checkpoint: await documentOf(api, snapshot, word) })
          : await api.checkpoints.create({
              ...EXECUTION,
              snapshot,
              ...(i % 37 === 36 ? { parent_checkpoint_id: older!, labels: { word }, description: word } : {}),
              ...(i % 50 === 25 ? { name: `milestone ${i}` } : {}),
            });
      await api.checkpoints.write({
        checkpoint_id: id,
        writes: [{ task_id: 'task', index: 0, channel: 'c', value: word }],
      });
      made.set(id, { hash: sha256(canonical(snapshot as unknown as Json)), word });
    }
    return made;
  }

  const count = async (store: Store, rows: Sql): Promise<number> =>
    (await store.driver.at('default').get<{ n: number }>(rows))!.n;
  /** How much of an execution is stored. */
  const parts = (store: Store) =>
    count(store, sql`SELECT COUNT(*) AS n FROM checkpoint_items WHERE tenant_id = 'default' AND removed > 0`);
  const rows = (store: Store) =>
    count(store, sql`SELECT COUNT(*) AS n FROM checkpoints WHERE tenant_id = 'default' AND execution_id <> ''`);

  /** Has a process do something, and kills it as soon as so much is done. */
  async function killWhen(mode: string, database: string, isDone: (store: Store) => Promise<boolean>) {
    const keeper = new Keeper(mode, database);
    await within(30_000, keeper.ready, 'the process to start');
    let over = false;
    const ended = keeper.ended().finally(() => {
      over = true;
    });
    await withStore(database, async (_api, store) => {
      await keeper.begin();
      while (!over && !(await isDone(store))) await sleep(1);
    });
    keeper.kill();
    await ended;
  }

  const undone = (store: Store) =>
    store.driver.at('default').all(sql`SELECT holder FROM endings WHERE tenant_id = 'default' AND done_at IS NULL`);

  it('CKPT-23 while it prunes: what is left is whole, and what went is in no byte of the file once it goes on', async () => {
    let [cut, half] = [0, 0];
    for (let round = 0; round < 3 || (cut === 0 && round < MOST_ROUNDS); round++) {
      const { database, drop } = await freshDatabase('sqlite');
      const made = await withStore(database, (api) => fill(api, 130));
      const all = await withStore(database, (_api, store) => parts(store));
      await killWhen('prune', database, async (store) => {
        if (round === 0) return (await rows(store)) < made.size;
        return (await parts(store)) < all * (1 - (round % 3) / 4);
      });
      await withStore(database, async (_api, store) => {
        if ((await undone(store)).length > 0) cut++;
      });
      const store = await Store.open({ database });
      const api = store.api(CALLER);
      await until('the erasure', async () => (await undone(store)).length === 0);
      const { nodes } = await treeOf(api);
      const left = new Set(nodes.map(({ checkpoint_id }) => checkpoint_id));
      if (left.size > 6 && left.size < made.size) half++;
      for (const [id, { hash }] of made) expect(await hashOf(api, id)).toBe(left.has(id) ? hash : undefined);
      const [here, gone] = [true, false].map((is) =>
        [...made].filter(([id]) => left.has(id) === is).map(([, { word }]) => word),
      );
      expect(found(database, gone!)).toEqual([]);
      expect(found(database, here!)).toEqual(here);
      // Once more, to the end: the named ones and the newest are left.
      await api.executions.prune({ ...EXECUTION, keep_newest: 3, keep_branch_points: false });
      expect((await treeOf(api)).nodes.filter(({ name }) => name !== null)).toHaveLength(3);
      await store.close();
      expect(await illnesses(database)).toEqual([]);
      await drop();
    }
    console.log(`killed before the erasure was done: ${cut}, with checkpoints still to be removed: ${half}`);
    expect(cut).toBeGreaterThan(0);
  });

  it('CKPT-23 while it deletes an execution: nothing of it is in any byte of the file once it goes on', async () => {
    let cut = 0;
    for (let round = 0; round < 2 || (cut === 0 && round < MOST_ROUNDS); round++) {
      const { database, drop } = await freshDatabase('sqlite');
      const made = await withStore(database, (api) => fill(api, 100));
      const words = [...made.values()].map(({ word }) => word);
      expect(found(database, words)).toEqual(words);
      const all = await withStore(database, (_api, store) => parts(store));
      await killWhen('delete', database, async (store) => (await parts(store)) < all * (1 - (round % 2) / 2));
      const store = await Store.open({ database });
      const api = store.api(CALLER);
      if ((await undone(store)).length > 0) cut++;
      // Killed before anything was done, it is still there.
      await api.executions.delete({ ...EXECUTION, wait: true });
      await until('the erasure', async () => (await undone(store)).length === 0);
      expect(found(database, words)).toEqual([]);
      for (const id of made.keys()) expect(await hashOf(api, id)).toBeUndefined();
      await store.close();
      expect(found(database, words)).toEqual([]);
      expect(await illnesses(database)).toEqual([]);
      await drop();
    }
    expect(cut, 'kills while it was erased').toBeGreaterThan(0);
  });
});

describe.each(kinds)('two processes on one execution on %s', (kind) => {
  it.each(['named', 'unnamed'] as const)('CKPT-24 never mix their states (parents %s)', async (mode) => {
    const { database, drop } = await freshDatabase(kind);
    await withStore(database, (api) => api.executions.create(EXECUTION));
    const keepers = ['a', 'b'].map((name) => new Keeper(mode, database, name, EACH));
    await Promise.all(keepers.map(({ ready }) => ready));
    await Promise.all(keepers.map((keeper) => keeper.begin()));
    await Promise.all(keepers.map((keeper) => keeper.ended()));
    const told = new Map(keepers.flatMap((keeper) => [...keeper.told]));
    expect(told.size).toBe(2 * EACH);
    await withStore(database, async (api) => {
      for (const [id, { hash }] of told) expect(await hashOf(api, id), id).toBe(hash);
      const { nodes, roots } = await treeOf(api);
      const children = new Map(nodes.map((node) => [node.checkpoint_id, node.children.length]));
      expect(Math.max(...children.values())).toBe(1);
      expect(new Set(children.keys())).toEqual(new Set(told.keys()));
      // By name each goes its own way; else each follows whichever was last.
      expect(roots).toHaveLength(mode === 'named' ? 2 : 1);
      if (mode === 'named')
        for (const { checkpoint_id, parent_checkpoint_id } of nodes)
          expect(parent_checkpoint_id).toBe(told.get(checkpoint_id)!.parent);
    });
    expect(await illnesses(database)).toEqual([]);
    await drop();
  });
});

describe.each(kinds)('callers at once on one execution on %s', (kind) => {
  it('CKPT-25 keep what comes while others prune, go back and write', async () => {
    const { database, drop } = await freshDatabase(kind);
    // A second process that never pauses would keep SQLite from emptying its log, which a prune waits for.
    const stores = [await Store.open({ database, sweep_every_ms: 0 })];
    if (kind === 'postgres') stores.push(await Store.open({ database, sweep_every_ms: 0 }));
    const apis = [stores[0]!, stores.at(-1)!].map((store) => store.api(CALLER));
    await apis[0]!.executions.create(EXECUTION);
    const made = new Map<string, string>();
    let over = false;
    /** Refusals that a race explains. */
    const refusals = ['UNKNOWN_ENTITY', 'CHECKPOINT_NOT_FOUND', 'CONCURRENT_MODIFICATION'];
    const attempt = (work: Promise<unknown>) =>
      work.catch((error: { code?: string }) => {
        if (!refusals.includes(error.code ?? '')) throw error;
      });
    const writer = async (w: number) => {
      const api = apis[w % 2]!;
      const snapshot = {
        thought_chain: { steps: [] as Snapshot['thought_chain']['steps'] },
        context: {
          messages: [] as Snapshot['context']['messages'],
          variables: { large: { of: 'x'.repeat(4500) } } as JsonObject,
        },
        tool_state: { pending: [], completed: [] },
      };
      for (let n = 0; !over; n++) {
        await sleep(5);
        const content = `${w}/${n} `.repeat(30);
        snapshot.context.messages.push({ role: 'user', content });
        if (n % 3 === 0 || n > 12) snapshot.context.messages.shift();
        (snapshot.context.variables.large as JsonObject)[`n${n % 4}`] = content;
        snapshot.thought_chain.steps = [
          { id: `${w}/${n}`, type: 'planning', content, confidence: 1, children: [], timestamp: n },
        ];
        const [some] = [...made.keys()].slice(-5 - (n % 7));
        const parent = n % 4 === 3 && some !== undefined ? { parent_checkpoint_id: some } : {};
        const hash = sha256(canonical(snapshot as unknown as Json));
        await attempt(
          api.checkpoints.create({ ...EXECUTION, snapshot, ...parent }).then(({ id }) => made.set(id, hash)),
        );
        const task = { task_id: `${w}/${n}`, index: 0, channel: 'c', value: content };
        if (some !== undefined && n % 8 === 0) {
          await attempt(api.checkpoints.write({ checkpoint_id: some, writes: [task] }));
          await attempt(api.checkpoints.restore({ checkpoint_id: some }));
        }
      }
    };
    const writers = [0, 1, 2, 3].map(writer);
    const pruned = new Set<string>();
    const prune = async (api: Api, keep_newest: number) => {
      for (let n = 0; pruned.size < 40; n++) {
        const rules = { keep_newest, keep_branch_points: n % 2 === 0 };
        await attempt(
          api.executions.prune({ ...EXECUTION, ...rules }).then(({ removed_checkpoint_ids }) => {
            for (const id of removed_checkpoint_ids) {
              expect(pruned, 'removed twice').not.toContain(id);
              pruned.add(id);
            }
          }),
        );
        await sleep(10);
      }
    };
    try {
      await within(120_000, Promise.all([prune(apis[0]!, 12), prune(apis[1]!, 5), prune(apis[1]!, 9)]), 'the pruning');
    } finally {
      over = true;
      await Promise.all(writers);
    }
    const { nodes } = await treeOf(apis[0]!);
    const left = new Set(nodes.map(({ checkpoint_id }) => checkpoint_id));
    for (const [id, hash] of made) expect(await hashOf(apis[1]!, id), id).toBe(left.has(id) ? hash : undefined);
    await apis[0]!.lifetime.sweep();
    for (const store of stores)
      expect(await contentUnseen(store.driver, 'default', EXECUTION.execution_id)).toEqual([]);
    for (const store of stores) await store.close();
    expect(await illnesses(database)).toEqual([]);
    await drop();
  });
});
