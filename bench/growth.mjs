// What an append costs at a million cards in a box, against one at a hundred. Each has a database of its own.
import { openBare, openWithBackgroundWork, TENANT } from './support/databases.mjs';
import { filled } from './support/filled.mjs';
import { byCallers, interleave } from './support/measure.mjs';
import { uuids } from './support/seeded.mjs';
import { addCards } from './support/work.mjs';

const CALLERS = 64;
const LARGE = 1_000_000;
const SMALL = 100;

/** The n-th card's id, as a UUIDv7 of before those of `uuids`, in either database's words. */
const idOf = {
  sqlite: `printf('018b0000-%04x-7%03x-8%03x-%012x', n / 256, n % 256, n * 7919 % 4096, n * 104729)`,
  postgres: `'018b0000-' || lpad(to_hex(n / 256), 4, '0') || '-7' || lpad(to_hex(n % 256), 3, '0') || '-8' ||
    lpad(to_hex(n::bigint * 7919 % 4096), 3, '0') || '-' || lpad(to_hex(n::bigint * 104729), 12, '0')`,
};
const numbers = {
  sqlite: (count) =>
    `(WITH RECURSIVE s(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM s WHERE n < ${count}) SELECT n FROM s) s`,
  postgres: (count) => `generate_series(1, ${count}) AS s(n)`,
};

/** Makes so many cards and puts them into the boxes, as one save would have, in a few statements. */
async function fill(kind, database, box_ids, perBox) {
  const bare = await openBare(kind, database);
  const count = box_ids.length * perBox;
  const hash = '0'.repeat(64);
  await bare.exec('BEGIN');
  await bare.exec(
    `INSERT INTO cards (tenant_id, card_id, content, metadata, content_hash, created_at)
     SELECT '${TENANT}', ${idOf[kind]}, '"a card to refer to"', '{}', '${hash}', 1700000000000 FROM ${numbers[kind](count)}`,
  );
  for (const [i, box_id] of box_ids.entries()) {
    await bare.exec(
      `INSERT INTO box_entries (tenant_id, box_id, position, card_id, ordinal, added_revision)
       SELECT '${TENANT}', '${box_id}', n - ${i * perBox}, ${idOf[kind]}, n - ${i * perBox}, 2 FROM ${numbers[kind](count)}
       WHERE n > ${i * perBox} AND n <= ${(i + 1) * perBox}`,
    );
    await bare.exec(
      `UPDATE boxes SET revision = 2, length = ${perBox}, next_position = ${perBox + 1}
       WHERE tenant_id = '${TENANT}' AND box_id = '${box_id}'`,
    );
  }
  await bare.exec('COMMIT');
  if (kind === 'postgres') await bare.exec('VACUUM ANALYZE');
  else await bare.exec('PRAGMA wal_checkpoint(TRUNCATE)');
  await bare.close();
}

export async function growth({ target, quick, report }) {
  const rounds = quick ? 5 : 9;
  const perRound = quick ? 1600 : 3200;
  const newId = uuids(7);
  const work = Array.from({ length: rounds + 1 }, () => Array.from({ length: perRound }, newId));
  const open = async (boxes, perBox) => {
    const database = await target.fresh();
    const box_ids = Array.from({ length: boxes }, newId);
    await filled(target.kind, database, async (cairn) => {
      for (const box_id of box_ids) await cairn.api.boxes.create({ box_id });
      await addCards(cairn, work.flat());
    });
    await fill(target.kind, database, box_ids, perBox);
    const cairn = await openWithBackgroundWork(database);
    const append = (round) =>
      byCallers(CALLERS, work[round], (card_id) =>
        cairn.api.boxes.append({ box_id: box_ids[round % boxes], card_ids: [card_id] }),
      );
    // Forks are made before they are measured, one a round.
    const forks = Array.from({ length: rounds + 1 }, newId);
    for (const new_box_id of forks) await cairn.api.boxes.fork({ box_id: box_ids[0], new_box_id });
    const appendToFork = (round) =>
      byCallers(CALLERS, work[round], (card_id) =>
        cairn.api.boxes.append({ box_id: forks[round], card_ids: [card_id] }),
      );
    return { append, appendToFork, close: cairn.close };
  };
  // Each round appends to one box: to the large one again, or to another small one.
  const small = await open(rounds + 1, SMALL);
  const large = await open(1, LARGE);
  const { rate, ratio, noise } = await interleave({ large: large.append, small: small.append }, rounds);
  report({
    what: 'boxes.append at 1,000,000 against at 100',
    ours: 1e6 / rate('large'),
    bare: 1e6 / rate('small'),
    unit: 'µs',
    // Of times, not of rates.
    ratio: ratio('small', 'large'),
    noise: noise('small', 'large'),
    at_most: 1.3,
  });
  // Before the forks nothing was appended that they would hold, so each round appends all of its cards.
  const forked = await interleave({ fork: large.appendToFork, small: small.appendToFork }, rounds);
  report({
    what: 'boxes.append to a fork of 1,000,000 against of 100',
    ours: 1e6 / forked.rate('fork'),
    bare: 1e6 / forked.rate('small'),
    unit: 'µs',
    ratio: forked.ratio('small', 'fork'),
    noise: forked.noise('small', 'fork'),
    at_most: 1.3,
  });
  await small.close();
  await large.close();
}
