/** Faults inside a write: nothing is half written, and nobody who shares the commit suffers. */
import { describe, expect, it } from 'vitest';
import { Store, schema } from '#cairn/api/index.js';
import type { Api } from '#cairn/client/index.js';
import { type Driver, DriverError } from '#cairn/driver/driver.js';
import { openPostgres } from '#cairn/driver/postgres/driver.js';
import { sql } from '#cairn/driver/sql.js';
import { openSqlite } from '#cairn/driver/sqlite/driver.js';
import { LongReader } from '#cairn/driver/sqlite/long-reader.js';
import { packetJournal } from '#cairn/engine/index.js';
import { illnesses } from '../support/inspect/audit.js';
import { sleep } from '../support/server.js';
import { type Fault, FaultyDriver, faultyJournal, noFault } from '../support/stand-ins/faulty-driver.js';
import { freshDatabase, refusalOf, targetNames } from '../support/targets.js';

const kinds = (['sqlite', 'postgres'] as const).filter((kind) => targetNames().includes(kind));
const admin = { tenant_id: 'default', agent_id: null, role: 'admin', key_id: null } as const;

interface Opened {
  readonly database: string;
  readonly store: Store;
  readonly cairn: Api;
  /** Strikes the next write, and only that. */
  readonly inWrite: Fault;
  /** Strikes in the statements that number the events. */
  readonly inJournal: Fault;
  /** Resolves when the write that it strikes has come. */
  strikeNext(): Promise<void>;
  close(): Promise<void>;
}

async function open(kind: 'sqlite' | 'postgres'): Promise<Opened> {
  const { database, drop } = await freshDatabase(kind);
  const inWrite = noFault();
  const inJournal = noFault();
  const journal = faultyJournal(
    packetJournal(() => Date.now(), 8192),
    inJournal,
  );
  const real: Driver = await (kind === 'sqlite' ? openSqlite : openPostgres)(database, { journal, schema });
  let next: (() => void) | undefined;
  const driver = new FaultyDriver(real, () => {
    if (!next) return undefined;
    next();
    next = undefined;
    return inWrite;
  });
  const store = await Store.on(driver, { sweep_every_ms: 0 });
  return {
    database,
    store,
    cairn: store.api(admin),
    inWrite,
    inJournal,
    strikeNext: () =>
      new Promise((resolve) => {
        next = resolve;
      }),
    close: async () => {
      await store.close();
      expect(await illnesses(database)).toEqual([]);
      await drop();
    },
  };
}

/** All that a failed write could have changed; without its siblings, which were rightly written. */
async function stateOf(cairn: Api): Promise<unknown> {
  const { boxes } = await cairn.boxes.list({});
  const entries = await Promise.all(boxes.map(({ box_id }) => cairn.boxes.load({ box_id })));
  const { cards } = await cairn.cards.list({ limit: 500 });
  const siblings = new Set(cards.filter(({ content }) => content === 'sibling').map(({ card_id }) => card_id));
  const { packets } = await cairn.packets.list({ limit: 500 });
  return {
    entries,
    cards: cards.filter(({ card_id }) => !siblings.has(card_id)),
    packets: packets
      .filter((one) => one.packet_type !== 'sibling')
      .filter((one) => !siblings.has((one.payload?.entity as { id: string } | undefined)?.id ?? ''))
      .map(({ packet_id }) => packet_id),
  };
}

/** Writes of several statements each. */
function writesOn(cairn: Api, box_id: string, card_ids: string[]) {
  const key = () => ({ idempotency_key: `key-${Math.random()}` });
  return {
    append: () => cairn.boxes.append({ box_id, card_ids }),
    'append under a key': () => cairn.boxes.append({ box_id, card_ids }, key()),
    save: () => cairn.boxes.save({ box_id, card_ids: [...card_ids].reverse(), revision: 2 }),
    'save of a new box': () => cairn.boxes.save({ box_id: `new-${Math.random()}`, card_ids, revision: 0 }),
    'batch of cards': () =>
      cairn.cards.add_batch({
        atomic: true,
        cards: [
          { content: 1, subject_ids: ['s'] },
          { content: 2, derived_from: [card_ids[0]!] },
        ],
      }),
    'batch of packets': () =>
      cairn.packets.write_batch({
        packets: [1, 2, 3].map((n) => ({
          packet_id: crypto.randomUUID(),
          packet_type: 'p',
          payload: { n },
          tags: ['t'],
        })),
      }),
    seal: () => cairn.boxes.seal({ box_id }),
  };
}

