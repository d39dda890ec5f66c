/** Messages between stores that share a database, with readers that are killed, and what is left of erased ones. */
import { type ChildProcess, fork } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Store } from '#cairn/api/index.js';
import type { Api } from '#cairn/client/index.js';
import { releaseDeliveriesOf } from '#cairn/coordination/messages/expiry.js';
import { dueLeases, expireDue, expiries, nextDue } from '#cairn/engine/index.js';
import { illnesses } from '../support/inspect/audit.js';
import { callOn, TENANT } from '../support/inspect/wakes.js';
import { payloads, register } from '../support/nouns/messages.js';
import { exitOf, sleep, within } from '../support/server.js';
import { freshDatabase, targetNames } from '../support/targets.js';

const CALLER = { tenant_id: TENANT, agent_id: null, role: 'admin', key_id: null } as const;
const kinds = (['sqlite', 'postgres'] as const).filter((kind) => targetNames().includes(kind));
const note = (to_agent_id: string, payload: string) => ({ to_agent_id, message_type: 'note', payload });

type Told = { ready: true } | { handed: string[] } | { acknowledged: string };

/** A reader in a process of its own, and what it told. */
class Reader {
  readonly told: Told[] = [];
  readonly #child: ChildProcess;
  #tell: () => void = () => undefined;

