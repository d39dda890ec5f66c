/** Sources of artifacts and notes: trajectories, turns and other artifacts. */
import { insertRows, type Query, sql, TENANT, type Tx, tenantTable } from '../../driver/index.js';
import type { Call } from '../../engine/index.js';
import { entriesAfter, findBox, segmentsOf } from '../../facts/sql.js';
import { unreadableAmong } from '../entities/access.js';
import { unknownEntity } from '../entities/errors.js';
import { readableVersion } from '../trajectories/outputs.js';
import type { TrajectoryRow } from '../trajectories/store.js';
import { existingMemories, type MemoryKind, type VersionRow } from './store.js';

/** Refuses ids that `member` of the input names if an artifact or note does not exist or the caller cannot read it. Returns the subjects of the others. */
export async function refuseUnknownMemories(
  { call, query, now }: { readonly call: Call; readonly query: Query; readonly now: number },
  kind: MemoryKind,
  member: string,
  ids: readonly string[],
): Promise<(string | null)[]> {
  const known = await existingMemories(query, ids, now, { kind });
  const beyond = await unreadableAmong(call, query, kind === 'artifact' ? 'Artifact' : 'Note', ids);
  const missing = ids.filter((id) => !known.has(id) || beyond.includes(id));
  if (missing.length > 0) throw unknownEntity(member, kind, missing);
  return [...known.values()];
}

/** Locks those of these trajectories that are not deleted: no other transaction finishes or deletes them. */
export async function lockTrajectories(tx: Tx, ids: readonly string[]): Promise<Map<string, TrajectoryRow>> {
  if (ids.length === 0) return new Map();
  const rows = await tx.all<TrajectoryRow>(
    sql`SELECT * FROM trajectories WHERE tenant_id = ${TENANT} AND trajectory_id = ANY(${ids})
        ORDER BY trajectory_id FOR UPDATE`,
  );
  return new Map(rows.filter((row) => row.deleted_at === null).map((row) => [row.trajectory_id, row]));
}

const learnedInTable = tenantTable('learned_in', { text: ['note_id', 'trajectory_id'] });

/** Stores where a note was learned. Never changed afterwards: the reach of notes depends on it. */
export async function insertLearnedIn(tx: Tx, note_id: string, trajectory_ids: readonly string[]): Promise<void> {
  const rows = trajectory_ids.map((trajectory_id) => ({ note_id, trajectory_id }));
  if (rows.length > 0) await insertRows(tx, learnedInTable, rows);
}

/** The card id of a turn in the box of a scope. */
export async function turnAt(query: Query, box_id: string, sequence: number): Promise<string | undefined> {
  const box = await findBox(query, box_id);
  if (!box || sequence > box.length) return undefined;
  const segments = await segmentsOf(query, box);
  const [entry] = await entriesAfter(query, segments, { after: 0, limit: 1, offset: sequence - 1 });
  return entry?.card_id;
}

const awaitedTable = tenantTable('awaited_turns', { text: ['scope_id', 'memory_id'], bigint: ['sequence'] });

interface AwaitedTurn {
  readonly sequence: number;
  readonly memory_id: string;
}

/** Records that an artifact awaits a turn of a locked scope. */
export async function awaitTurn(tx: Tx, scope_id: string, { sequence, memory_id }: AwaitedTurn): Promise<void> {
  await insertRows(tx, awaitedTable, [{ scope_id, sequence, memory_id }]);
  // In the row that each turn locks: most turns then need no lookup in awaited_turns.
  await tx.run(
    sql`UPDATE scopes SET awaited_turn = ${sequence}
        WHERE tenant_id = ${TENANT} AND scope_id = ${scope_id} AND (awaited_turn IS NULL OR awaited_turn < ${sequence})`,
  );
}

/** Deletes and returns the records of turns up to this sequence. */
export const takeAwaited = (tx: Tx, scope_id: string, sequence: number): Promise<AwaitedTurn[]> =>
  tx.returning<AwaitedTurn>(
    sql`DELETE FROM awaited_turns WHERE tenant_id = ${TENANT} AND scope_id = ${scope_id} AND sequence <= ${sequence}
        RETURNING sequence, memory_id`,
  );

/** Deletes the records of scopes that close. */
export const dropAwaited = (tx: Tx, scope_ids: readonly string[]): Promise<void> =>
  tx.send(sql`DELETE FROM awaited_turns WHERE tenant_id = ${TENANT} AND scope_id = ANY(${scope_ids})`);

export const readableArtifacts = (
  tx: Tx,
  memory_ids: readonly string[],
  now: number,
): Promise<Pick<VersionRow, 'memory_id' | 'agent_id'>[]> =>
  tx.all(
    sql`SELECT v.memory_id, v.agent_id FROM memory_versions v
        WHERE v.tenant_id = ${TENANT} AND v.memory_id = ANY(${memory_ids}) AND v.kind = 'artifact'
          AND ${readableVersion(now)}
        ORDER BY v.memory_id`,
  );