describe.each(kinds)('a snapshot on %s', (kind) => {
  it('TX-9 keeps its moment, and a read beside it sees what was acknowledged before the read began', async () => {
    const test = await open(kind);
    const { driver } = test.store;
    const count = sql`SELECT COUNT(*) AS cards FROM cards WHERE tenant_id = 'default'`;
    let opened = () => {};
    const isOpen = new Promise<void>((resolve) => (opened = resolve));
    let end = () => {};
    const mayEnd = new Promise<void>((resolve) => (end = resolve));
    const snapshot = driver.snapshot('default', async (query) => {
      const before = await query.all(count);
      opened();
      await mayEnd;
      return [before, await query.all(count)];
    });
    await isOpen;
    await test.cairn.cards.add({ card_id: 'new', content: 'x' });
    const beside = [driver.at('default').all(count), test.cairn.cards.get({ card_id: 'new' })];
    // A read that does not wait has its answer by then.
    await sleep(50);
    end();
    expect(await Promise.all(beside)).toEqual([[{ cards: 1 }], expect.objectContaining({ content: 'x' })]);
    expect(await snapshot).toEqual([[{ cards: 0 }], [{ cards: 0 }]]);
    await test.close();
  });
});

describe.each(kinds)('a statement that fails on %s', (kind) => {
  it.each([
    { among: false, when: 'after' },
    { among: true, when: 'before' },
  ] as const)(
    'leaves nothing half written, whichever statement it is (in a group: $among, $when it ran)',
    async ({ among, when }) => {
      const opened = await open(kind);
      const { cairn, inWrite } = opened;
      const cards = await Promise.all([1, 2, 3].map((n) => cairn.cards.add({ content: n })));
      const card_ids = cards.map(({ card_id }) => card_id);
      const { box_id } = await cairn.boxes.create({ card_ids: [card_ids[0]!] });
      let struck = 0;
      for (const [name, write] of Object.entries(writesOn(cairn, box_id, card_ids))) {
        for (let at = 1; ; at++) {
          const before = await stateOf(cairn);
          // In a group it strikes again, since a group with a failure is run a second time, in savepoints.
          Object.assign(inWrite, noFault(), { at, when, again: among });
          // Siblings before and behind share its commit.
          const first = among ? cairn.packets.write({ packet_type: 'sibling', payload: {} }) : undefined;
          const taken = opened.strikeNext();
          const hit = write().then(
            () => undefined,
            (error: Error) => error,
          );
          // Some are measured first, and give way to others meanwhile.
          await taken;
          const last = among ? cairn.cards.add({ content: 'sibling' }) : undefined;
          const failure = await hit;
          const packet = await first;
          const card = await last;
          if (!failure) {
            expect(inWrite.seen, `${name} has several statements`).toBeGreaterThan(1);
            break;
          }
          struck++;
          expect(failure.message, name).toBe('injected');
          expect(await stateOf(cairn), `${name}, statement ${at}`).toEqual(before);
          if (packet) await cairn.packets.get({ packet_id: packet.packet_id });
          if (card) await cairn.cards.get({ card_id: card.card_id });
        }
      }
      expect(struck).toBeGreaterThan(25);
      await opened.close();
    },
  );

  it('is tried again when that can help: a conflict or a lost connection once, and the write is done once', async () => {
    const opened = await open(kind);
    const { cairn, inWrite } = opened;
    const { card_id } = await cairn.cards.add({ content: 'x' });
    for (const kindOfError of ['conflict', 'connection'] as const) {
      const { box_id } = await cairn.boxes.create({});
      Object.assign(inWrite, noFault(), { at: 3, error: () => new DriverError(kindOfError, 'injected') });
      opened.strikeNext();
      const [answer] = await Promise.all([
        cairn.boxes.append({ box_id, card_ids: [card_id] }),
        cairn.packets.write({ packet_type: 'sibling', payload: {} }),
      ]);
      expect(answer).toMatchObject({ appended: [card_id], revision: 2 });
      expect(inWrite.seen).toBeGreaterThan(3);
    }
    const { total } = await cairn.packets.list({ packet_type: 'cairn.box.appended' });
    expect(total).toBe(2);
    await opened.close();
  });

  it('is told by a stable code when it fails for good', async () => {
    const opened = await open(kind);
    const { cairn, inWrite } = opened;
    const codes = { full: 'STORAGE_FULL', failed: 'STORAGE_FAILED', busy: 'OVERLOADED' } as const;
    for (const [kindOfError, code] of Object.entries(codes)) {
      const error = () => new DriverError(kindOfError as keyof typeof codes, 'injected');
      Object.assign(inWrite, noFault(), { at: 1, again: true, error });
      opened.strikeNext();
      const [refusal] = await Promise.all([
        refusalOf(cairn.cards.add({ card_id: 'never', content: 1 })),
        cairn.packets.write({ packet_type: 'sibling', payload: {} }),
      ]);
      expect(refusal).toMatchObject({ code });
      expect(await refusalOf(cairn.cards.get({ card_id: 'never' }))).toMatchObject({ code: 'CARD_NOT_FOUND' });
    }
    expect((await cairn.packets.list({ packet_type: 'sibling' })).total).toBe(3);
    await opened.close();
  });

  it('in the journal fails every write of the group, or is survived by running them one by one', async () => {
    const opened = await open(kind);
    const { cairn, inJournal } = opened;
    const add = (n: number) => cairn.cards.add({ card_id: `card-${n}`, content: n, subject_ids: ['s'] });
    for (const at of [1, 2]) {
      // Once: the group is run again, write by write.
      Object.assign(inJournal, noFault(), { at });
      const base = at * 100;
      await Promise.all([1, 2, 3].map((n) => add(base + n)));
      // Every time: all of them fail, and nothing stays.
      Object.assign(inJournal, noFault(), { at, again: true });
      const before = await stateOf(cairn);
      for (const result of await Promise.allSettled([4, 5].map((n) => add(base + n))))
        expect(result).toMatchObject({ status: 'rejected', reason: { message: 'injected' } });
      Object.assign(inJournal, noFault());
      expect(await stateOf(cairn)).toEqual(before);
      expect((await add(base + 4)).content).toBe(base + 4);
    }
    await opened.close();
  });

  it('in the journal of a sweep leaves what it was about to erase', async () => {
    const opened = await open(kind);
    const { cairn, inJournal } = opened;
    const soon = new Date(Date.now() + 300).toISOString();
    await cairn.cards.add({ content: 1, subject_ids: ['s'], expires_at: soon });
    await cairn.packets.write({ packet_type: 'p', payload: {}, tags: ['t'], ttl: soon });
    await new Promise((resolve) => setTimeout(resolve, 400));
    const before = await cairn.lifetime.stats();
    expect([before.cards.expired, before.packets.expired]).toEqual([1, 1]);
    Object.assign(inJournal, noFault(), { at: 1, again: true });
    await expect(cairn.lifetime.sweep()).rejects.toThrow('injected');
    expect(await cairn.lifetime.stats()).toEqual(before);
    Object.assign(inJournal, noFault());
    expect(await cairn.lifetime.sweep()).toMatchObject({ cards_erased: 1, packets_erased: 1 });
    const { packets } = await cairn.packets.list({ packet_type: 'cairn.lifetime.swept', order: 'asc' });
    expect(packets.map(({ payload }) => [payload!.cards_erased, payload!.packets_erased])).toEqual([
      [1, 0],
      [0, 1],
    ]);
    await opened.close();
  });
});

