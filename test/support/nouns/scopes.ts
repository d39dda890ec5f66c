/** Trajectories, scopes and turns for tests, and what is left of them in the tables. */
import type { Store } from '#cairn/api/index.js';
import type { Api } from '#cairn/client/index.js';
import { sql } from '#cairn/driver/index.js';
import type { AddedTurn, Scope } from '#cairn/memory/contract.js';

export const someTrajectory = async (cairn: Api): Promise<string> =>
  (await cairn.trajectories.create({ name: 'task' })).trajectory_id;

type ScopeInput = Parameters<Api['scopes']['create']>[0];

/** An open scope, in a trajectory of its own unless one is named. It leaves no digest, unless the test is about digests. */
export const someScope = async (cairn: Api, more: Partial<ScopeInput> = {}): Promise<Scope> =>
  cairn.scopes.create({
    name: 'scope',
    retain: 'nothing',
    ...more,
    trajectory_id: more.trajectory_id ?? (await someTrajectory(cairn)),
  });

/** A turn of one token, unless the test is about tokens. */
export const say = (
  cairn: Api,
  scope_id: string,
  content: string,
  more: Partial<Parameters<Api['turns']['add']>[0]> = {},
): Promise<AddedTurn> => cairn.turns.add({ role: 'User', token_count: 1, content, ...more, scope_id });

export const contentsOf = async (cairn: Api, scope_id: string): Promise<unknown[]> =>
  (await cairn.scopes.turns({ scope_id, limit: 500 })).turns.map(({ content }) => content);

/** Which of these words are anywhere in the packets of a tenant, or in its cards. */
export async function wordsLeft(
  store: Store,
  tenant: string,
  table: 'packets' | 'cards',
  words: readonly string[],
): Promise<string[]> {
  const rows = await store.driver.long<Record<string, unknown>>(
    tenant,
    table === 'packets'
      ? sql`SELECT envelope, original, agent, source, facts, entity_id FROM packet_store WHERE tenant_id = ${tenant}`
      : sql`SELECT content, metadata, tool_calls FROM cards WHERE tenant_id = ${tenant}`,
  );
  const text = JSON.stringify(rows);
  return words.filter((word) => text.includes(word));
}

/** The facts of the events of a type about an entity, in the order of the stream. */
export async function eventsOf(cairn: Api, packet_type: string, id: string) {
  const { packets } = await cairn.packets.list({ packet_type, order: 'asc', limit: 500 });
  return packets
    .map(({ payload }) => payload as Record<string, unknown> & { entity: { id: string } })
    .filter(({ entity }) => entity.id === id);
}
