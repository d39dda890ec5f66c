/** What has a time is there up to the millisecond before it, and over at exactly that one. The clock stands still here. */
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { openDriver, Store } from '#cairn/api/index.js';
import { type Api, connectCairn } from '#cairn/client/index.js';
import { createServer } from '#cairn/http/index.js';
import { atWork, PROFILE, thought, wordsIn } from '../support/nouns/agent-turns.js';
import { StoppedClockDriver } from '../support/stand-ins/faulty-driver.js';
import { freshDatabase, targetNames } from '../support/targets.js';

const MINUTE = 60_000;

describe.each(targetNames())('at the moment itself, on %s', (target) => {
  let clock: StoppedClockDriver;
  let cairn: Api;
  let close: () => Promise<void>;

  beforeEach(async () => {
    const { database, drop } = await freshDatabase(target === 'postgres' ? 'postgres' : 'sqlite');
    clock = new StoppedClockDriver(await openDriver({ database }));
    const store = await Store.on(clock, { sweep_every_ms: 0, count_every_ms: 0 });
    const server = target === 'http' ? createServer(store, { version: 'test' }) : undefined;
    const client =
      server && connectCairn({ url: `http://127.0.0.1:${await server.listen({ host: '127.0.0.1', port: 0 })}` });
    cairn = client ?? store.api({ tenant_id: 'default', agent_id: null, role: 'admin', key_id: null });
    close = async () => {
      await client?.close();
      await server?.close();
      await store.close();
      await drop();
    };
  });
  afterEach(() => close());

  const iso = (ms: number): string => new Date(ms).toISOString();
  /** Looks a millisecond before a moment, and at it. */
  const beforeAndAt = async <T>(moment: number, look: () => Promise<T>): Promise<[before: T, at: T]> => {
    clock.moment = moment - 1;
    const before = await look();
    clock.moment = moment;
    return [before, await look()];
  };
  const codeOf = (call: Promise<unknown>): Promise<string> =>
    call.then(
      () => 'ok',
      (error: { code?: string }) => error.code ?? String(error),
    );

  it('LIFE-2 LIFE-4 a card is gone from every read at its expires_at, and swept then', async () => {
    const end = clock.moment + MINUTE;
    await cairn.cards.add({ card_id: 'c', content: 'ending words', subject_ids: ['s'], expires_at: iso(end) });
    await cairn.cards.add({ card_id: 'stays', content: 'x' });
    await cairn.boxes.create({ box_id: 'b', card_ids: ['c', 'stays'] });
    const [before, at] = await beforeAndAt(end, async () => [
      await codeOf(cairn.cards.get({ card_id: 'c' })),
      (await cairn.cards.list({})).total,
      (await cairn.cards.list({ subject_id: 's' })).cards.length,
      (await cairn.cards.get_batch({ card_ids: ['c'] })).missing_ids.length,
      (await cairn.boxes.cards({ box_id: 'b' })).cards.length,
      (await cairn.boxes.load_batch({ box_ids: ['b'], hydrate: true })).boxes[0]!.cards!.length,
      (await cairn.search.query({ query: 'ending words' })).results.length,
      (await cairn.lifetime.stats({})).cards.expired,
      (await cairn.lifetime.sweep()).cards_erased,
    ]);
    expect(before).toEqual(['ok', 2, 1, 0, 2, 2, 1, 0, 0]);
    expect(at).toEqual(['CONTENT_ERASED', 1, 0, 1, 1, 1, 0, 1, 1]);
  });

  it('LIFE-1 a moment that is now is not in the future, and the next millisecond is', async () => {
    for (const [late, code] of [
      [0, 'INVALID_INPUT'],
      [1, 'ok'],
    ] as const) {
      const at = iso(clock.moment + late);
      expect(await codeOf(cairn.cards.add({ content: 'x', expires_at: at }))).toBe(code);
      expect(await codeOf(cairn.packets.write({ packet_type: 'p', payload: {}, ttl: at }))).toBe(code);
      const message = { to_agent_id: 'bob', message_type: 'note', payload: 'x', expires_at: at };
      expect(await codeOf(cairn.messages.send(message))).toBe(code);
    }
  });

  it('LIFE-3 a packet loses its content at its ttl, and keeps its place', async () => {
    const end = clock.moment + MINUTE;
    const { packet_id } = await cairn.packets.write({
      packet_type: 'p',
      payload: { said: 'ending words' },
      tags: ['t'],
      ttl: iso(end),
    });
    const [before, at] = await beforeAndAt(end, async () => [
      await codeOf(cairn.packets.get({ packet_id })),
      await codeOf(cairn.packets.original({ packet_id })),
      (await cairn.packets.list({ tag: 't' })).total,
      (await cairn.search.query({ query: 'ending words' })).results.length,
      (await cairn.lifetime.sweep()).packets_erased,
    ]);
    expect(before).toEqual(['ok', 'ok', 1, 1, 0]);
    expect(at).toEqual(['CONTENT_ERASED', 'CONTENT_ERASED', 0, 0, 1]);
    expect((await cairn.packets.lineage({ packet_id })).packets).toEqual([]);
  });

  it('LIFE-2 an artifact and a note are gone at the end of their ttl', async () => {
    const end = clock.moment + MINUTE;
    const { trajectory_id } = await cairn.trajectories.create({ name: 'task' });
    const { scope_id } = await cairn.scopes.create({ trajectory_id, name: 'window' });
    const ttl = { Duration: MINUTE };
    const { artifact_id } = await cairn.artifacts.create({
      trajectory_id,
      artifact_type: 'Fact',
      name: 'a',
      content: 'ending words',
      ttl,
    });
    const { note_id } = await cairn.notes.create({
      note_type: 'Fact',
      title: 'n',
      content: 'words that end',
      source_trajectory_ids: [trajectory_id],
      ttl,
    });
    const [before, at] = await beforeAndAt(end, async () => [
      await codeOf(cairn.artifacts.get({ artifact_id })),
      await codeOf(cairn.notes.get({ note_id })),
      (await cairn.artifacts.list({})).total,
      (await cairn.notes.list({})).total,
      (await cairn.search.query({ query: 'words' })).results.length,
      (await cairn.context.assemble({ scope_id, query: 'words' })).trace.filter(({ id }) =>
        [artifact_id, note_id].includes(id),
      ).length,
    ]);
    expect(before).toEqual(['ok', 'ok', 1, 1, 2, 2]);
    expect(at).toEqual(['CONTENT_ERASED', 'CONTENT_ERASED', 0, 0, 0, 0]);
    expect(await cairn.lifetime.sweep()).toMatchObject({ cards_erased: 2, memories_erased: 2 });
  });

  it('MSG-7 MSG-17 a message comes again when its lease is over, and is gone at its expires_at', async () => {
    const end = clock.moment + 10 * MINUTE;
    const { message_id } = await cairn.messages.send({
      to_agent_id: 'bob',
      message_type: 'note',
      payload: 'x',
      expires_at: iso(end),
    });
    const take = async (lease_ms: number) =>
      (await cairn.messages.receive({ agent_id: 'bob', reader_id: String(lease_ms), lease_ms })).messages.length;
    expect(await take(MINUTE)).toBe(1);
    expect(await beforeAndAt(clock.moment + MINUTE, () => take(1000))).toEqual([0, 1]);
    const [before, at] = await beforeAndAt(end, async () => [
      await take(2000),
      await codeOf(cairn.messages.get({ message_id })),
      (await cairn.messages.list({ to_agent: 'bob' })).total,
      (await cairn.lifetime.sweep()).messages_erased,
    ]);
    expect(before).toEqual([1, 'ok', 1, 0]);
    expect(at).toEqual([0, 'MESSAGE_NOT_FOUND', 0, 1]);
  });

  it('ATURN-23 a card of an output box is shown up to its expires_at, and one of the context beyond it', async () => {
    const end = clock.moment + MINUTE;
    await cairn.profiles.create({ name: PROFILE });
    const given = { card_id: 'given', content: 'given', metadata: { role: 'user' }, expires_at: iso(end) };
    await cairn.cards.add_batch({ cards: [given] });
    await cairn.boxes.create({ box_id: 'x', card_ids: ['given'] });
    const { turn, held } = await atWork(cairn, { context_box_id: 'x' });
    await cairn.agent_turns.renew({ ...held, lease_ms: 60 * MINUTE });
    await cairn.agent_turns.append({ ...held, cards: [thought('brief', { expires_at: iso(end) })] });
    const shown = async () => [
      (await wordsIn(cairn, turn.output_box_id)).includes('brief'),
      ...['given', 'brief'].map(async (word) =>
        JSON.stringify((await cairn.agent_turns.hydrate(held)).messages).includes(word),
      ),
    ];
    const [before, at] = await beforeAndAt(end, async () => Promise.all(await shown()));
    expect(before).toEqual([true, true, true]);
    expect(at).toEqual([false, true, false]);
  });

  it('ATURN-9 an agent_turn is no longer held at the end of its lease', async () => {
    await cairn.profiles.create({ name: PROFILE });
    const { turn, held } = await atWork(cairn);
    const end = Date.parse(turn.lease_expires_at!);
    const [before, at] = await beforeAndAt(end, () =>
      codeOf(cairn.agent_turns.append({ ...held, cards: [thought('x')] })),
    );
    expect([before, at]).toEqual(['ok', 'STALE_TURN']);
  });

  it('LOCK-5 a lock is over at the end of its lease', async () => {
    const asked = { resource_type: 'file', resource_id: 'f', lease_ms: MINUTE };
    const { lock_id } = await cairn.locks.acquire({ ...asked, holder_agent_id: 'ann' });
    const [before, at] = await beforeAndAt(clock.moment + MINUTE, async () => [
      (await cairn.locks.get({ lock_id })).state,
      await codeOf(cairn.locks.acquire({ ...asked, holder_agent_id: 'bob' })),
    ]);
    expect([before, at]).toEqual([
      ['held', 'LOCK_CONFLICT'],
      ['expired', 'ok'],
    ]);
  });

  it('IDEM-3 a key counts up to the millisecond before its 24 hours are over', async () => {
    const key = { idempotency_key: 'k' };
    const write = async () => (await cairn.packets.write({ packet_type: 'p', payload: {} }, key)).packet_id;
    const first = await write();
    const [before, at] = await beforeAndAt(clock.moment + 24 * 60 * MINUTE, write);
    expect(before).toBe(first);
    expect(at).not.toBe(first);
  });
});