describe.runIf(kinds.includes('sqlite'))('the thread of long reads', () => {
  const statement = (text: string) => ({ text, params: [] });
  const module = (run: string) => ({ module: `data:text/javascript,export const run = ${run}`, tenant: '', input: {} });

  it('SEARCH-19 refuses what comes when a thousand wait, and answers those', async () => {
    const { database, drop } = await freshDatabase('sqlite');
    const reader = new LongReader(database);
    const reads = Array.from({ length: 1005 }, () => reader.run(statement('SELECT 1 AS one')));
    const settled = await Promise.allSettled(reads);
    const refused = settled.filter((one) => one.status === 'rejected');
    expect(refused.map(({ reason }) => (reason as { code: string }).code)).toEqual(Array(5).fill('OVERLOADED'));
    expect(await reader.run(statement('SELECT 2 AS two'))).toEqual([{ two: 2 }]);
    await reader.close();
    await drop();
  });

  it('SEARCH-19 is another after one that failed, whose end takes nothing from it', async () => {
    const { database, drop } = await freshDatabase('sqlite');
    const reader = new LongReader(database);
    const dies = module('() => new Promise(() => setImmediate(() => { throw new Error("gone") }))');
    const answer = await reader.run(dies).catch(() => reader.run(module('async () => "there"')));
    expect(answer).toBe('there');
    await reader.close();
    await drop();
  });

  it('LIB-3 is not started for one read at a time of a small file', async () => {
    const { database, drop } = await freshDatabase('sqlite');
    const store = await Store.open({ database, sweep_every_ms: 0 });
    const { driver } = store;
    const where = new URL(`data:text/javascript,import { isMainThread } from 'node:worker_threads';
      export const run = async () => isMainThread;`);
    const onEventLoop = () => driver.away<boolean>('default', where, {});
    expect(await onEventLoop()).toBe(true);
    expect(await driver.long('default', sql`SELECT 1 AS one`)).toEqual([{ one: 1 }]);
    expect(await Promise.all([onEventLoop(), onEventLoop()])).toEqual([true, false]);
    const text = 'x'.repeat(500_000);
    const cairn = store.api(admin);
    for (let i = 0; i < 10; i++) await cairn.cards.add({ content: `${i} ${text}`, metadata: { role: 'user' } });
    expect(await onEventLoop()).toBe(false);
    await store.close();
    await drop();
  });
});
