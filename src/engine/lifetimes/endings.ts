/** endings: ended holders and the progress of erasure. Content whose `held_by` names an ended holder is unreadable. */
import { type Query, type Sql, sql, TENANT, type Tx } from '../../driver/index.js';

export const scopeHolder = (scope_id: string): string => `scope:${scope_id}`;
export const sessionHolder = (trajectory_id: string): string => `session:${trajectory_id}`;
export const trajectoryHolder = (trajectory_id: string): string => `trajectory:${trajectory_id}`;
export const checkpointHolder = (box_id: string): string => `checkpoint:${box_id}`;
/** Of the box with the context that was packed for a handoff. */
export const handoffHolder = (box_id: string): string => `handoff:${box_id}`;
export const executionHolder = (execution_id: string): string => `execution:${execution_id}`;
/** Not a holder but the same kind of work: content of pruned checkpoints that no remaining one shares. */
export const pruneHolder = (execution_id: string): string => `pruned:${execution_id}`;
/** The context, output or record box of an agent_turn and its cards. Ends with the trajectory. */
export const turnBoxHolder = (box_id: string): string => `agent_turn:${box_id}`;
export const isTurnBox = (held_by: string | null): boolean => held_by?.startsWith('agent_turn:') ?? false;
/** As a condition on a box `b`. */
export const IS_TURN_BOX: Sql = sql`SUBSTR(b.held_by, 1, 11) = 'agent_turn:'`;
export const noteHolder = (note_id: string): string => `note:${note_id}`;

/** When the holder of a card `c`, a box `b` or a version `v` ended; null if it has not. */
export const CARD_ENDED: Sql = sql`(SELECT x.ended_at FROM endings x WHERE x.tenant_id = c.tenant_id AND x.holder = c.held_by)`;
export const BOX_ENDED: Sql = sql`(SELECT x.ended_at FROM endings x WHERE x.tenant_id = b.tenant_id AND x.holder = b.held_by)`;
export const VERSION_ENDED: Sql = sql`(SELECT x.ended_at FROM endings x WHERE x.tenant_id = v.tenant_id AND x.holder = v.held_by)`;

interface Ending {
  readonly holder: string;
  readonly ended_at: number;
  readonly thread_id: string | null;
  /** The box whose cards are erased, besides the versions of the holder. */
  readonly box_id: string | null;
}

export interface EndingRow extends Ending {
  readonly position: number;
  readonly erased: number;
  readonly kept: number;
  readonly versions: number;
  readonly done_at: number | null;
}

export async function addEndings(tx: Tx, endings: readonly Ending[]): Promise<void> {
  for (const { holder, ended_at, thread_id, box_id } of endings)
    await tx.send(
      sql`INSERT INTO endings (tenant_id, holder, ended_at, thread_id, box_id, position, erased, kept, versions)
          VALUES (${TENANT}, ${holder}, ${ended_at}, ${thread_id}, ${box_id}, 0, 0, 0, 0)
          ON CONFLICT (tenant_id, holder) DO NOTHING`,
    );
}

/**
 * Ends a holder that can end several times; without a box, its position counts how often. `versions` starts again at 0,
 * unless the previous erasure is still running and has not been reported.
 */
export async function reopenEnding(tx: Tx, ending: Pick<Ending, 'holder' | 'ended_at' | 'thread_id'>): Promise<void> {
  await tx.send(
    sql`INSERT INTO endings (tenant_id, holder, ended_at, thread_id, position, erased, kept, versions)
        VALUES (${TENANT}, ${ending.holder}, ${ending.ended_at}, ${ending.thread_id}, 0, 0, 0, 0)
        ON CONFLICT (tenant_id, holder) DO UPDATE SET ended_at = excluded.ended_at, done_at = NULL,
          position = endings.position + 1,
          versions = CASE WHEN endings.done_at IS NULL THEN endings.versions ELSE 0 END`,
  );
}

/** Restarts an erasure after a pin that kept some of the content was released. */
export function eraseAgain(tx: Tx, holder: string): Promise<void> {
  return tx.send(
    sql`UPDATE endings SET position = 0, erased = 0, kept = 0, done_at = NULL
        WHERE tenant_id = ${TENANT} AND holder = ${holder} AND (kept > 0 OR done_at IS NULL)`,
  );
}

const COLUMNS = sql`holder, ended_at, thread_id, box_id, position, erased, kept, versions, done_at`;

export const findEnding = (query: Query, holder: string): Promise<EndingRow | undefined> =>
  query.get(sql`SELECT ${COLUMNS} FROM endings WHERE tenant_id = ${TENANT} AND holder = ${holder}`);

/** Endings with unfinished erasure, the oldest first. */
export const endingsUnderWay = (query: Query, limit: number): Promise<EndingRow[]> =>
  query.all(
    sql`SELECT ${COLUMNS} FROM endings
        WHERE tenant_id = ${TENANT} AND done_at IS NULL ORDER BY ended_at, holder LIMIT ${limit}`,
  );

/** Stores progress from a position. False if another server has stored some of it, so that nothing is counted twice. */
export async function storeProgress(
  tx: Tx,
  holder: string,
  progress: { readonly after: number; readonly position: number; readonly erased: number; readonly kept: number },
): Promise<boolean> {
  const changed = await tx.run(
    sql`UPDATE endings SET position = ${progress.position}, erased = erased + ${progress.erased},
          kept = kept + ${progress.kept}
        WHERE tenant_id = ${TENANT} AND holder = ${holder} AND position = ${progress.after} AND done_at IS NULL`,
  );
  return changed > 0;
}

export async function countErasedVersions(tx: Tx, holder: string, count: number): Promise<void> {
  await tx.send(
    sql`UPDATE endings SET versions = versions + ${count} WHERE tenant_id = ${TENANT} AND holder = ${holder}`,
  );
}

/** Marks an erasure as done; false if it was, or if its position is not the given one. */
export async function noteDone(tx: Tx, holder: string, now: number, position?: number): Promise<boolean> {
  const still = position === undefined ? sql`` : sql`AND position = ${position}`;
  const changed = await tx.run(
    sql`UPDATE endings SET done_at = ${now}
        WHERE tenant_id = ${TENANT} AND holder = ${holder} AND done_at IS NULL ${still}`,
  );
  return changed > 0;
}
