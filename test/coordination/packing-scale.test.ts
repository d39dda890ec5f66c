/** How many statements packing takes, counted by a driver that is wrapped: it must not depend on how many cards there are. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openDriver, Store } from '#cairn/api/index.js';
import type { Api } from '#cairn/client/index.js';
import { FaultyDriver, noFault } from '../support/stand-ins/faulty-driver.js';
import { freshDatabase, targetNames } from '../support/targets.js';

const kinds = (['sqlite', 'postgres'] as const).filter((kind) => targetNames().includes(kind));
const CARDS = 10_000;
const BOXES = 100;
const PER_BOX = CARDS / BOXES;

for (const kind of kinds) {
  describe(`packing at scale on ${kind}`, () => {
    const counter = noFault();
    let store: Store;
    let drop: () => Promise<void>;
    let cairn: Api;
    const ids = Array.from({ length: CARDS }, (_, i) => `card-${i}`);
    const api = (agent_id: string | null) => store.api({ tenant_id: 'default', agent_id, role: 'admin', key_id: null });

    beforeAll(async () => {
      const fresh = await freshDatabase(kind);
      drop = fresh.drop;
      const driver = await openDriver({ database: fresh.database });
      store = await Store.on(new FaultyDriver(driver, () => counter), { sweep_every_ms: 0 });
      cairn = api(null);
      await cairn.profiles.create({ name: 'researcher' });
      for (let from = 0; from < CARDS; from += 1000) {
        const cards = ids.slice(from, from + 1000).map((card_id) => ({ card_id, content: card_id }));
        await cairn.cards.add_batch({ cards, atomic: true });
      }
    });
    afterAll(async () => {
      await store.close();
      await drop();
    });

    /** Packs as an agent; gives the cards and how many statements it took. */
    const packed = async (input_box_ids: string[]) => {
      counter.seen = 0;
      const { attached_card_ids } = await cairn.pmo.pack_context({
        tool_suffix: 'test',
        source_agent_id: 'planner',
        arguments: { profile_name: 'researcher', instruction: 'do', input_box_ids },
        handover: 'instruction',
      });
      return { statements: counter.seen, inherited: attached_card_ids.slice(1, -1) };
    };

    it('PACK-17 ten cards and 10,000 of one box take the same few statements', async () => {
      await cairn.boxes.create({ box_id: 'small', card_ids: ids.slice(0, 10), agent_id: 'planner' });
      await cairn.boxes.create({ box_id: 'large', card_ids: ids, agent_id: 'planner' });
      const small = await packed(['small']);
      const large = await packed(['large']);
      expect(small.inherited).toEqual(ids.slice(0, 10));
      expect(large.inherited).toEqual(ids);
      expect(large.statements).toBe(small.statements);
      expect(large.statements).toBeLessThanOrEqual(15);
    });

    it('PACK-17 10,000 cards in 100 boxes that overlap and are granted take few statements as well', async () => {
      const box_ids: string[] = [];
      for (let i = 0; i < BOXES; i++) {
        const box_id = `part-${i}`;
        box_ids.push(box_id);
        // Each begins with the second half of the one before.
        const from = Math.max(0, i * PER_BOX - PER_BOX / 2);
        await cairn.boxes.create({ box_id, card_ids: ids.slice(from, (i + 1) * PER_BOX), agent_id: 'ann' });
        await store.ensureAgent('default', 'ann');
        await api('ann').boxes.grant({ box_id, agent_id: 'planner' });
      }
      const { statements, inherited } = await packed(box_ids);
      expect(inherited).toEqual(ids);
      expect(statements).toBeLessThanOrEqual(16);
    });
  });
}
