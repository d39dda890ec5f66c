/** A receipt, and a card that may be forgotten: nothing else of a world needs it. */
import type { Api, Planted } from '../contract.js';

export async function plantErasure(cairn: Api, secret: string): Promise<Planted> {
  const forgotten = await cairn.cards.add({ content: { said: secret } });
  const { erasure_id } = await cairn.memory.forget({ ids: [forgotten.card_id] });
  const spare = await cairn.cards.add({ content: { said: secret } });
  return { erasure_id, 'memory.forget': { ids: [spare.card_id] } };
}
