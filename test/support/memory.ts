/** Trajectories, scopes and turns for the tests of artifacts and notes. */
import { randomUUID } from 'node:crypto';
import type { Api } from '#cairn/client/index.js';
import type { Tx } from '#cairn/driver/driver.js';
import { sql } from '#cairn/driver/sql.js';
import { insertEntries } from '#cairn/store/box-entries.js';
import { insertBox } from '#cairn/store/boxes.js';
import { insertCards } from '#cairn/store/cards.js';
import { addEndings, scopeHolder, sessionHolder, trajectoryHolder } from '#cairn/store/endings.js';
import { closeScopes, insertScope } from '#cairn/store/scopes.js';
import type { TestStore } from './targets.js';

export const newTrajectory = async (cairn: Api): Promise<string> =>
  (await cairn.trajectories.create({ name: 'a task' })).trajectory_id;

const inStore = async (test: TestStore, cairn: Api, work: (tx: Tx, tenant: string) => Promise<unknown>) => {
  const { tenant_id } = await cairn.auth.whoami();
  await test.store.driver.write(tenant_id, (tx) => work(tx, tenant_id));
};

/** An open scope with so many turns. */
export async function newScope(
  test: TestStore,
  cairn: Api,
  trajectory_id: string,
  turns = 0,
): Promise<{ scope_id: string; turn_ids: string[] }> {
  const scope_id = randomUUID();
  const box_id = randomUUID();
  const turn_ids = Array.from({ length: turns }, () => randomUUID());
  const now = test.store.driver.now();
  const held_by = scopeHolder(scope_id);
  await inStore(test, cairn, async (tx, tenant) => {
    await insertScope(tx, tenant, {
      scope_id,
      trajectory_id,
      parent_scope_id: null,
      box_id,
      agent_id: null,
      name: 'a scope',
      purpose: null,
      token_budget: 8000,
      tokens_used: 0,
      threshold: 80,
      threshold_at: null,
      enforce: 0,
      restored_from: null,
      metadata: '{}',
      sent_hash: null,
      created_at: now,
      updated_at: now,
      closed_at: null,
      deleted_at: null,
    });
    await insertBox(tx, tenant, {
      box_id,
      agent_id: null,
      revision: 1,
      length: turns,
      first_position: 1,
      next_position: turns + 1,
      base_box_id: null,
      base_revision: null,
      base_first: null,
      base_position: null,
      base_length: null,
      base_until: null,
      forked_box_id: null,
      forked_revision: null,
      metadata: '{}',
      sent_hash: null,
      sealed_at: null,
      held_by,
      created_at: now,
      updated_at: now,
      ended_at: null,
    });
    await insertCards(
      tx,
      tenant,
      turn_ids.map((card_id) => ({
        card_id,
        content: '"said"',
        tool_calls: null,
        tool_call_id: null,
        metadata: '{}',
        author_id: null,
        subject_ids: [],
        derived_from: [],
        content_hash: 'of a turn',
        sent_hash: null,
        ttl_seconds: null,
        expires_at: null,
        created_at: now,
        held_by,
      })),
    );
    await insertEntries(tx, tenant, box_id, { position: 1, behind: 0, revision: 1 }, turn_ids);
  });
  return { scope_id, turn_ids };
}

const ended = (holder: string, ended_at: number) => ({ holder, ended_at, thread_id: null, box_id: null });

export const closeScope = (test: TestStore, cairn: Api, scope_id: string): Promise<void> =>
  inStore(test, cairn, async (tx, tenant) => {
    const now = test.store.driver.now();
    await closeScopes(tx, tenant, [scope_id], now);
    await addEndings(tx, tenant, [ended(scopeHolder(scope_id), now)]);
  });

export const finishTrajectory = (test: TestStore, cairn: Api, trajectory_id: string): Promise<void> =>
  inStore(test, cairn, async (tx, tenant) => {
    const now = test.store.driver.now();
    await tx.run(
      sql`UPDATE trajectories SET status = 'Completed', finished_at = ${now}
          WHERE tenant_id = ${tenant} AND trajectory_id = ${trajectory_id}`,
    );
    await addEndings(tx, tenant, [ended(sessionHolder(trajectory_id), now)]);
  });

export const deleteTrajectory = (test: TestStore, cairn: Api, trajectory_id: string): Promise<void> =>
  inStore(test, cairn, async (tx, tenant) => {
    const now = test.store.driver.now();
    await tx.run(
      sql`UPDATE trajectories SET deleted_at = ${now} WHERE tenant_id = ${tenant} AND trajectory_id = ${trajectory_id}`,
    );
    await addEndings(tx, tenant, [
      ended(sessionHolder(trajectory_id), now),
      ended(trajectoryHolder(trajectory_id), now),
    ]);
  });
