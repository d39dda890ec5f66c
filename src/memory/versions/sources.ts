/** What artifacts and notes come from, as it must be when they are made: trajectories and turns. */
import { type Query, sql, type Table, TENANT, type Tx } from '../../driver/index.js';
import { entriesAfter, findBox, segmentsOf } from '../../facts/sql.js';
import { readableVersion } from '../trajectories/outputs.js';
import type { TrajectoryRow } from '../trajectories/store.js';

/** Those of these trajectories that were not deleted; nobody finishes or deletes them until the commit. */
export async function lockTrajectories(tx: Tx, ids: readonly string[]): Promise<Map<string, TrajectoryRow>> {
  if (ids.length === 0) return new Map();
  const rows = await tx.all<TrajectoryRow>(
    sql`SELECT * FROM trajectories WHERE tenant_id = ${TENANT} AND trajectory_id = ANY(${ids})
        ORDER BY trajectory_id FOR UPDATE`,
  );
  return new Map(rows.filter((row) => row.deleted_at === null).map((row) => [row.trajectory_id, row]));
}

const learnedInTable: Table = {
  name: 'learned_in',
  columns: { tenant_id: 'text', note_id: 'text', trajectory_id: 'text' },
};

/** Stores where a note was learned. Never changed afterwards: reach rests on it. */
export async function insertLearnedIn(tx: Tx, note_id: string, trajectory_ids: readonly string[]): Promise<void> {
  if (trajectory_ids.length === 0) return;
  await tx.insert(
    learnedInTable,
    trajectory_ids.map((trajectory_id) => [tx.tenant, note_id, trajectory_id]),
  );
}

/** The turn of this sequence in a box of turns: a card. */
export async function turnAt(query: Query, box_id: string, sequence: number): Promise<string | undefined> {
  const box = await findBox(query, box_id);
  if (!box || sequence > box.length) return undefined;
  const segments = await segmentsOf(query, box);
  const [entry] = await entriesAfter(query, segments, { after: 0, limit: 1, offset: sequence - 1 });
  return entry?.card_id;
}

const awaitedTable: Table = {
  name: 'awaited_turns',
  columns: { tenant_id: 'text', scope_id: 'text', sequence: 'bigint', memory_id: 'text' },
};

/** Records that an artifact awaits a turn of a scope, which is locked. */
export async function awaitTurn(tx: Tx, scope_id: string, { sequence, memory_id }: AwaitedTurn): Promise<void> {
  await tx.insert(awaitedTable, [[tx.tenant, scope_id, sequence, memory_id]]);
  // On the row that each turn locks, so that a turn in a scope without such artifacts needs no lookup.
  await tx.run(
    sql`UPDATE scopes SET awaited_turn = ${sequence}
        WHERE tenant_id = ${TENANT} AND scope_id = ${scope_id} AND (awaited_turn IS NULL OR awaited_turn < ${sequence})`,
  );
}

export interface AwaitedTurn {
  readonly sequence: number;
  readonly memory_id: string;
}

/** Removes the records of turns up to this sequence and gives them: each is linked once. */
export const takeAwaited = (tx: Tx, scope_id: string, sequence: number): Promise<AwaitedTurn[]> =>
  tx.returning<AwaitedTurn>(
    sql`DELETE FROM awaited_turns WHERE tenant_id = ${TENANT} AND scope_id = ${scope_id} AND sequence <= ${sequence}
        RETURNING sequence, memory_id`,
  );

/** Removes the records of scopes that end: no turn is added to them. */
export function dropAwaited(tx: Tx, scope_ids: readonly string[]): Promise<void> {
  return tx.send(sql`DELETE FROM awaited_turns WHERE tenant_id = ${TENANT} AND scope_id = ANY(${scope_ids})`);
}

export interface AwaitingArtifact {
  readonly memory_id: string;
  readonly agent_id: string | null;
}

/** Those of these artifacts that can be read. */
export const readableArtifacts = (tx: Tx, memory_ids: readonly string[], now: number): Promise<AwaitingArtifact[]> =>
  tx.all<AwaitingArtifact>(
    sql`SELECT v.memory_id, v.agent_id FROM memory_versions v
        WHERE v.tenant_id = ${TENANT} AND v.memory_id = ANY(${memory_ids}) AND v.kind = 'artifact'
          AND ${readableVersion(now)}
        ORDER BY v.memory_id`,
  );
