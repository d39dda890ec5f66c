// Cards, a box, a fork and a seal, in process: `node examples/first-memory.mjs`. Needs no server.
// #region first-memory
import { openCairn } from 'cairndb';

const cairn = await openCairn({ database: './memory.db' });

// A card is a fact: it never changes.
const question = await cairn.cards.add({
  content: 'Which pipe material resists chlorine?',
  metadata: { type: 'task.instruction', role: 'user' },
});
const answer = await cairn.cards.add({ content: 'HDPE does.', metadata: { role: 'assistant' } });

// A box is an ordered list of cards. It only grows.
const box = await cairn.boxes.create({ card_ids: [question.card_id] });
await cairn.boxes.append({ box_id: box.box_id, card_ids: [answer.card_id] });

// Seal it: this is what the agent saw, and it stays so.
const sealed = await cairn.boxes.seal({ box_id: box.box_id });
console.log('sealed at revision', sealed.revision, 'with', sealed.length, 'cards');

// A fork goes on from there without copying a card.
const fork = await cairn.boxes.fork({ box_id: box.box_id });
const doubt = await cairn.cards.add({ content: 'Above 60 °C, too?', metadata: { role: 'user' } });
await cairn.boxes.append({ box_id: fork.box_id, card_ids: [doubt.card_id] });

const { cards } = await cairn.boxes.cards({ box_id: fork.box_id });
for (const card of cards) console.log(`${card.metadata.role}: ${card.content}`);

await cairn.close();
// #endregion
