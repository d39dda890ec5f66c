// The same Api over HTTP: `npm start` in one terminal, `npx tsx examples/over-http.ts` in another.
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

// Repeating the call with the same idempotency key returns the same card.
const again = await cairn.cards.add(
  { content: 'The user prefers metric units', subject_ids: ['user-7'] },
  { idempotency_key: 'units-of-user-7' },
);
console.log('the same card again:', again.card_id === card.card_id);

// An error has a code that a program can act on.
try {
  await cairn.cards.get({ card_id: 'no-such-card' });
} catch (error) {
  if (error instanceof Error && 'code' in error) console.log('error:', error.code);
}

await cairn.close();
