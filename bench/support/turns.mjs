// Scopes and turns to measure: texts as agents say them, scopes to put them into, and many turns at once.
import { insertTrajectory } from '../../dist/memory/trajectories/store.js';
import { TENANT } from './databases.mjs';
import { prose, seeded, uuids } from './seeded.mjs';

/** So large that no scope comes near its threshold: that is one event more, once. */
const BUDGET = 1_000_000_000;
const PER_CALL = 1000;

/** A trajectory to open scopes in. */
export async function newTrajectory({ driver }, trajectory_id) {
  const now = driver.now();
  await driver.write(TENANT, (tx) =>
    insertTrajectory(tx, {
      trajectory_id,
      parent_trajectory_id: null,
      agent_id: null,
      name: 'bench',
      description: null,
      subject_ids: null,
      status: 'Active',
      metadata: null,
      sent_hash: null,
      created_at: now,
      updated_at: now,
    }),
  );
}

/** Opens scopes with these ids, in a trajectory of their own. */
export async function openScopes(cairn, scope_ids, trajectory_id, fields = {}) {
  await newTrajectory(cairn, trajectory_id);
  for (const scope_id of scope_ids)
    await cairn.api.scopes.create({ scope_id, trajectory_id, name: 'bench', token_budget: BUDGET, ...fields });
}

/** What is said: some 300 characters of plain words, and a few that are no words, as in most texts. */
export function sayings(seed) {
  const next = seeded(seed);
  const newId = uuids(seed);
  return () => `${prose(next, 240)}; order ${newId()}: ${(next() % 100_000) / 100} EUR/t (n=${next() % 1000})`;
}

/** A turn whose tokens were counted by whoever sends it. */
export const counted = (scope_id, content) => ({ scope_id, role: 'User', content, token_count: 100 });

/** Adds so many turns to each scope, a thousand a call. */
export async function fillScopes({ api }, scope_ids, perScope, seed) {
  const say = sayings(seed);
  for (const scope_id of scope_ids) {
    for (let added = 0; added < perScope; added += PER_CALL) {
      const length = Math.min(PER_CALL, perScope - added);
      const items = Array.from({ length }, () => ({ create: counted(scope_id, say()) }));
      const { failed } = await api.turns.batch({ items, atomic: true });
      if (failed > 0) throw new Error(`${failed} turns were not added`);
    }
  }
}
