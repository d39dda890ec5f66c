/**
 * endings: what has ended, in one row however much it held, and how far the erasure after it has come.
 * A card, box or version says in held_by what holds it; once that is among the endings, it can no longer be read.
 */
import { type Query, type Sql, sql, TENANT, type Tx } from '../../driver/index.js';

export const scopeHolder = (scope_id: string): string => `scope:${scope_id}`;
export const sessionHolder = (trajectory_id: string): string => `session:${trajectory_id}`;
export const trajectoryHolder = (trajectory_id: string): string => `trajectory:${trajectory_id}`;
export const checkpointHolder = (box_id: string): string => `checkpoint:${box_id}`;
/** Of the box with what was packed when a trajectory was handed over. */
export const handoffHolder = (box_id: string): string => `handoff:${box_id}`;
export const executionHolder = (execution_id: string): string => `execution:${execution_id}`;
/** Not a holder but work of the same kind: what the checkpoints that were pruned shared with none that stayed. */
export const pruneHolder = (execution_id: string): string => `pruned:${execution_id}`;
/** The context, output or record of an agent_turn, with the cards that were made for it. Ends with its trajectory. */
export const turnBoxHolder = (box_id: string): string => `agent_turn:${box_id}`;
/** Whether a box, held by this, is one of an agent_turn. */
export const isOfTurn = (held_by: string | null): boolean => held_by?.startsWith('agent_turn:') ?? false;
/** The same for a box under the name b. */
export const OF_TURN: Sql = sql`SUBSTR(b.held_by, 1, 11) = 'agent_turn:'`;
export const noteHolder = (note_id: string): string => `note:${note_id}`;

/** When what holds a card (under the name c) ended; null as long as it has not. */
export const CARD_ENDED: Sql = sql`(SELECT x.ended_at FROM endings x WHERE x.tenant_id = c.tenant_id AND x.holder = c.held_by)`;
/** The same for a box under the name b. */
export const BOX_ENDED: Sql = sql`(SELECT x.ended_at FROM endings x WHERE x.tenant_id = b.tenant_id AND x.holder = b.held_by)`;
/** The same for a version of an artifact or note under the name v. */
export const VERSION_ENDED: Sql = sql`(SELECT x.ended_at FROM endings x WHERE x.tenant_id = v.tenant_id AND x.holder = v.held_by)`;

export interface Ending {
  readonly holder: string;
  readonly ended_at: number;
  /** The trajectory that it happened in. */
  readonly thread_id: string | null;
  /** Whose cards are to be erased, besides the versions that the holder holds. */
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
  for (const { holder, ended_at, thread_id, box_id } of endings) {
    await tx.send(
      sql`INSERT INTO endings (tenant_id, holder, ended_at, thread_id, box_id, position, erased, kept, versions)
          VALUES (${TENANT}, ${holder}, ${ended_at}, ${thread_id}, ${box_id}, 0, 0, 0, 0)
          ON CONFLICT (tenant_id, holder) DO NOTHING`,
    );
  }
}

/**
 * Ends once more what can end several times. Its position says how often: it has no box to be somewhere in. What was
 * erased is counted anew, unless the erasure before is still under way and told nothing yet.
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

/** Has an ending erased once more from its start: what kept some of it is gone. */
export function eraseAgain(tx: Tx, holder: string): Promise<void> {
  return tx.send(
    sql`UPDATE endings SET position = 0, erased = 0, kept = 0, done_at = NULL
        WHERE tenant_id = ${TENANT} AND holder = ${holder} AND (kept > 0 OR done_at IS NULL)`,
  );
}

export function findEnding(query: Query, holder: string): Promise<EndingRow | undefined> {
  return query.get<EndingRow>(
    sql`SELECT holder, ended_at, thread_id, box_id, position, erased, kept, versions, done_at FROM endings
        WHERE tenant_id = ${TENANT} AND holder = ${holder}`,
  );
}

/** Endings whose content is still to be erased, the oldest first. */
export function endingsUnderWay(query: Query, limit: number): Promise<EndingRow[]> {
  return query.all<EndingRow>(
    sql`SELECT holder, ended_at, thread_id, box_id, position, erased, kept, versions, done_at FROM endings
        WHERE tenant_id = ${TENANT} AND done_at IS NULL ORDER BY ended_at, holder LIMIT ${limit}`,
  );
}

/**
 * Notes how far an erasure has come from a position. False when another server was faster and has noted some of it: so
 * nothing is counted twice, though their batches are not alike.
 */
export async function noteProgress(
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

/** Counts versions that were erased. */
export async function noteVersions(tx: Tx, holder: string, count: number): Promise<void> {
  await tx.send(
    sql`UPDATE endings SET versions = versions + ${count} WHERE tenant_id = ${TENANT} AND holder = ${holder}`,
  );
}

/** Whether it was not noted before. With a position, only if it is still there. */
export async function noteDone(tx: Tx, holder: string, now: number, position?: number): Promise<boolean> {
  const still = position === undefined ? sql`` : sql`AND position = ${position}`;
  const changed = await tx.run(
    sql`UPDATE endings SET done_at = ${now}
        WHERE tenant_id = ${TENANT} AND holder = ${holder} AND done_at IS NULL ${still}`,
  );
  return changed > 0;
}
