/** What another store commits between a look and the write that rests on it, at exactly that moment. */
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { openDriver, Store } from '#cairn/api/index.js';
import type { Api } from '#cairn/client/index.js';
import { illnesses } from '../support/inspect/audit.js';
import { sleep } from '../support/server.js';
import { InterleavingDriver } from '../support/stand-ins/faulty-driver.js';
import { freshDatabase, targetNames } from '../support/targets.js';

const kinds = (['sqlite', 'postgres'] as const).filter((kind) => targetNames().includes(kind));
const CALLER = { tenant_id: 'default', agent_id: null, role: 'admin', key_id: null } as const;
const MINUTE = 60_000;
const DAY = 24 * 60 * MINUTE;

describe.each(kinds)('between a look and the write, on %s', (kind) => {
  let database: { database: string; drop(): Promise<void> };
  let stores: Store[];
  let driver: InterleavingDriver;
  /** Whose looks are interrupted. */
  let one: Api;
  /** Who commits meanwhile. */
  let other: Api;
  /** By how much the clock of the first is ahead of the other's. */
  let ahead: number;

  beforeEach(async () => {
    ahead = 0;
    database = await freshDatabase(kind);
    driver = new InterleavingDriver(await openDriver({ database: database.database, clock_offset_ms: () => ahead }));
    stores = [
      await Store.on(driver, { sweep_every_ms: 0 }),
      await Store.open({ database: database.database, sweep_every_ms: 0 }),
    ];
    [one, other] = stores.map((store) => store.api(CALLER)) as [Api, Api];
  });
  afterEach(async () => {
    for (const store of stores) await store.close();
    expect(await illnesses(database.database)).toEqual([]);
    await database.drop();
  });

  it('LIFE-6 a sweep keeps a card that was sealed into a box since it looked', async () => {
    for (const card_id of ['kept', 'gone']) await other.cards.add({ card_id, content: card_id, ttl_seconds: 60 });
    await other.boxes.create({ box_id: 'x', card_ids: ['kept'] });
    ahead = 2 * MINUTE;
    driver.beforeWrite = () => other.boxes.seal({ box_id: 'x' });
    expect(await one.lifetime.sweep()).toMatchObject({ cards_erased: 1, cards_kept: 1 });
    expect(driver.beforeWrite).toBeUndefined();
    for (const cairn of [one, other])
      expect((await cairn.boxes.cards({ box_id: 'x' })).cards).toMatchObject([{ content: 'kept' }]);
  });

  it('LIFE-4 a sweep leaves what was given longer since it looked', async () => {
    const { trajectory_id } = await other.trajectories.create({ name: 'task' });
    const { artifact_id } = await other.artifacts.create({
      trajectory_id,
      artifact_type: 'Fact',
      name: 'fact',
      content: 'kept',
      ttl: 'ShortTerm',
    });
    ahead = 2 * DAY;
    driver.beforeWrite = () => other.artifacts.update({ artifact_id, ttl: 'Persistent' });
    expect(await one.lifetime.sweep()).toMatchObject({ cards_erased: 0 });
    expect(driver.beforeWrite).toBeUndefined();
    expect(await one.artifacts.get({ artifact_id })).toMatchObject({ content: 'kept' });
  });

  /** A scope in which somebody says this, to be extracted. */
  const saidIn = async (cairn: Api, content: string): Promise<string> => {
    const { trajectory_id } = await cairn.trajectories.create({ name: 'task' });
    const { scope_id } = await cairn.scopes.create({ trajectory_id, name: 'window' });
    await cairn.turns.add({ scope_id, role: 'User', content });
    return scope_id;
  };
  const PREFERS = 'I prefer tabs over spaces.';

  it('EXTRACT-2 a fact that another keeps after it was compared is strengthened, not kept twice', async () => {
    const [mine, theirs] = [await saidIn(one, PREFERS), await saidIn(other, PREFERS)];
    driver.beforeWrite = () => other.scopes.extract({ scope_id: theirs });
    const { strengthened } = await one.scopes.extract({ scope_id: mine });
    expect(driver.beforeWrite).toBeUndefined();
    expect(strengthened).toHaveLength(1);
    expect((await one.notes.list({})).notes).toMatchObject([{ version: 2, metadata: { times_seen: 2 } }]);
  });

  it.runIf(kind === 'postgres')(
    'EXTRACT-2 of two who keep the same fact at once, one waits for the other and strengthens it',
    async () => {
      const [mine, theirs] = [await saidIn(one, PREFERS), await saidIn(other, PREFERS)];
      let second: Promise<unknown> | undefined;
      driver.beforeStatement = {
        words: 'INSERT INTO memory_versions',
        run: async () => {
          second = other.scopes.extract({ scope_id: theirs });
          // Time enough for who does not wait to be done; who waits can only be waited for below.
          await Promise.race([second, sleep(1500)]);
        },
      };
      await one.scopes.extract({ scope_id: mine });
      expect(second).toBeDefined();
      await second;
      expect((await one.notes.list({})).notes).toMatchObject([{ version: 2, metadata: { times_seen: 2 } }]);
    },
  );

  // SQLite has one writer: nobody commits while a transaction of another looks.
  it.runIf(kind === 'postgres')(
    'MSG-11 a message that is acknowledged between look and take is not handed out',
    async () => {
      const send = async (payload: string) =>
        (await other.messages.send({ to_agent_id: 'bob', message_type: 'note', payload })).message_id;
      const first = await send('first');
      await send('second');
      const acknowledged = (message_id: string) => () => other.messages.acknowledge({ message_id });
      const words = 'UPDATE deliveries SET deliveries = deliveries + 1';
      driver.beforeStatement = { words, run: acknowledged(first) };
      const { messages } = await one.messages.receive({ agent_id: 'bob' });
      expect(driver.beforeStatement).toBeUndefined();
      expect(messages.map(({ payload }) => payload)).toEqual(['second']);
      await other.messages.acknowledge({ message_id: messages[0]!.message_id });

      // Where that was all, nothing was received, and nothing is remembered of it.
      const only = await send('only');
      const key = { idempotency_key: 'take' };
      driver.beforeStatement = { words, run: acknowledged(only) };
      expect(await one.messages.receive({ agent_id: 'bob' }, key)).toEqual({ messages: [] });
      await send('later');
      expect(await one.messages.receive({ agent_id: 'bob' }, key)).toMatchObject({
        messages: [{ payload: 'later', delivery: { attempt: 1 } }],
      });
    },
  );
});
