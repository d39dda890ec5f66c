/** Forgetting scopes and trajectories: they end, lose their texts, and everything in them is forgotten. */
import { type Query, type Sql, sql, TENANT, type Tx } from '../../driver/index.js';
import type { Call, Forgettable, Forgetter, Work } from '../../engine/index.js';
import { addEndings, checkpointHolder, scopeHolder } from '../../engine/sql.js';
import { findBox, segmentsOf } from '../../facts/sql.js';
import { selectIds } from '../rows.js';
import { endScopes } from '../scopes/closing.js';
import { lockOpenScopes } from '../scopes/store.js';
import { removeIn } from '../trajectories/ending.js';
import { treeIds } from '../trajectories/removal-store.js';

const PAGE = 500;

/** Pages of ids by keyset; `after` is the last id of the page before. */
async function* pages(read: (after: string) => Promise<string[]>): AsyncGenerator<string[]> {
  for (let after = ''; ; ) {
    const ids = await read(after);
    if (ids.length > 0) yield ids;
    if (ids.length < PAGE) return;
    after = ids.at(-1)!;
  }
}

/** The turns that a scope shows; those of a restored scope are also of its origin. */
async function* turnsOf(query: Query, scope_id: string): AsyncGenerator<Forgettable[]> {
  const row = await query.get<{ box_id: string }>(
    sql`SELECT box_id FROM scopes WHERE tenant_id = ${TENANT} AND scope_id = ${scope_id}`,
  );
  const box = row && (await findBox(query, row.box_id));
  if (!box) return;
  for (const { box_id, until } of await segmentsOf(query, box)) {
    const read = (after: string): Promise<string[]> =>
      selectIds(
        query,
        sql`SELECT DISTINCT e.card_id AS id FROM box_entries e
            WHERE e.tenant_id = ${TENANT} AND e.box_id = ${box_id} AND e.position < ${until} AND e.card_id > ${after}
            ORDER BY e.card_id LIMIT ${PAGE}`,
      );
    for await (const ids of pages(read)) yield ids.map((id) => ({ kind: 'turn', id }));
  }
}

/** Artifacts and notes by a condition on a version v. */
async function* memoriesOf(query: Query, which: Sql): AsyncGenerator<Forgettable[]> {
  for (const kind of ['artifact', 'note'] as const) {
    const read = (after: string): Promise<string[]> =>
      selectIds(
        query,
        sql`SELECT v.memory_id AS id FROM memory_versions v
            WHERE v.tenant_id = ${TENANT} AND v.version = 1 AND v.kind = ${kind} AND ${which}
              AND v.memory_id > ${after} ORDER BY v.memory_id LIMIT ${PAGE}`,
      );
    for await (const ids of pages(read)) yield ids.map((id) => ({ kind, id }));
  }
}

const scopesIn = (query: Query, which: Sql): Promise<string[]> =>
  selectIds(query, sql`SELECT s.scope_id AS id FROM scopes s WHERE s.tenant_id = ${TENANT} AND ${which}`);

async function* contentsOfScope(call: Call, scope_id: string): AsyncGenerator<Forgettable[]> {
  const query = call.driver.at(call.tenant);
  yield* turnsOf(query, scope_id);
  yield* memoriesOf(query, sql`v.scope_id = ${scope_id}`);
  const nested = await scopesIn(query, sql`s.parent_scope_id = ${scope_id}`);
  yield nested.map((id) => ({ kind: 'scope', id }));
}

async function* contentsOfTree(call: Call, trajectory_id: string): AsyncGenerator<Forgettable[]> {
  const query = call.driver.at(call.tenant);
  for (const id of await treeIds(query, trajectory_id)) {
    yield* memoriesOf(query, sql`v.trajectory_id = ${id}`);
    for (const scope_id of await scopesIn(query, sql`s.trajectory_id = ${id}`)) yield* turnsOf(query, scope_id);
  }
}

const existing = (table: Sql, column: Sql) => (query: Query, ids: readonly string[]) =>
  selectIds(query, sql`SELECT ${column} AS id FROM ${table} WHERE tenant_id = ${TENANT} AND ${column} = ANY(${ids})`);

/** The recoverable checkpoints of scopes end with them. */
async function endCheckpoints(tx: Tx, scope_ids: readonly string[], ended_at: number): Promise<string[]> {
  const kept = await tx.all<{ box_id: string; trajectory_id: string }>(
    sql`SELECT k.box_id, s.trajectory_id FROM scope_checkpoints k
          JOIN scopes s ON s.tenant_id = k.tenant_id AND s.scope_id = k.scope_id
        WHERE k.tenant_id = ${TENANT} AND k.scope_id = ANY(${scope_ids}) AND k.box_id IS NOT NULL`,
  );
  await addEndings(
    tx,
    kept.map(({ box_id, trajectory_id }) => ({
      holder: checkpointHolder(box_id),
      ended_at,
      thread_id: trajectory_id,
      box_id,
    })),
  );
  await tx.send(sql`DELETE FROM scope_checkpoints WHERE tenant_id = ${TENANT} AND scope_id = ANY(${scope_ids})`);
  return kept.map(({ box_id }) => checkpointHolder(box_id));
}

async function forgetScopes(work: Work, ids: readonly string[]): Promise<string[]> {
  const { tx } = work;
  const open = await lockOpenScopes(tx, ids);
  const ended_at = await endScopes(work, open, 'deleted');
  const holders = await endCheckpoints(tx, ids, ended_at);
  await tx.send(
    sql`UPDATE scopes SET name = '', purpose = NULL, metadata = NULL, sent_hash = NULL, updated_at = ${ended_at},
          deleted_at = ${ended_at}
        WHERE tenant_id = ${TENANT} AND scope_id = ANY(${ids}) AND deleted_at IS NULL`,
  );
  return [...holders, ...open.map(({ scope_id }) => scopeHolder(scope_id))];
}

export const scopeForgetter: Forgetter = {
  find: existing(sql`scopes`, sql`scope_id`),
  erase: async (work, ids) => ({ contents: [], done: true, holders: await forgetScopes(work, ids) }),
  contents: contentsOfScope,
};

export const trajectoryForgetter: Forgetter = {
  find: existing(sql`trajectories`, sql`trajectory_id`),
  erase: async (work, ids) => {
    const holders: string[] = [];
    for (const id of ids) holders.push(...(await removeIn(work, id)));
    return { contents: [], done: true, holders };
  },
  contents: contentsOfTree,
};
