/**
 * Corrects rows that a clock that was ahead has left in the future. Times that record when something was created, changed
 * or erased stay; times that are compared later are set to the present.
 */
import { WAITER_LEASE_MS } from '../coordination/index.js';
import { type Sql, sql, TENANT, type Tx } from '../driver/index.js';
import { lockSweeps } from '../facts/sql.js';

interface FutureTimes {
  find(now: number): Sql;
  set(ids: readonly string[], time: number): Sql;
}

const SEALS: FutureTimes = {
  find: (now) =>
    sql`SELECT box_id AS id, sealed_at AS time FROM boxes WHERE tenant_id = ${TENANT} AND sealed_at > ${now}`,
  set: (ids, time) => sql`UPDATE boxes SET sealed_at = ${time} WHERE tenant_id = ${TENANT} AND box_id = ANY(${ids})`,
};
const DELETIONS: FutureTimes = {
  find: (now) =>
    sql`SELECT card_id AS id, deleted_at AS time FROM cards WHERE tenant_id = ${TENANT} AND deleted_at > ${now}`,
  set: (ids, time) => sql`UPDATE cards SET deleted_at = ${time} WHERE tenant_id = ${TENANT} AND card_id = ANY(${ids})`,
};
const ENDINGS: FutureTimes = {
  find: (now) =>
    sql`SELECT holder AS id, ended_at AS time FROM endings WHERE tenant_id = ${TENANT} AND ended_at > ${now}`,
  set: (ids, time) => sql`UPDATE endings SET ended_at = ${time} WHERE tenant_id = ${TENANT} AND holder = ANY(${ids})`,
};

/**
 * New times, as close to `now` as possible, which may be the time of a seal itself. A deletion after a seal stays after
 * it, a seal at or after a deletion stays at or after it.
 */
export function shiftedTimes(now: number, sealed: Iterable<number>, deleted: Iterable<number>): Map<number, number> {
  const seals = new Set(sealed);
  const deletions = new Set(deleted);
  const times = new Map<number, number>();
  let moment = now;
  let isSealed = true;
  for (const time of [...new Set([...seals, ...deletions])].sort((a, b) => a - b)) {
    if (isSealed && deletions.has(time)) {
      moment++;
      isSealed = false;
    }
    times.set(time, moment);
    isSealed ||= seals.has(time);
  }
  return times;
}

/** Moves future times of seals, deletions and endings back, in order: a box keeps cards deleted after its sealing. */
export async function bringBackSeals(tx: Tx, now: number): Promise<void> {
  await lockSweeps(tx);
  const read = async ({ find }: FutureTimes) => {
    const rows = await tx.all<{ id: string; time: number }>(find(now));
    return rows.map(({ id, time }) => ({ id, time: Number(time) }));
  };
  const seals = await read(SEALS);
  const deletions = await read(DELETIONS);
  const endings = await read(ENDINGS);
  const timesOf = (rows: typeof seals) => rows.map(({ time }) => time);
  const times = shiftedTimes(now, timesOf(seals), timesOf([...deletions, ...endings]));
  for (const [{ set }, rows] of [
    [SEALS, seals],
    [DELETIONS, deletions],
    [ENDINGS, endings],
  ] as const) {
    const idsByTime = new Map<number, string[]>();
    for (const { id, time } of rows) {
      const shifted = times.get(time)!;
      const ids = idsByTime.get(shifted);
      if (ids) ids.push(id);
      else idsByTime.set(shifted, [id]);
    }
    for (const [time, ids] of idsByTime) await tx.run(set(ids, time));
  }
  // Later seals and deletions come after all of these, not after the times of the wrong clock.
  const last = [...times.values()].at(-1) ?? now;
  await tx.run(sql`UPDATE sweeps SET sealed_at = CASE WHEN sealed_at > ${now} THEN ${last} ELSE sealed_at END,
      swept_at = CASE WHEN swept_at > ${now} THEN ${last} ELSE swept_at END WHERE tenant_id = ${TENANT}`);
}

/** The longest possible lease. */
const LONGEST_MS = 24 * 3_600_000;

