/** Scopes, artifacts and notes written straight into the store, for tests of what holds them. */
import { randomUUID } from 'node:crypto';
import type { Store } from '#cairn/api/index.js';
import type { Api } from '#cairn/client/index.js';
import { sql } from '#cairn/driver/index.js';
import { insertBox } from '#cairn/facts/index.js';
import type { BoxRow } from '#cairn/facts/sql.js';
import { newId } from '#cairn/kernel/contract.js';
import { insertEdges, insertScope, settleEdges } from '#cairn/memory/index.js';

export const tenantOf = async (cairn: Api): Promise<string> => (await cairn.auth.whoami()).tenant_id;

export interface PlantedScope {
  readonly scope_id: string;
  readonly box_id: string;
}

const emptyBox = (box_id: string, held_by: string, now: number): BoxRow => ({
  box_id,
  agent_id: null,
  revision: 1,
  length: 0,
  first_position: 1,
  next_position: 1,
  base_box_id: null,
  base_revision: null,
  base_first: null,
  base_position: null,
  base_length: null,
  base_until: null,
  forked_box_id: null,
  forked_revision: null,
  subject_ids: null,
  metadata: '{}',
  sent_hash: null,
  sealed_at: null,
  held_by,
  ended_at: null,
  created_at: now,
  updated_at: now,
});

/** An open scope without turns. */
export async function addScope(
  store: Store,
  tenant: string,
  trajectory_id: string,
  more: { readonly name?: string; readonly parent_scope_id?: string; readonly tokens_used?: number } = {},
): Promise<PlantedScope> {
  const scope_id = newId();
  const box_id = `scope-${scope_id}`;
  await store.driver.write(tenant, async (tx) => {
    const now = store.driver.now();
    const times = { created_at: now, updated_at: now };
    await insertBox(tx, emptyBox(box_id, `scope:${scope_id}`, now));
    await insertScope(tx, {
      scope_id,
      trajectory_id,
      parent_scope_id: more.parent_scope_id ?? null,
      box_id,
      agent_id: null,
      name: more.name ?? 'scope',
      purpose: 'why',
      token_budget: 8000,
      tokens_used: more.tokens_used ?? 0,
      threshold: 80,
      threshold_at: null,
      enforce: 0,
      restored_from: null,
      subject_ids: null,
      retain: null,
      metadata: '{"a":1}',
      sent_hash: 'x',
      ...times,
      closed_at: null,
      deleted_at: null,
      summarized_turns: 0,
      extracted_turns: 0,
      forgotten_turns: 0,
    });
  });
  return { scope_id, box_id };
}

/** A checkpoint of a scope, with a box that it holds. */
export async function addCheckpoint(
  store: Store,
  tenant: string,
  { scope_id }: PlantedScope,
  context_state = 'state',
): Promise<{ box_id: string }> {
  const box_id = `checkpoint-${scope_id}`;
  await store.driver.write(tenant, async (tx) => {
    const now = store.driver.now();
    await insertBox(tx, emptyBox(box_id, `checkpoint:${box_id}`, now));
    await tx.run(
      sql`INSERT INTO scope_checkpoints (tenant_id, scope_id, box_id, context_state, tokens_used, turns, created_at)
          VALUES (${tenant}, ${scope_id}, ${box_id}, ${context_state}, 0, 0, ${now})`,
    );
  });
  return { box_id };
}

/** A card that something holds. */
export async function hold(cairn: Api, store: Store, card_id: string, held_by: string): Promise<void> {
  const tenant = await tenantOf(cairn);
  await cairn.cards.add({ card_id, content: card_id });
  await store.driver.write(tenant, (tx) =>
    tx.run(sql`UPDATE cards SET held_by = ${held_by} WHERE tenant_id = ${tenant} AND card_id = ${card_id}`),
  );
}

async function addVersion(
  store: Store,
  tenant: string,
  kind: 'artifact' | 'note',
  trajectory_id: string | null,
  held_by: string,
  name: string,
): Promise<string> {
  const memory_id = newId();
  await store.driver.write(tenant, async (tx) => {
    const now = store.driver.now();
    await tx.run(
      sql`INSERT INTO memory_versions (tenant_id, memory_id, version, kind, type, name, card_id, trajectory_id,
            abstraction_level, token_count, ttl, lifetime, held_by, created_at, recorded_at)
          VALUES (${tenant}, ${memory_id}, 1, ${kind}, ${kind === 'note' ? 'Insight' : 'Code'}, ${name},
            ${randomUUID()}, ${trajectory_id}, 'L0', 1, '"Persistent"', 'Persistent', ${held_by}, ${now}, ${now})`,
    );
  });
  return memory_id;
}

/** An artifact without a card. */
export const addArtifact = (
  store: Store,
  tenant: string,
  trajectory_id: string,
  more: { readonly held_by?: string; readonly name?: string } = {},
): Promise<string> =>
  addVersion(
    store,
    tenant,
    'artifact',
    trajectory_id,
    more.held_by ?? `trajectory:${trajectory_id}`,
    more.name ?? 'artifact',
  );

/** A binary edge. */
export async function addEdge(
  store: Store,
  tenant: string,
  edge_type: 'DerivedFrom' | 'RelatesTo',
  from: readonly ['Note' | 'Artifact', string],
  to: readonly ['Note' | 'Artifact' | 'Trajectory', string],
): Promise<string> {
  const edge_id = newId();
  const participants = [from, to].map(([entity_type, entity_id]) => ({ entity_type, entity_id, role: null }));
  const edge = { edge_id, edge_type, agent_id: null, body: '{}', sent_hash: null, participants };
  await store.driver.write(tenant, async (tx) => {
    await insertEdges(tx, [edge]);
    await settleEdges(tx, [edge_id], store.driver.now());
  });
  return edge_id;
}

/** A note without a card, from these trajectories. */
export async function addNote(
  store: Store,
  tenant: string,
  trajectory_ids: readonly string[],
  name = 'note',
): Promise<string> {
  const note_id = await addVersion(store, tenant, 'note', null, 'note', name);
  for (const id of trajectory_ids) await addEdge(store, tenant, 'DerivedFrom', ['Note', note_id], ['Trajectory', id]);
  return note_id;
}