  constructor(database: string, agent_id: string, mode: 'hold' | 'read') {
    this.#child = fork(join(import.meta.dirname, '../support/children/messages.mjs'), [database, agent_id, mode]);
    this.#child.on('message', (told: Told) => {
      this.told.push(told);
      this.#tell();
    });
  }

  get acknowledged(): string[] {
    return this.told.flatMap((one) => ('acknowledged' in one ? [one.acknowledged] : []));
  }

  async until(enough: (told: Told) => boolean): Promise<void> {
    while (!this.told.some(enough)) {
      const next = new Promise<void>((resolve) => (this.#tell = resolve));
      await within(30_000, next, 'the reader to tell something');
    }
  }

  async kill(): Promise<void> {
    const exited = exitOf(this.#child);
    this.#child.kill('SIGKILL');
    expect(await within(10_000, exited, 'the reader to die')).toMatchObject({ signal: 'SIGKILL' });
  }
}

describe.each(kinds)('messages between stores on %s', (kind) => {
  let database: { database: string; drop(): Promise<void> };
  let stores: Store[];
  let apis: Api[];
  let offset = 0;

  beforeAll(async () => {
    database = await freshDatabase(kind);
    const options = { database: database.database, sweep_every_ms: 0, clock_offset_ms: () => offset };
    stores = [await Store.open(options), await Store.open(options)];
    apis = stores.map((store) => store.api(CALLER));
  });
  afterAll(async () => {
    for (const store of stores) await store.close();
    expect(await illnesses(database.database)).toEqual([]);
    await database.drop();
  });

  it('MSG-19 hand each message to one reader, and keep the order of each sender', async () => {
    const readers = ['r1', 'r2', 'r3', 'r4'];
    await register(stores[0]!, TENANT, 'reviewer', ...readers);
    const [SENDERS, EACH] = [['s1', 's2', 's3', 's4', 's5', 's6'], 15];
    const handed: { reader: string; payload: string; sender: string; seq: number }[] = [];
    const begun = new Set<string>();
    const broken: string[] = [];
    let left = SENDERS.length * EACH;
    const read = async (reader: string, cairn: Api) => {
      while (left > 0) {
        const { messages } = await cairn.messages.receive({ agent_id: reader, limit: 2, wait_ms: 100 });
        for (const { payload, from_agent_id, seq, delivery } of messages) {
          const sender = from_agent_id!;
          if (delivery.attempt !== 1) broken.push(`${payload} came again`);
          // An earlier one of the sender was either acknowledged before, or this reader has it.
          for (const one of handed)
            if (one.sender === sender && one.seq > seq) broken.push(`${payload} came behind ${one.payload}`);
            else if (one.sender === sender && one.reader !== reader && !begun.has(one.payload))
              broken.push(`${payload} came while ${one.reader} had ${one.payload}`);
          handed.push({ reader, payload, sender, seq });
        }
        // Time enough for the others to have something as well.
        if (messages.length > 0) await sleep(5);
        for (const { message_id, payload } of messages) {
          begun.add(payload);
          await cairn.messages.acknowledge({ message_id, agent_id: reader });
          left--;
        }
      }
    };
    const sendAll = async (from_agent_id: string, i: number) => {
      for (let n = 0; n < EACH; n++)
        await apis[(n + i) % 2]!.messages.send({
          from_agent_id,
          to_agent_type: 'reviewer',
          message_type: 'note',
          payload: `${from_agent_id}/${n}`,
        });
    };
    const work = [...SENDERS.map(sendAll), ...readers.map((reader, i) => read(reader, apis[i % 2]!))];
    await within(60_000, Promise.all(work), 'all messages to be acknowledged');
    expect(broken).toEqual([]);
    expect(handed.length).toBe(SENDERS.length * EACH);
    expect(new Set(handed.map(({ payload }) => payload)).size).toBe(SENDERS.length * EACH);
    expect(new Set(handed.map(({ reader }) => reader)).size).toBeGreaterThan(1);
  });

  it('MSG-20 lose nothing with a reader that is killed', async () => {
    const sent = Array.from({ length: 40 }, (_, n) => `m${String(n).padStart(2, '0')}`);
    for (const payload of sent) await apis[0]!.messages.send(note('bob', payload));
    const holder = new Reader(database.database, 'bob', 'hold');
    await holder.until((told) => 'handed' in told);
    await holder.kill();
    const acknowledged: string[] = [];
    for (let round = 0; round < 2; round++) {
      const reader = new Reader(database.database, 'bob', 'read');
      await reader.until((told) => 'acknowledged' in told);
      await sleep(Math.random() * 20);
      await reader.kill();
      acknowledged.push(...reader.acknowledged);
    }
    for (;;) {
      const { messages } = await apis[1]!.messages.receive({ agent_id: 'bob', limit: 100, wait_ms: 1000 });
      if (messages.length === 0) break;
      for (const { message_id, payload } of messages) {
        await apis[1]!.messages.acknowledge({ message_id });
        acknowledged.push(payload);
      }
    }
    expect(new Set(acknowledged).size).toBe(acknowledged.length);
    // The last word of a reader that was killed may be missing, but not what it did.
    const { total } = await apis[0]!.messages.list({ to_agent: 'bob', unacknowledged: true });
    expect(total).toBe(0);
    const { packets } = await apis[0]!.packets.list({ packet_type: 'cairn.message.acknowledged', limit: 500 });
    const told = packets.filter(({ payload }) => payload!.agent_id === 'bob');
    expect(told.length).toBe(sent.length);
    expect(sent.length - acknowledged.length).toBeLessThanOrEqual(2);
  });

  it('MSG-21 come again at once when their agent went offline, and their leases end behind them', async () => {
    const call = await callOn(stores[0]!.driver);
    await apis[0]!.messages.send(note('cid', '1'));
    const take = async (reader_id: string, wait_ms = 0) =>
      payloads((await apis[1]!.messages.receive({ agent_id: 'cid', reader_id, wait_ms })).messages);
    expect(await take('first')).toEqual(['1']);
    expect(await take('second')).toEqual([]);
    const waiting = take('second', 20_000);
    await sleep(50);
    await stores[0]!.driver.write(TENANT, (tx) => releaseDeliveriesOf({ call, tx, now: call.driver.now() }, 'ci'));
    await stores[0]!.driver.write(TENANT, (tx) => releaseDeliveriesOf({ call, tx, now: call.driver.now() }, 'cid'));
    expect(await within(10_000, waiting, 'the message to come again')).toEqual(['1']);

    offset += 30_001;
    const { driver } = stores[0]!;
    const [over] = await dueLeases(driver.at(TENANT), driver.now(), 1);
    expect(await take('third')).toEqual(['1']);
    // Who noticed the end of the lease comes too late to act on it: the message has another by now.
    await driver.write(TENANT, (tx) => expiries.get('message')({ call, tx, now: driver.now() }, over!));
    expect(await take('fourth')).toEqual([]);
    offset += 30_001;
    await expireDue(call);
    expect(await nextDue(stores[0]!.driver.at(TENANT))).toBeUndefined();
    expect(await take('fourth')).toEqual(['1']);
  });

  it('MSG-22 end with their trajectory, also those that are sent while it is deleted', async () => {
    for (let round = 0; round < 5; round++) {
      const { trajectory_id } = await apis[0]!.trajectories.create({ name: 'task' });
      const sending = Array.from({ length: 8 }, async (_, n) => {
        await sleep(n % 3);
        return apis[n % 2]!.messages.send({ ...note('dora', `${round}/${n}`), trajectory_id });
      });
      const deleting = sleep(round).then(() => apis[1]!.trajectories.delete({ trajectory_id }));
      const settled = await within(30_000, Promise.allSettled(sending), 'the senders');
      await deleting;
      const codes = settled.flatMap((one) =>
        one.status === 'rejected' ? [(one.reason as { code?: string }).code] : [],
      );
      expect(codes.filter((code) => code !== 'UNKNOWN_ENTITY')).toEqual([]);
    }
    expect(await apis[0]!.messages.list({ to_agent: 'dora' })).toMatchObject({ messages: [], total: 0 });
    expect(await apis[0]!.messages.receive({ agent_id: 'dora' })).toEqual({ messages: [] });
  });
});

describe.runIf(targetNames().includes('sqlite'))('the bytes of a SQLite file', () => {
  it('MSG-23 hold nothing of a message that has expired or ended with its trajectory', async () => {
    const { database, drop } = await freshDatabase('sqlite');
    let offset = 0;
    const store = await Store.open({ database, sweep_every_ms: 0, clock_offset_ms: () => offset });
    const api = store.api(CALLER);
    const { trajectory_id } = await api.trajectories.create({ name: 'task' });
    const words = Array.from({ length: 4 }, () => `mark${randomBytes(9).toString('hex')}`);
    const found = () => {
      const files = [database, `${database}-wal`].filter((file) => existsSync(file));
      const bytes = files.map((file) => readFileSync(file));
      return words.filter((word) => bytes.some((one) => one.includes(word)));
    };
    const expires_at = new Date(store.driver.now() + 60_000).toISOString();
    const send = (word: string, type: string, more: object) =>
      api.messages.send({ ...note('bob', `${word} ${'.'.repeat(9000)} ${word}`), message_type: type, ...more });
    await send(words[0]!, words[1]!, { expires_at });
    await send(words[2]!, words[3]!, { trajectory_id });
    expect(found()).toEqual(words);
    await api.trajectories.delete({ trajectory_id, wait: true });
    expect(found()).toEqual(words.slice(0, 2));
    offset += 60_001;
    await api.lifetime.sweep();
    expect(found()).toEqual([]);
    await store.close();
    expect(await illnesses(database)).toEqual([]);
    await drop();
  });
});
