/** The connection to PostgreSQL is lost exactly at COMMIT: what was written is learned, never guessed. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Cairn, openCairn } from '#cairn/cairndb.js';
import type { JournalEntry } from '#cairn/driver/driver.js';
import { packetJournal } from '#cairn/engine/index.js';
import { audit, illnesses, survey } from '../support/inspect/audit.js';
import { Ledger } from '../support/inspect/load.js';
import { sleep, within } from '../support/server.js';
import { type Cut, PostgresProxy } from '../support/stand-ins/postgres-proxy.js';
import { freshDatabase, openTarget, refusalOf, targetNames } from '../support/targets.js';

const ROUNDS = 5;

describe.runIf(targetNames().includes('postgres'))('a connection lost at COMMIT', () => {
  let real: { database: string; drop(): Promise<void> };
  let proxy: PostgresProxy;
  let cairn: Cairn;
  const ledger = new Ledger();

  beforeAll(async () => {
    real = await freshDatabase('postgres');
    proxy = await PostgresProxy.before(real.database);
    cairn = await openCairn({ database: proxy.url, sweep_every_ms: 0 });
    await cairn.boxes.create({ box_id: 'box' });
  });

  afterAll(async () => {
    await cairn.close();
    await proxy.close();
    expect(audit(await survey(real.database), ledger)).toEqual([]);
    expect(await illnesses(real.database)).toEqual([]);
    await real.drop();
  });

  /** A card, its append and a packet, by ids that the store makes: doubled, they would show. */
  async function write(mark: string): Promise<void> {
    const card = await ledger.ask(`${mark}/card`, 'card', () => cairn.cards.add({ content: { mark: `${mark}/card` } }));
    const card_ids = [card!.card_id];
    await ledger.ask(card_ids[0]!, 'append', () => cairn.boxes.append({ box_id: 'box', card_ids }), 'box');
    await ledger.ask(`${mark}/packet`, 'packet', () =>
      cairn.packets.write({ packet_type: 'load', payload: { mark: `${mark}/packet` } }),
    );
  }

  it.each<Cut>(['before', 'forwarded', 'answered', 'delayed'])(
    'cut %s: the write succeeds, exactly once, alone and in a group',
    async (cut) => {
      const before = proxy.cuts;
      for (let round = 0; round < ROUNDS; round++) {
        proxy.arm(cut);
        await within(30_000, write(`${cut}/${round}`), 'the write');
        proxy.arm(cut);
        // Some wait in the queue while the group before them is cut and looked up.
        const many = Array.from({ length: 20 }, async (_, i) => {
          await sleep(i % 4);
          await write(`${cut}/${round}/${i}`);
        });
        await within(30_000, Promise.all(many), 'the group');
      }
      expect(proxy.cuts - before).toBe(2 * ROUNDS);
      expect([...ledger.refusals]).toEqual([]);
    },
  );

  it('a refusal in a group that is cut stays a refusal, and its siblings are written', async () => {
    proxy.arm('forwarded');
    const mark = 'sibling';
    const [refusal] = await Promise.all([
      refusalOf(cairn.boxes.append({ box_id: 'box', card_ids: ['no such card'] })),
      ledger.ask(mark, 'packet', () => cairn.packets.write({ packet_type: 'load', payload: { mark } })),
    ]);
    expect(refusal.code).toBe('UNKNOWN_CARD');
    expect(ledger.steps.get(mark)).toMatchObject({ acknowledged: true });
  });

  it('when the outcome cannot be learned it is said so; the same key asked again is done once', async () => {
    const cut = proxy.cuts;
    proxy.onCut = () => {
      proxy.away = true;
    };
    proxy.arm('before');
    const packet = { packet_type: 'load', payload: { mark: 'unknown' } };
    const key = { idempotency_key: 'unknown' };
    const ask = () => cairn.packets.write(packet, key);
    expect(await within(60_000, refusalOf(ask()), 'the refusal')).toMatchObject({
      code: 'COMMIT_UNKNOWN',
      status: 503,
    });
    proxy.onCut = () => undefined;
    proxy.away = false;
    await ledger.ask('unknown', 'packet', ask);
    expect(await ask()).toMatchObject({ status: 'ok' });
    expect(proxy.cuts).toBe(cut + 1);
  });
});

describe.each(targetNames().filter((name) => name !== 'http'))('the look for a lost commit on %s', (target) => {
  it('finds it only when every packet is there as it was to be written', async () => {
    const opened = await openTarget(target);
    const { store, cairn } = opened;
    const journal = packetJournal(() => Date.now(), 8192);
    const written = await Promise.all(
      [1, 2].map(async (n) => {
        const { packet_id } = await cairn.packets.write({ packet_type: 'p', payload: { n } });
        const { content_hash } = await cairn.packets.get({ packet_id });
        return { packet_id, content_hash, format: null };
      }),
    );
    const landed = (entries: readonly JournalEntry[]) =>
      store.driver.write('default', (tx) => journal.landed(tx, entries));
    expect(await landed(written)).toBe(true);
    expect(await landed([...written, { packet_id: crypto.randomUUID() }])).toBe(false);
    // The id is there, but by another hand: a client sent it to another server meanwhile.
    const [first, second] = written as [(typeof written)[0], (typeof written)[0]];
    expect(await landed([{ ...first, content_hash: second.content_hash } as JournalEntry])).toBe(false);
    await opened.close();
  });
});
