// Cards, a box, a seal and a fork, in process: `npx tsx examples/first-memory.ts`. Needs no server.
// #region first-memory
import { openCairn } from 'cairndb';

const cairn = await openCairn({ database: './memory.db' });

// A card is a fact: it never changes.
const question = await cairn.cards.add({
  content: 'Which pipe material resists chlorine?',
  metadata: { type: 'task.instruction', role: 'user' },
});
const answer = await cairn.cards.add({ content: 'HDPE does.', metadata: { role: 'assistant' } });

// A box is an ordered list of cards.
const box = await cairn.boxes.create({ card_ids: [question.card_id] });
await cairn.boxes.append({ box_id: box.box_id, card_ids: [answer.card_id] });

// Sealed, it is a record of what the agent saw: it cannot change any more.
const sealed = await cairn.boxes.seal({ box_id: box.box_id });
console.log('sealed at revision', sealed.revision, 'with', sealed.length, 'cards');

// A fork continues from there without copying a card.
const fork = await cairn.boxes.fork({ box_id: box.box_id });
const doubt = await cairn.cards.add({ content: 'Above 60 °C, too?', metadata: { role: 'user' } });
await cairn.boxes.append({ box_id: fork.box_id, card_ids: [doubt.card_id] });

const { cards } = await cairn.boxes.cards({ box_id: fork.box_id });
for (const card of cards) console.log(`${card.metadata.role}: ${card.content}`);

await cairn.close();
// #endregion