/**
 * Ends the leases that the wrong clock granted. `until` is the time that it reached: a lease that ends later is one of
 * them, and so is one whose row has a grant time in the future. Locks go by the grant time alone: a lock rightly held for
 * a day must not pass to another, while an agent_turn or message that comes again is refused or recognised. Deadlines
 * stay: a client may have chosen a distant one.
 */
export async function endFutureLeases(tx: Tx, now: number, until: number): Promise<void> {
  const longest = now + LONGEST_MS;
  const reached = Math.min(until, longest);
  const end = (which: Sql) =>
    tx.run(sql`UPDATE leases SET expires_at = ${now} WHERE tenant_id = ${TENANT} AND expires_at > ${now} AND ${which}`);
  // The agent's own row keeps how long it is online.
  await end(sql`kind = 'agent'`);
  await end(sql`kind = 'lock' AND (expires_at > ${longest} OR subject_id IN (
    SELECT lock_id FROM locks WHERE tenant_id = ${TENANT} AND ended_at IS NULL
      AND (asked_at > ${now} OR granted_at > ${now})))`);
  await end(sql`kind = 'lock' AND expires_at > ${now + WAITER_LEASE_MS} AND subject_id IN (
    SELECT lock_id FROM locks WHERE tenant_id = ${TENANT} AND ended_at IS NULL AND state = 'waiting')`);
  await end(sql`kind = 'agent_turn' AND (expires_at > ${reached} OR subject_id IN (
    SELECT agent_turn_id FROM agent_turns WHERE tenant_id = ${TENANT} AND ended_at IS NULL AND claimed_at > ${now}))`);
  await end(sql`kind = 'job' AND (expires_at > ${reached} OR subject_id IN (
    SELECT job_id FROM jobs WHERE tenant_id = ${TENANT} AND ended_at IS NULL AND updated_at > ${now}))`);
  await end(sql`kind = 'message' AND expires_at > ${reached}`);
}

/** Sets future times that are compared later to the present; turns of closed scopes stay at most `closing_ms`. */
export async function bringBackTimes(tx: Tx, now: number, closing_ms: number): Promise<void> {
  const kept = now + closing_ms;
  for (const statement of [
    // Idempotency records are kept from now on.
    sql`UPDATE requests SET recorded_at = ${now} WHERE tenant_id = ${TENANT} AND recorded_at > ${now}`,
    // An agent is silent from now on.
    sql`UPDATE agents SET last_seen_at = ${now} WHERE tenant_id = ${TENANT} AND last_seen_at > ${now}`,
    // Policies compare these with the time of their last look.
    sql`UPDATE boxes SET updated_at = ${now} WHERE tenant_id = ${TENANT} AND updated_at > ${now}`,
    sql`UPDATE scopes SET updated_at = ${now} WHERE tenant_id = ${TENANT} AND updated_at > ${now}`,
    sql`UPDATE summarization_policies SET updated_at = ${now} WHERE tenant_id = ${TENANT} AND updated_at > ${now}`,
    // The queue is in this order; equal times are ordered by id.
    sql`UPDATE agent_turns SET dispatched_at = ${now}
        WHERE tenant_id = ${TENANT} AND ended_at IS NULL AND dispatched_at > ${now}`,
    sql`UPDATE jobs SET pinned_until = ${kept} WHERE tenant_id = ${TENANT} AND pinned_until > ${kept}`,
    // Ended locks are deleted a day after.
    sql`UPDATE locks SET ended_at = ${now} WHERE tenant_id = ${TENANT} AND ended_at > ${now}`,
    // The latest access counts, and later ones must be later.
    sql`UPDATE memory_access SET accessed_at = ${now} WHERE tenant_id = ${TENANT} AND accessed_at > ${now}`,
    sql`UPDATE vector_docs SET retry_at = ${now} WHERE tenant_id = ${TENANT} AND retry_at > ${now}`,
    sql`UPDATE vector_progress SET held_until = ${now} WHERE tenant_id = ${TENANT} AND held_until > ${now}`,
  ])
    await tx.run(statement);
}
