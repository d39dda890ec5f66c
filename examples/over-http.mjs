// The same Api through a server: `npm start` in one terminal, `node examples/over-http.mjs` in another.
// #region over-http
import { connectCairn } from 'cairndb/client';

const cairn = connectCairn({
  url: process.env.CAIRN_URL ?? 'http://127.0.0.1:8080',
  key: process.env.CAIRN_KEY, // needed once the store has keys
});

const card = await cairn.cards.add(
  { content: 'The user prefers metric units', subject_ids: ['user-7'] },
  { idempotency_key: 'units-of-user-7' }, // safe to repeat for 24 hours
);
const about = await cairn.cards.list({ subject_id: 'user-7' });
console.log(about.total, 'card about user-7:', about.cards[0]?.content);
// #endregion

// The key makes a repetition give the same card, not another one.
const again = await cairn.cards.add(
  { content: 'The user prefers metric units', subject_ids: ['user-7'] },
  { idempotency_key: 'units-of-user-7' },
);
console.log('the same card again:', again.card_id === card.card_id);

// What is refused has a code that a program can act on.
try {
  await cairn.cards.get({ card_id: 'no-such-card' });
} catch (error) {
  if (error instanceof Error && 'code' in error) console.log('refused:', error.code);
}

await cairn.close();
