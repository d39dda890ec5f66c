import { expect, it } from 'vitest';
import { Store } from '#cairn/api/index.js';
import type { Snapshot } from '#cairn/checkpoints/checkpoints/model.js';
import type { LiveItem } from '#cairn/checkpoints/executions/model.js';
import { applyChanges } from '#cairn/checkpoints/states/patch.js';
import type { Api } from '#cairn/client/index.js';
import type { Json } from '#cairn/kernel/contract.js';
import { databases } from '../support/http.js';
import { beginRun, call, snapshotOf, thought } from '../support/nouns/executions.js';
import { freshDatabase, onEveryStreamTarget, refusalOf } from '../support/targets.js';

const EXECUTION = { execution_id: 'run' };

/** Reads a live view one item at a time, and rebuilds the state as a reader would. */
class Watcher {
  state: Snapshot | null = null;
  /** Every state by the checkpoint that it was said to be of, in the order of arrival. */
  readonly seen: [checkpoint_id: string, state: Snapshot][] = [];
  readonly items: LiveItem[] = [];
  readonly #stop = new AbortController();
  readonly #items: AsyncIterator<LiveItem>;

  constructor(cairn: Api, after?: string) {
    const signal = AbortSignal.any([this.#stop.signal, AbortSignal.timeout(20_000)]);
    const input = after === undefined ? EXECUTION : { ...EXECUTION, after };
    this.#items = cairn.executions.live(input, { signal })[Symbol.asyncIterator]();
  }

  async next(): Promise<LiveItem> {
    const { value, done } = await this.#items.next();
    if (done) throw new Error(`the stream ended after ${this.items.length} items`);
    const item = value as LiveItem;
    this.items.push(item);
    if (item.snapshot) this.state = item.snapshot;
    else if (item.changes) {
      expect(item.from_checkpoint_id).toBe(this.seen.at(-1)?.[0] ?? item.from_checkpoint_id);
      this.state = applyChanges(this.state as unknown as Json, item.changes) as unknown as Snapshot;
    }
    if (item.checkpoint) this.seen.push([item.checkpoint.id, structuredClone(this.state!)]);
    return item;
  }

  async until(checkpoint_id: string): Promise<void> {
    while (this.seen.at(-1)?.[0] !== checkpoint_id) await this.next();
  }

  async stop(): Promise<void> {
    this.#stop.abort();
    await this.#items.return?.();
  }
}

const nothing = { checkpoint: null, snapshot: null, from_checkpoint_id: null, changes: null };

onEveryStreamTarget('live views of executions', (test) => {
  it('EXEC-30 gives the whole state first, then what each checkpoint changed, with what is known of the checkpoint', async () => {
    const cairn = await test().freshTenant();
    const add = await beginRun(cairn, 'run');
    await add('a', { messages: ['one'], variables: { plan: 'p' } });
    const watcher = new Watcher(cairn);
    const { id, snapshot: _, ...latest } = await cairn.checkpoints.latest(EXECUTION);
    expect(await watcher.next()).toEqual({
      ...nothing,
      token: expect.any(String),
      checkpoint: { id, ...latest },
      snapshot: snapshotOf({ messages: ['one'], variables: { plan: 'p' } }),
    });
    await add('b', { messages: ['one', 'two'], variables: { plan: 'q' } }, { name: 'second' });
    expect(await watcher.next()).toEqual({
      ...nothing,
      token: expect.any(String),
      checkpoint: expect.objectContaining({
        id: 'b',
        name: 'second',
        parent: { checkpoint_id: 'a', is_branch: false },
      }),
      from_checkpoint_id: 'a',
      changes: {
        '/context/messages/1:1': { before: [], after: [{ role: 'user', content: 'two' }] },
        '/context/variables/plan': { before: 'p', after: 'q' },
      },
    });
    await watcher.stop();
  });

  it('EXEC-31 while two write and branch, every state can be rebuilt exactly, in the order of the checkpoints', async () => {
    const cairn = await test().freshTenant();
    await beginRun(cairn, 'run');
    // What else happens in the tenant is none of it.
    const elsewhere = cairn.executions.create({ execution_id: 'other' });
    const watchers = [new Watcher(cairn), new Watcher(cairn)];
    for (const watcher of watchers) await watcher.next();
    await elsewhere;
    const sent = new Map<string, Snapshot>();
    const write = async (writer: string) => {
      let before: string | undefined;
      const messages: string[] = [];
      for (let step = 1; step <= 12; step++) {
        const checkpoint_id = `${writer}${step}`;
        messages.push(`${writer} says ${step}`);
        if (step % 5 === 0) messages.splice(1, 2);
        const snapshot = snapshotOf({
          messages,
          thoughts: messages.map((_, i) => thought(`${writer}-${i}`, i === 1 ? step / 20 : 0.5)),
          calls: step > 6 ? [call('shell', `${writer}-call`, step)] : [],
          variables: { [writer]: { step, list: Array.from({ length: step % 4 }, (_, i) => i) } },
        });
        sent.set(checkpoint_id, snapshot);
        // One goes on from where it was itself, the other from wherever the run stands.
        const from = writer === 'x' && before !== undefined ? { parent_checkpoint_id: before } : {};
        await cairn.checkpoints.create({ checkpoint_id, execution_id: 'run', snapshot, ...from });
        if (step % 4 === 0) {
          const branch_checkpoint_id = `${checkpoint_id}-branch`;
          sent.set(branch_checkpoint_id, snapshot);
          await cairn.checkpoints.branch({ checkpoint_id, reason: 'try', branch_checkpoint_id });
        }
        if (step % 3 === 0) await cairn.checkpoints.create({ execution_id: 'other', snapshot: snapshotOf() });
        before = checkpoint_id;
      }
    };
    await Promise.all([write('x'), write('y')]);
    const { nodes, latest_checkpoint_id } = await cairn.executions.tree(EXECUTION);
    for (const watcher of watchers) {
      await watcher.until(latest_checkpoint_id!);
      expect(watcher.seen.map(([id]) => id)).toEqual(nodes.map(({ checkpoint_id }) => checkpoint_id));
      for (const [id, state] of watcher.seen) {
        expect(state, id).toEqual(sent.get(id));
        expect(state, id).toEqual((await cairn.checkpoints.get({ checkpoint_id: id })).snapshot);
      }
      expect(watcher.seen).toHaveLength(30);
      await watcher.stop();
    }
  });

  it('EXEC-32 an execution without a checkpoint can be watched: its first is given whole', async () => {
    const cairn = await test().freshTenant();
    const add = await beginRun(cairn, 'run');
    const watcher = new Watcher(cairn);
    expect(await watcher.next()).toEqual({ ...nothing, token: expect.any(String) });
    await add('a', { messages: ['one'] });
    expect(await watcher.next()).toMatchObject({
      checkpoint: { id: 'a' },
      snapshot: snapshotOf({ messages: ['one'] }),
      changes: null,
    });
    await watcher.stop();
  });

  it('EXEC-33 a restore is shown as a change to the state that the run goes on from', async () => {
    const cairn = await test().freshTenant();
    const add = await beginRun(cairn, 'run');
    const watcher = new Watcher(cairn);
    await watcher.next();
    await add('a', { messages: ['one'] });
    await add('b', { messages: ['one', 'two'] });
    await cairn.checkpoints.restore({ checkpoint_id: 'a' });
    await add('c', { messages: ['one', 'three'] });
    await watcher.until('c');
    expect(watcher.seen).toEqual([
      ['a', snapshotOf({ messages: ['one'] })],
      ['b', snapshotOf({ messages: ['one', 'two'] })],
      ['a', snapshotOf({ messages: ['one'] })],
      ['c', snapshotOf({ messages: ['one', 'three'] })],
    ]);
    expect(watcher.items.at(-1)?.checkpoint?.parent).toEqual({ checkpoint_id: 'a', is_branch: true });
    await watcher.stop();
  });

  it('EXEC-34 resumed where the run still stands it gives only what is new, else the whole state again', async () => {
    const cairn = await test().freshTenant();
    const add = await beginRun(cairn, 'run');
    await add('a', { messages: ['one'] });
    const first = new Watcher(cairn);
    const { token } = await first.next();
    await first.stop();
    // Nothing happened to this run, though much did beside it.
    await cairn.cards.add({ content: 'x' });
    await cairn.executions.update({ ...EXECUTION, status: 'paused' });
    const resumed = new Watcher(cairn, token);
    expect(await resumed.next()).toEqual({ ...nothing, token });
    resumed.state = first.state;
    await add('b', { messages: ['one', 'two'] });
    expect(await resumed.next()).toMatchObject({ from_checkpoint_id: 'a', snapshot: null });
    expect(resumed.state).toEqual(snapshotOf({ messages: ['one', 'two'] }));
    await resumed.stop();
    const late = new Watcher(cairn, token);
    expect(await late.next()).toMatchObject({ checkpoint: { id: 'b' }, changes: null });
    expect(late.state).toEqual(snapshotOf({ messages: ['one', 'two'] }));
    await late.stop();
  });

  it('EXEC-35 a token of another run or store gives the whole state; what is no token is refused', async () => {
    const cairn = await test().freshTenant();
    const add = await beginRun(cairn, 'run');
    await add('a');
    const watcher = new Watcher(cairn);
    const { token } = await watcher.next();
    await watcher.stop();
    for (const after of [`${token.slice(0, -1)}g`, '0', 'nonsense', `${token}0`]) {
      const refused = new Watcher(cairn, after);
      expect(await refusalOf(refused.next())).toMatchObject({ code: 'INVALID_CURSOR', status: 400 });
    }
    const [epoch, mark] = token.split('.');
    for (const after of [`${epoch}.${'0'.repeat(16)}`, `${'0'.repeat(16)}.${mark}`]) {
      const other = new Watcher(cairn, after);
      expect((await other.next()).snapshot).toEqual(snapshotOf());
      await other.stop();
    }
  });

  it('EXEC-36 an execution that is not there is refused before the stream begins', async () => {
    const cairn = await test().freshTenant();
    await beginRun(await test().freshTenant(), 'run');
    expect(await refusalOf(new Watcher(cairn).next())).toMatchObject({ code: 'EXECUTION_NOT_FOUND', status: 404 });
  });

  it('EXEC-37 deleting the execution ends the stream', async () => {
    const cairn = await test().freshTenant();
    const add = await beginRun(cairn, 'run');
    await add('a');
    const watcher = new Watcher(cairn);
    await watcher.next();
    const ending = refusalOf(watcher.next());
    await cairn.executions.delete(EXECUTION);
    expect(await ending).toMatchObject({ code: 'EXECUTION_NOT_FOUND', status: 404 });
    expect(watcher.items).toHaveLength(1);
  });

  it('EXEC-33 a checkpoint from a file is shown where the run goes on to it; those that were pruned are passed over', async () => {
    const cairn = await test().freshTenant();
    const add = await beginRun(cairn, 'run');
    await add('a', { messages: ['one'] });
    const watcher = new Watcher(cairn);
    const { checkpoint } = await watcher.next();
    const bring = (id: string, messages: string[], parent?: string) =>
      cairn.checkpoints.import({
        checkpoint: {
          ...checkpoint!,
          id,
          snapshot: snapshotOf({ messages }),
          ...(parent === undefined ? {} : { parent: { checkpoint_id: parent, is_branch: false } }),
        },
      });
    await bring('older', ['from long ago']);
    await bring('next', ['one', 'from a file'], 'a');
    await watcher.next();
    expect(watcher.seen.map(([id]) => id)).toEqual(['a', 'next']);
    expect(watcher.state).toEqual(snapshotOf({ messages: ['one', 'from a file'] }));
    // Not read yet when they are pruned: what is left comes, as a change to the state that the reader has.
    await add('b', { messages: ['two'] });
    await add('c', { messages: ['two', 'three'] });
    await cairn.executions.prune({ ...EXECUTION, keep_newest: 1, keep_branch_points: false });
    await watcher.until('c');
    expect(watcher.state).toEqual(snapshotOf({ messages: ['two', 'three'] }));
    await watcher.stop();
  });

  it('EXEC-38 what a reader does with an item reaches neither the store nor other readers', async () => {
    const cairn = await test().freshTenant();
    const add = await beginRun(cairn, 'run');
    await add('a', { messages: ['one'], variables: { list: [1] } });
    const last = { messages: ['one', 'two'], variables: { list: [1], more: { deep: true } } };
    const signal = AbortSignal.timeout(20_000);
    for await (const { snapshot, changes } of cairn.executions.live(EXECUTION, { signal })) {
      if (changes) {
        // Compared with the state that was sent, not with what became of the reader's copy.
        expect(Object.keys(changes)).toEqual(['/context/messages/1:1', '/context/variables/more']);
        (changes['/context/variables/more']!.after as { deep: boolean }).deep = false;
        break;
      }
      snapshot!.context.messages.pop();
      (snapshot!.context.variables.list as number[]).push(2);
      await add('b', last);
    }
    expect((await cairn.checkpoints.latest(EXECUTION)).snapshot).toEqual(snapshotOf(last));
    const other = new Watcher(cairn);
    await other.next();
    expect(other.state).toEqual(snapshotOf(last));
    await other.stop();
  });

  it('EXEC-30 a large state comes whole', async () => {
    const cairn = await test().freshTenant();
    const add = await beginRun(cairn, 'run');
    const messages = Array.from({ length: 300 }, (_, i) => `${i} ${'ü😀'.repeat(2000)}`);
    await add('a', { messages });
    const watcher = new Watcher(cairn);
    await watcher.next();
    expect(watcher.state).toEqual(snapshotOf({ messages }));
    await watcher.stop();
  });
});

for (const kind of databases()) {
  it(`EXEC-31 what is written through another store on ${kind} is rebuilt as exactly`, async () => {
    const { database, drop } = await freshDatabase(kind);
    const stores = [await Store.open({ database, sweep_every_ms: 0 })];
    stores.push(await Store.open({ database, sweep_every_ms: 0 }));
    try {
      const caller = { tenant_id: 'default', agent_id: null, role: 'admin', key_id: null } as const;
      const [here, there] = stores.map((store) => store.api(caller)) as [Api, Api];
      const add = await beginRun(there, 'run');
      const watcher = new Watcher(here);
      await watcher.next();
      const states = new Map<string, Snapshot>();
      for (let i = 0; i < 10; i++) {
        const parts = {
          messages: Array.from({ length: i % 7 }, (_, j) => `${i - (j % 2)}`),
          variables: { big: 'x'.repeat(3000), count: i, list: Array.from({ length: i }, (_, j) => ({ j })) },
        };
        states.set(await add(`c${i}`, parts), snapshotOf(parts));
      }
      await watcher.until('c9');
      expect(watcher.seen).toEqual([...states]);
      await watcher.stop();
    } finally {
      for (const store of stores) await store.close();
      await drop();
    }
  });
}
