import { expect, it } from 'vitest';
import { onEveryTarget, refusalOf } from '../support/targets.js';

onEveryTarget('cards', (test) => {
  it('CARD-1 a card is read back as it was written', async () => {
    const cairn = await test().freshTenant();
    const added = await cairn.cards.add({
      content: { b: [1, 'ü', null], a: 1.5 },
      metadata: { type: 'note', role: 'Assistant' },
    });
    expect(added.metadata).toEqual({ type: 'note', role: 'assistant' });
    expect(await cairn.cards.get({ card_id: added.card_id })).toEqual(added);
  });

  it('CARD-2 the same card_id with the same body gives the card that is there; with another body it is refused', async () => {
    const cairn = await test().freshTenant();
    const first = await cairn.cards.add({ card_id: 'c', content: { a: 1, b: 2 } });
    expect(await cairn.cards.add({ card_id: 'c', content: { b: 2, a: 1 } })).toEqual(first);
    expect(await refusalOf(cairn.cards.add({ card_id: 'c', content: 'other' }))).toMatchObject({
      code: 'ENTITY_ALREADY_EXISTS',
      status: 409,
    });
  });
});
