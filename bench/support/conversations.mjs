// Conversations to search: sentences of words that are as frequent as in natural texts, by Zipf's law, in scopes of some
// trajectories. The words are letters alone, so that a full-text table and Cairn take the same words for words.

import { seeded, uuids } from './seeded.mjs';
import { openScopes } from './turns.mjs';

const WORDS = 6000;
const PER_SCOPE = 100;
const PER_CALL = 1000;
const PER_TRAJECTORY = 1000;

const CONSONANTS = 'bcdfghjklmnprstvwz';
const VOWELS = 'aeiou';

/** Different words of two to four syllables, made from their number: none is a stem of another with an ending. */
const words = Array.from({ length: WORDS }, (_, i) => {
  let rest = (i * 7919) % (90 * 90 * 90);
  let word = '';
  for (let syllable = 0; syllable < 3; syllable++) {
    const place = rest % 90;
    rest = Math.floor(rest / 90);
    word += CONSONANTS[place % 18] + VOWELS[Math.floor(place / 18)];
  }
  return `${word}k`;
});

const share = (next) => next() / 2 ** 32;

/** A word between two ranks: of rank r about as often as 1/r. */
const wordOf = (next, first, last) => words[Math.floor(first * (last / first) ** share(next)) - 1];

const sentence = (next, length, first, last) => Array.from({ length }, () => wordOf(next, first, last)).join(' ');

/** What is said in a turn: 20 to 40 words. */
export const sayingsOf = (seed) => {
  const next = seeded(seed);
  return () => sentence(next, 20 + (next() % 21), 1, WORDS);
};

/** Questions of three to eight words, each another, without those that nearly every turn has. */
export const questionsOf = (seed) => {
  const next = seeded(seed);
  return () => sentence(next, 3 + (next() % 6), 30, WORDS);
};

/** Adds so many turns to a store, in scopes of 100 and trajectories of 1,000, or all in one; gives the trajectories. */
export async function fillConversations(cairn, count, seed, perTrajectory = PER_TRAJECTORY) {
  const newId = uuids(seed);
  const say = sayingsOf(seed);
  const trajectory_ids = [];
  for (let added = 0; added < count; ) {
    const trajectory_id = newId();
    trajectory_ids.push(trajectory_id);
    for (const end = Math.min(count, added + perTrajectory); added < end; ) {
      const scope_ids = Array.from({ length: Math.min(PER_CALL, end - added) / PER_SCOPE }, newId);
      await openScopesIn(cairn, scope_ids, trajectory_id, added % perTrajectory === 0);
      const items = scope_ids.flatMap((scope_id) =>
        Array.from({ length: PER_SCOPE }, (_, i) => ({
          create: { scope_id, role: i % 2 === 0 ? 'User' : 'Assistant', content: say(), token_count: 40 },
        })),
      );
      const { failed } = await cairn.api.turns.batch({ items, atomic: true });
      if (failed > 0) throw new Error(`${failed} turns were not added`);
      added += items.length;
    }
  }
  return trajectory_ids;
}

async function openScopesIn(cairn, scope_ids, trajectory_id, isNew) {
  if (isNew) return openScopes(cairn, scope_ids, trajectory_id);
  for (const scope_id of scope_ids)
    await cairn.api.scopes.create({ scope_id, trajectory_id, name: 'bench', token_budget: 1_000_000_000 });
}
