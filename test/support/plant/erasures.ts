/** Receipts, and a card that may be forgotten: nothing else of a world needs it. */
import type { Api, Planted } from '../contract.js';

export async function plantErasure(cairn: Api, secret: string): Promise<Planted> {
  const add = async () => (await cairn.cards.add({ content: { said: secret } })).card_id;
  await cairn.memory.forget({ ids: [await add()] });
  const { erasure_id } = await cairn.memory.forget({ ids: [await add()] });
  return { erasure_id, 'memory.forget': { ids: [await add()] } };
}
